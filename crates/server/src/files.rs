//! Context files of a project. Changes in its folder are recorded in the journals of sessions, and the folder of a session
//! is removed with it. The folder is the truth: others write it without a server.

mod tools;

use std::sync::Arc;

use callboard_core::{
    entry::Actor,
    file::{ContextFile, ObserveFiles, Recipient},
    id::SessionId,
    time::Timestamp,
};
use callboard_engine::{Board, Session};
use callboard_files::{Error as FilesError, FileQuery, FoundFile, NewFile, Project, Session as Folder, message};

use crate::{Error, call_error::CallError, keyed_lock::KeyedLock, settings::ProjectFolder};

/// The folder of a project with context files.
pub(crate) struct Files {
    project: Arc<Project>,
    pub(crate) settings: ProjectFolder,
    /// Makes sure that what was seen first is recorded first.
    locks: KeyedLock<SessionId>,
}

impl Files {
    pub(crate) fn open(settings: &ProjectFolder) -> Result<Self, Error> {
        let project = Project::at(&settings.root).map_err(Error::Project)?;
        Ok(Self { project: Arc::new(project), settings: settings.clone(), locks: KeyedLock::default() })
    }

    /// Works with the folder on a thread of its own, so that slow disks delay no other call.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Project) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<T, CallError> {
        let project = self.project.clone();
        match tokio::task::spawn_blocking(move || work(&project)).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(CallError::closing()),
        }
    }

    /// Works with the folder of a session, which counts as using it; `None` if there is none.
    pub(crate) async fn in_folder<T: Send + 'static>(
        &self,
        id: &SessionId,
        now: Timestamp,
        work: impl FnOnce(&mut Folder) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<Option<T>, CallError> {
        let id = id.clone();
        let work = move |project: &Project| match project.session(&id) {
            Ok(mut folder) => {
                folder.touch(now)?;
                work(&mut folder).map(Some)
            }
            Err(FilesError::NoSession { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        self.with(work).await
    }

    /// A file that the manifest lists, and what it says, with secrets; `None` if there is none.
    pub(crate) async fn read(
        &self,
        id: &SessionId,
        now: Timestamp,
        path: String,
    ) -> Result<Option<(FoundFile, String)>, CallError> {
        let read = move |folder: &mut Folder| {
            let path = folder.meant(&path)?;
            let shown = folder.shown(path.as_str());
            match folder.list(&FileQuery::default()).into_iter().find(|file| file.path == shown) {
                Some(found) => Ok(folder.read(&path)?.map(|content| (found, content))),
                None => Ok(None),
            }
        };
        Ok(self.in_folder(id, now, read).await?.flatten())
    }

    /// The message that hands a task over, and the paths of the files that it names.
    pub(crate) async fn delegate(
        &self,
        id: &SessionId,
        now: Timestamp,
        to: Recipient,
        task: String,
        query: FileQuery,
    ) -> Result<(String, Vec<String>), CallError> {
        let (reader, words) = (to.clone(), task.clone());
        let related = move |folder: &mut Folder| Ok(folder.related(&reader, &words, &query));
        let found = self.in_folder(id, now, related).await?.unwrap_or_default();
        let paths: Vec<_> = found.into_iter().map(|file| file.path).collect();
        Ok((message(to.as_str(), &task, &paths), paths))
    }

    /// Records in the journal what is now in the folder of a session. If the folder cannot be read, nothing is recorded.
    pub(crate) async fn observe(&self, session: &Session) -> Result<(), CallError> {
        let id = session.id().clone();
        let _guard = self.locks.take(id.clone()).await;
        let seen = self.with(move |project| Ok(project.look(&id)?.map(|folder| folder.list(&FileQuery::default()))));
        let seen: Vec<ContextFile> = seen.await?.unwrap_or_default().into_iter().map(seen_as).collect();
        let state = session.state().await?;
        let is_known = |file: &ContextFile| state.files.get(&file.path).is_some_and(|held| *held.file == *file);
        if state.files.iter().count() != seen.len() || !seen.iter().all(is_known) {
            session.execute(Actor::System, ObserveFiles(seen)).await?;
        }
        Ok(())
    }

    /// Removes the folder of a deleted session. What cannot be removed is logged.
    pub(crate) async fn end(&self, id: &SessionId, now: Timestamp) {
        let ended = id.clone();
        match self.with(move |project| project.end(&ended, now)).await {
            Ok(cleaned) => told(&cleaned),
            Err(error) => {
                tracing::warn!(session = %id, code = error.code, "the files of a session could not be removed")
            }
        }
    }
}

pub(crate) fn told(cleaned: &callboard_files::Cleaned) {
    for kept in &cleaned.kept {
        tracing::warn!(path = kept.path, reason = kept.reason, "a context file was not removed");
    }
}

/// A file that is to be added, with its secrets hidden. A name in it that holds one is refused; `at` is where it was given.
pub(crate) async fn masked(session: &Session, mut file: NewFile, at: &str) -> Result<NewFile, callboard_engine::Error> {
    let mask = session.mask().await?;
    session.check_name(&format!("{at}/name"), &file.name.to_string()).await?;
    for (index, keyword) in file.keywords.iter().enumerate() {
        session.check_name(&format!("{at}/keywords/{index}"), &keyword.to_string()).await?;
    }
    let texts = [&mut file.background, &mut file.expected, &mut file.constraints];
    for text in texts.into_iter().flatten().chain([&mut file.request]) {
        if let Some(masked) = mask.mask(text) {
            *text = masked;
        }
    }
    Ok(file)
}

fn seen_as(found: FoundFile) -> ContextFile {
    let FoundFile { path, recipient, keywords, created, .. } = found;
    let keywords = keywords.into_iter().map(Arc::from).collect();
    ContextFile { path: path.into(), recipient: recipient.into(), keywords, created: created.into() }
}

/// The time of the store.
pub(crate) async fn now(board: &Board) -> Result<Timestamp, CallError> {
    Ok(board.store().now().await.map_err(callboard_engine::Error::from)?)
}
