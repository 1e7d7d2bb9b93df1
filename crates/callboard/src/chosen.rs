//! The session that the user chose with `callboard use`: for each store or server a small file in the user's state folder.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use callboard_engine::core::{entry::Hash, id::SessionId};
use serde::{Deserialize, Serialize};

use crate::{atomic, config, failure::Failure};

/// Where the choice for one store or server is kept.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The file; `None` for a store that lasts no longer than the command, or a user without a home.
    file: Option<PathBuf>,
    /// The store or server, without passwords.
    place: String,
}

/// What the file says.
#[derive(Serialize, Deserialize)]
struct Choice {
    /// For people who look into the file: the store or server.
    place: String,
    session: SessionId,
}

impl Chosen {
    /// The choice for the store with this URL. The same file is the same store from any folder.
    pub(crate) fn on_store(url: &str) -> Self {
        if url == "memory:" {
            return Self { file: None, place: url.to_owned() };
        }
        match config::sqlite_path(url).and_then(|path| std::path::absolute(path).ok()) {
            Some(path) => Self::of(&format!("sqlite:{}", path.display())),
            None => Self::of(url),
        }
    }

    /// The choice for the server with this address.
    pub(crate) fn of(place: &str) -> Self {
        let name = Hash::of(place.as_bytes()).to_string();
        let file = config::state_folder().map(|folder| folder.join("chosen").join(format!("{name}.json")));
        Self { file, place: config::shown(place) }
    }

    /// The chosen session, if there is one.
    pub(crate) fn read(&self) -> Result<Option<SessionId>, Failure> {
        let Some(file) = &self.file else { return Ok(None) };
        let text = match fs::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(broken(file, "read", &error)),
        };
        let choice: Choice = serde_json::from_slice(&text).map_err(|error| broken(file, "understand", &error))?;
        Ok(Some(choice.session))
    }

    /// Chooses a session.
    pub(crate) fn write(&self, session: &SessionId) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Err(Failure::failed("nowhere_to_keep", format!("a choice for {} cannot be kept", self.place))
                .hint("set CALLBOARD_SESSION, or name the session with --session ID"));
        };
        let choice = Choice { place: self.place.clone(), session: session.clone() };
        let text = serde_json::to_string(&choice).map_err(|error| broken(file, "write", &error))? + "\n";
        atomic::write(file, text.as_bytes(), true).map_err(|error| broken(file, "write", &error))
    }

    /// Forgets the choice. Returns which session was chosen.
    pub(crate) fn clear(&self) -> Result<Option<SessionId>, Failure> {
        // A file that cannot be understood is removed too.
        let was = self.read().unwrap_or_default();
        let Some(file) = &self.file else { return Ok(was) };
        match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(broken(file, "remove", &error)),
            _ => Ok(was),
        }
    }
}

fn broken(file: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed("unreadable", format!("cannot {what} {}: {error}", file.display()))
        .hint("`callboard use --clear` forgets the chosen session")
}
