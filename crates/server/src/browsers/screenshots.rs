//! Pictures of pages: files beside the journal, in a folder for each session, which goes with it.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use callboard_api as api;
use callboard_core::{id::SessionId, time::Timestamp};
use callboard_engine::{Board, Error};
use tempfile::TempDir;
use tokio::{fs, io::AsyncWriteExt as _};

/// The pictures of all sessions.
pub(crate) struct Screenshots {
    /// The folder that keeps them, if there is one.
    kept: Option<PathBuf>,
    /// Otherwise a folder that goes with the server, once there is a picture.
    temporary: OnceLock<TempDir>,
}

/// What the name of every picture ends with.
const PNG: &str = ".png";

/// So many pictures of a session are kept.
const MOST: usize = 200;

/// So many bytes they have together.
const MOST_BYTES: u64 = 64 << 20;

impl Screenshots {
    pub(super) fn new(kept: Option<PathBuf>) -> Self {
        Self { kept, temporary: OnceLock::new() }
    }

    /// The folder of all pictures, if there is one yet.
    fn folder(&self) -> Option<&Path> {
        self.kept.as_deref().or_else(|| self.temporary.get().map(TempDir::path))
    }

    /// The same, which is made where it is not there.
    fn made(&self) -> io::Result<&Path> {
        if let Some(folder) = self.folder() {
            return Ok(folder);
        }
        let made = tempfile::Builder::new().prefix("callboard-screenshots-").tempdir()?;
        // Another call may have been faster: then its folder is used.
        Ok(self.temporary.get_or_init(|| made).path())
    }

    fn of(&self, session: &SessionId) -> Option<PathBuf> {
        Some(self.folder()?.join(session.as_str()))
    }

    /// Keeps a picture and says what it is called. The oldest ones make room for it.
    pub(crate) async fn keep(&self, session: &SessionId, png: &[u8], now: Timestamp) -> io::Result<String> {
        let name = self.write(session, png, now).await?;
        // The new one is there. What could not be removed is tried again with the next one.
        if let Err(error) = self.bound(session, MOST, MOST_BYTES).await {
            tracing::warn!(%session, %error, "the pictures of a session could not be listed");
        }
        Ok(name)
    }

    /// Removes the oldest pictures of a session where there are more than so many, or where they have more bytes. The newest one
    /// stays.
    async fn bound(&self, session: &SessionId, most: usize, most_bytes: u64) -> io::Result<()> {
        let mut bytes = 0;
        for (newer, screenshot) in self.list(session).await?.iter().rev().enumerate() {
            bytes += screenshot.size_bytes;
            if newer > 0
                && (newer >= most || bytes > most_bytes)
                && let Err(error) = self.remove(session, &screenshot.file).await
            {
                let file = &screenshot.file;
                tracing::warn!(%session, file, %error, "an old picture of a page could not be removed");
            }
        }
        Ok(())
    }

