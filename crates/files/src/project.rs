//! The folder of a project, and the sessions in it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callboard_core::{id::SessionId, time::Timestamp};

use crate::{
    Error, Session,
    disk::{EntryKind, Folder, Lock, Stamp, is_there},
    path::{ContextPath, MANIFEST, NEW_DOCUMENT, NEW_MANIFEST},
};

/// The folder of sessions in a project.
pub const SESSIONS: &str = ".tmp/sessions";

/// How many random names are tried.
const TRIES: usize = 100;

/// The folder of a project.
#[derive(Debug)]
pub struct Project {
    root: Folder,
    /// The path of the folder as it was given, and without links.
    pub(crate) paths: [PathBuf; 2],
    /// What the folder of sessions is called where a session is not in it.
    shown: String,
}

impl Project {
    /// The project in this folder.
    pub fn at(root: &Path) -> Result<Self, Error> {
        let folder = Folder::at(root)?;
        let without_links = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(Self { root: folder, paths: [root.to_owned(), without_links], shown: SESSIONS.to_owned() })
    }

    /// The same project, whose folder somebody named: it is told where a session is not in it.
    #[must_use]
    pub fn named(self) -> Self {
        let [root, _] = &self.paths;
        let shown = root.join(SESSIONS).display().to_string();
        Self { shown, ..self }
    }

    /// Says that a session is not there.
    pub(crate) fn without(&self, id: &SessionId) -> Error {
        Error::NoSession { id: id.clone(), folder: self.shown.clone() }
    }

    /// The folder of the project that a folder is in: the nearest one with a folder of sessions, from this one upwards.
    pub fn nearest(from: &Path) -> Option<&Path> {
        from.ancestors().find(|folder| is_there(&folder.join(SESSIONS)))
    }

    /// Creates a session with a new name, made of the time and `random`.
    pub fn create(&self, now: Timestamp, mut random: impl FnMut() -> u32) -> Result<Session, Error> {
        for _ in 0..TRIES {
            if let Some(session) = self.make(&SessionId::generate(now, random()), now, false)? {
                return Ok(session);
            }
        }
        Err(Error::NoFreeName)
    }

    /// Creates a session with this name.
    pub fn create_as(&self, id: &SessionId, now: Timestamp) -> Result<Session, Error> {
        self.make(id, now, false)?.ok_or_else(|| Error::SessionExists { id: id.clone() })
    }

    /// The session with this name. It is created if there is none.
    pub fn session_or_new(&self, id: &SessionId, now: Timestamp) -> Result<Session, Error> {
        self.make(id, now, true)?.ok_or_else(|| self.without(id))
    }

    /// Opens the session with this name, locked. Others wait until it is dropped.
    pub fn session(&self, id: &SessionId) -> Result<Session, Error> {
        let sessions = self.sessions()?;
        let folder = sessions.as_ref().map(|sessions| locked(sessions, id, Lock::Exclusive)).transpose()?.flatten();
        match folder {
            Some(folder) => Session::open(id.clone(), folder, self.paths.clone()),
            None => Err(self.without(id)),
        }
    }

    /// The same with a lock for reading: readers wait for writers, but not for each other.
    pub fn look(&self, id: &SessionId) -> Result<Option<Session>, Error> {
        let Some(sessions) = self.sessions()? else { return Ok(None) };
        let Some(folder) = locked(&sessions, id, Lock::Shared)? else { return Ok(None) };
        Session::open(id.clone(), folder, self.paths.clone()).map(Some)
    }

    /// The stamp of each session's manifest. It differs after the manifest was written.
    pub fn stamps(&self) -> Result<BTreeMap<SessionId, Stamp>, Error> {
        let Some(sessions) = self.sessions()? else { return Ok(BTreeMap::new()) };
        let stamp = |id: SessionId| {
            let folder = sessions.folder(id.as_str()).ok().flatten()?;
            Some((id, folder.stamp(MANIFEST)?))
        };
        Ok(self.ids()?.into_iter().filter_map(stamp).collect())
    }

