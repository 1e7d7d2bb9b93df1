//! Errors.

use std::io;

use callboard_core::id::{BadName, SessionId};

/// Why an operation failed. The files are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The session does not exist.
    #[error("there is no session {id} in {folder}; create one with `callboard files new`")]
    NoSession {
        /// Its name.
        id: SessionId,
        /// Where it was looked for.
        folder: String,
    },
    /// The name of a new session is in use.
    #[error("the session {id} already exists: use it, or choose another name")]
    SessionExists {
        /// Its name.
        id: SessionId,
    },
    /// There is no such file in the manifest.
    #[error("{path} is not in the manifest of the session; `callboard files list` lists its files")]
    NotTracked {
        /// The file.
        path: String,
    },
    /// The file already exists.
    #[error("{path} already exists: choose another name, or remove it first")]
    FileExists {
        /// The file.
        path: String,
    },
    /// The file already exists, but not in the manifest.
    #[error("{path} already exists, but not in the manifest: add it with --file, or choose another name")]
    NotOurs {
        /// The file.
        path: String,
    },
    /// The file does not exist.
    #[error("there is no file {path}")]
    NoFile {
        /// The file.
        path: String,
    },
    /// An invalid name, category, keyword or path.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// An invalid text for a document, or an invalid template.
    #[error("{what}: {wrong}")]
    BadText {
        /// Which text.
        what: &'static str,
        /// What is wrong with it, and how to fix it.
        wrong: String,
    },
    /// A path does not lead to a file in the folder of the session.
    #[error("{path} {why}: only files in the folder of the session are read and written")]
    Outside {
        /// The path.
        path: String,
        /// Where it leads to.
        why: &'static str,
    },
    /// Something else, such as a symbolic link, is where a folder or a file has to be.
    #[error("{path} is {found} and has to be {expected}: move it away")]
    Misplaced {
        /// Where.
        path: String,
        /// What is there.
        found: &'static str,
        /// What has to be there.
        expected: &'static str,
    },
    /// The folder of a session has no manifest.
    #[error("{path} is missing; `callboard files check --repair` rebuilds it from the documents")]
    NoManifest {
        /// Where it has to be.
        path: String,
    },
    /// The manifest cannot be used.
    #[error("{path} is damaged: {why}; `callboard files check --repair` repairs what it can")]
    Damaged {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The manifest is that of another session.
    #[error("{path} is the manifest of the session {found:?}; `callboard files check --repair` assigns it to this one")]
    OfAnother {
        /// Where it is.
        path: String,
        /// Of which session it is.
        found: String,
    },
    /// Every random name that was tried is taken.
    #[error("found no free name for a session: every random name tried was taken")]
    NoFreeName,
    /// The disk is full. Nothing was written.
    #[error("no space left to write {path}: free some, then try again; nothing was changed")]
    Full {
        /// What was to be written.
        path: String,
    },
    /// The system does not allow it.
    #[error("not allowed to {doing} {path}: check the permissions of its folder")]
    Denied {
        /// What was to be done.
        doing: &'static str,
        /// With what.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system could not do it.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// With what.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// The stable name of this error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSession { .. } | Self::NotTracked { .. } | Self::NoFile { .. } => "not_found",
            Self::SessionExists { .. } | Self::FileExists { .. } | Self::NotOurs { .. } => "exists",
            Self::BadName(_) | Self::BadText { .. } => "invalid",
            Self::Outside { .. } => "outside",
            Self::Misplaced { .. } => "misplaced",
            Self::NoManifest { .. } => "manifest_missing",
            Self::Damaged { .. } => "manifest_damaged",
            Self::OfAnother { .. } => "manifest_of_another_session",
            Self::NoFreeName => "no_free_name",
            Self::Full { .. } => "full",
            Self::Denied { .. } => "denied",
            Self::Io { .. } => "io",
        }
    }

    /// The error of the system for the operation `doing` on `path`.
    pub(crate) fn io(doing: &'static str, path: impl Into<String>, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        let (path, source) = (path.into(), io::Error::from(errno));
        match errno {
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::Full { path },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Denied { doing, path, source },
            _ => Self::Io { doing, path, source },
        }
    }
}