    async fn write(&self, session: &SessionId, png: &[u8], now: Timestamp) -> io::Result<String> {
        let folder = self.made()?.join(session.as_str());
        fs::create_dir_all(&folder).await?;
        let mut number = now.as_millis();
        loop {
            let name = format!("{number}{PNG}");
            let mut options = fs::OpenOptions::new();
            match options.write(true).create_new(true).open(folder.join(&name)).await {
                Ok(file) => return fill(&folder.join(&name), file, png).await.map(|()| name),
                // Another one was taken in the same millisecond.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The pictures of a session, the oldest first.
    pub(crate) async fn list(&self, session: &SessionId) -> io::Result<Vec<api::Screenshot>> {
        let mut found = Vec::new();
        let Some(folder) = self.of(session) else { return Ok(found) };
        let Some(mut entries) = there(fs::read_dir(folder).await)? else { return Ok(found) };
        while let Some(entry) = entries.next_entry().await? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(taken_at) = taken_at(&name) else { continue };
            // Another call may have removed it meanwhile.
            let Some(metadata) = there(entry.metadata().await)? else { continue };
            found.push(api::Screenshot { file: name, size_bytes: metadata.len(), taken_at });
        }
        found.sort_by_key(|screenshot| screenshot.taken_at);
        Ok(found)
    }

    /// The picture with this name; `None` where there is none.
    pub(crate) async fn read(&self, session: &SessionId, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(folder) = self.of(session).filter(|_| taken_at(name).is_some()) else { return Ok(None) };
        there(fs::read(folder.join(name)).await)
    }

    /// Removes a picture. Says whether there was one.
    pub(crate) async fn remove(&self, session: &SessionId, name: &str) -> io::Result<bool> {
        let Some(folder) = self.of(session).filter(|_| taken_at(name).is_some()) else { return Ok(false) };
        Ok(there(fs::remove_file(folder.join(name)).await)?.is_some())
    }

    /// Removes the pictures of a session that is gone. What cannot be removed is tried again by the next sweep.
    pub(super) async fn forget(&self, session: &SessionId) {
        let Some(folder) = self.of(session) else { return };
        if let Err(error) = there(fs::remove_dir_all(folder).await) {
            tracing::warn!(%session, %error, "the pictures of a session that is gone could not be removed");
        }
    }

    /// Removes the pictures of sessions that are gone.
    pub(super) async fn sweep(&self, board: &Board) -> Result<(), Error> {
        let sessions = match self.sessions().await {
            Ok(sessions) if board.trusts_clock().await? => sessions,
            Ok(_) => return Ok(()),
            Err(error) => {
                tracing::warn!(%error, "the folder of the pictures of pages could not be read");
                return Ok(());
            }
        };
        for session in sessions {
            if board.store().row(&session).await?.is_none() {
                self.forget(&session).await;
            }
        }
        Ok(())
    }

    /// The sessions of which there are pictures.
    async fn sessions(&self) -> io::Result<Vec<SessionId>> {
        let mut sessions = Vec::new();
        let Some(folder) = self.folder() else { return Ok(sessions) };
        let Some(mut entries) = there(fs::read_dir(folder).await)? else { return Ok(sessions) };
        while let Some(entry) = entries.next_entry().await? {
            sessions.extend(entry.file_name().to_string_lossy().parse::<SessionId>());
        }
        Ok(sessions)
    }
}

/// Writes a picture into its new file, which goes again where that fails.
async fn fill(path: &Path, mut file: fs::File, png: &[u8]) -> io::Result<()> {
    let written = async {
        file.write_all(png).await?;
        file.flush().await
    };
    let Err(error) = written.await else { return Ok(()) };
    if let Err(left) = fs::remove_file(path).await {
        tracing::warn!(path = %path.display(), error = %left, "a part of a picture of a page could not be removed");
    }
    Err(error)
}

fn there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// When a picture was taken, by its name; `None` for what is the name of none.
fn taken_at(name: &str) -> Option<Timestamp> {
    let number = name.strip_suffix(PNG)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Timestamp::from_millis(number.parse().ok().filter(|_| is_number)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_too_many_pictures_the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = Screenshots::new(Some(folder.path().to_owned()));
        let session: SessionId = "s".parse().unwrap();
        for number in 1..=6 {
            pictures.keep(&session, b"png", Timestamp::from_millis(number).unwrap()).await.unwrap();
        }
        let kept = async || {
            let list = pictures.list(&session).await.unwrap();
            list.into_iter().map(|screenshot| screenshot.file).collect::<Vec<_>>()
        };
        assert_eq!(kept().await.len(), 6);
        pictures.bound(&session, 4, 1000).await.unwrap();
        assert_eq!(kept().await, ["3.png", "4.png", "5.png", "6.png"]);
        pictures.bound(&session, 4, 7).await.unwrap();
        assert_eq!(kept().await, ["5.png", "6.png"]);
        pictures.bound(&session, 0, 0).await.unwrap();
        assert_eq!(kept().await, ["6.png"], "the newest one stays");
    }

    #[tokio::test]
    async fn of_one_that_cannot_be_written_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.png");
        fs::write(&path, b"").await.unwrap();
        // What is open for reading takes no bytes.
        let file = fs::File::open(&path).await.unwrap();
        fill(&path, file, b"png").await.unwrap_err();
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn one_that_cannot_be_removed_keeps_neither_the_new_one_nor_the_others_from_their_way() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = Screenshots::new(Some(folder.path().to_owned()));
        let session: SessionId = "s".parse().unwrap();
        for number in [1, 3] {
            pictures.keep(&session, b"png", Timestamp::from_millis(number).unwrap()).await.unwrap();
        }
        // A folder is not removed as a file is.
        fs::create_dir(folder.path().join("s/2.png")).await.unwrap();
        pictures.bound(&session, 1, 1000).await.unwrap();
        let left = pictures.list(&session).await.unwrap();
        let left: Vec<_> = left.iter().map(|screenshot| &*screenshot.file).collect();
        assert_eq!(left, ["2.png", "3.png"]);
    }
}