    /// Notes that a session is in use, unless it was used within the last `seconds`.
    pub fn refresh(&self, id: &SessionId, seconds: i64, now: Timestamp) -> Result<(), Error> {
        let mut session = self.session(id)?;
        match session.manifest.idle_seconds(now) {
            Ok(idle) if idle > seconds => session.touch(now),
            _ => Ok(()),
        }
    }

    /// The names in the folder of sessions that are names of sessions.
    pub fn ids(&self) -> Result<Vec<SessionId>, Error> {
        let names = self.sessions()?.map(|sessions| sessions.names()).transpose()?.unwrap_or_default();
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// The folder of sessions, if there is one.
    pub(crate) fn sessions(&self) -> Result<Option<Folder>, Error> {
        let tmp = self.root.folder(".tmp")?;
        tmp.map(|tmp| tmp.folder("sessions")).transpose().map(Option::flatten)
    }

    /// Makes a session, or opens it where it is there and may be; `None` where it may not.
    fn make(&self, id: &SessionId, now: Timestamp, may_be_there: bool) -> Result<Option<Session>, Error> {
        loop {
            let sessions = made(&made(&self.root, ".tmp")?, "sessions")?;
            // A process that finds a folder without a manifest waits for this lock, in case it is being created.
            sessions.lock(Lock::Shared)?;
            match sessions.make(id.as_str())? {
                true => sessions.flush()?,
                false if !may_be_there => return Ok(None),
                false => {}
            }
            let Some(folder) = locked(&sessions, id, Lock::Exclusive)? else { continue };
            if folder.kind(MANIFEST)? == EntryKind::Nothing && is_blank(&folder)? {
                return Session::begin(id.clone(), folder, self.paths.clone(), now).map(Some);
            }
            return Session::open(id.clone(), folder, self.paths.clone()).map(Some);
        }
    }
}

/// Opens the folder with this name, and creates it if it is missing.
fn made(above: &Folder, name: &str) -> Result<Folder, Error> {
    loop {
        if let Some(folder) = above.folder(name)? {
            return Ok(folder);
        }
        above.make(name)?;
        above.flush()?;
    }
}

/// Opens and locks the folder of a session. If the folder was removed while this waited for the lock, it looks again.
pub(crate) fn locked(sessions: &Folder, id: &SessionId, lock: Lock) -> Result<Option<Folder>, Error> {
    loop {
        let Some(folder) = sessions.folder(id.as_str())? else { return Ok(None) };
        folder.lock(lock)?;
        if folder.is_still(sessions, id.as_str()) {
            return Ok(Some(folder));
        }
    }
}

/// Whether the folder of a session is empty, except for temporary files of interrupted processes.
pub(crate) fn is_blank(folder: &Folder) -> Result<bool, Error> {
    Ok(folder.names()?.iter().all(|name| name == NEW_MANIFEST || name == NEW_DOCUMENT))
}

/// The path of a file of a session, below the project.
pub(crate) fn shown(id: &SessionId, path: &str) -> String {
    format!("{SESSIONS}/{id}/{path}")
}

/// Resolves a user's name for a file of a session: a path in the manifest, below the project, or from the root.
pub(crate) fn meant(id: &SessionId, roots: &[PathBuf; 2], text: &str) -> Result<ContextPath, Error> {
    let outside = |why| Error::Outside { path: text.to_owned(), why };
    let is_absolute = Path::new(text).is_absolute();
    let path = if is_absolute {
        let below = roots.iter().find_map(|root| Path::new(text).strip_prefix(root).ok());
        below.and_then(Path::to_str).ok_or_else(|| outside("is not in the folder of the project"))?
    } else {
        text.strip_prefix("./").unwrap_or(text)
    };
    match path.strip_prefix(SESSIONS).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => match rest.strip_prefix(id.as_str()).and_then(|rest| rest.strip_prefix('/')) {
            Some(path) => Ok(path.parse()?),
            None => Err(outside("is in the folder of another session")),
        },
        None if is_absolute => Err(outside("is not in the folder of the session")),
        None => Ok(path.parse()?),
    }
}
