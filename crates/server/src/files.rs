//! Context files of a project: what is seen of its folder comes into the journals of sessions, and folders go with their
//! sessions. The folder is the truth: whoever writes it needs no server.

pub(crate) mod watch;

use std::sync::Arc;

use callboard_core::{
    entry::Actor,
    file::{ContextFile, ObserveFiles},
    id::SessionId,
    time::Timestamp,
};
use callboard_engine::{Board, Session};
use callboard_files::{Error as FilesError, Found, Project, Query};
use tokio::time::Instant;

use crate::{Error, calls::CallError, settings::ProjectFolder, turns::Turns};

/// The folder of a project.
pub(crate) struct Files {
    project: Arc<Project>,
    settings: ProjectFolder,
    /// What was seen of a session's folder is noted in the order in which it was seen. Each turn leaves when it began to
    /// look, so that whoever waited since before that need not look again.
    turns: Turns<SessionId, Option<Instant>>,
}

impl Files {
    pub(crate) fn open(settings: &ProjectFolder) -> Result<Self, Error> {
        let project = Project::at(&settings.root).map_err(Error::Project)?;
        Ok(Self { project: Arc::new(project), settings: settings.clone(), turns: Turns::default() })
    }

    /// Works with the folder, where that holds nobody up.
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

    /// Notes in the journal what is in the folder of a session by now. What cannot be read is left as it was seen last.
    pub(crate) async fn observe(&self, session: &Session) -> Result<(), CallError> {
        let (id, called) = (session.id().clone(), Instant::now());
        let mut looked = self.turns.take(id.clone()).await;
        if looked.is_some_and(|began| began >= called) {
            return Ok(());
        }
        let began = Instant::now();
        let seen = self.with(move |project| Ok(project.look(&id)?.map(|folder| folder.list(&Query::default()))));
        let seen: Vec<ContextFile> = seen.await?.unwrap_or_default().into_iter().map(seen_as).collect();
        let state = session.state().await?;
        let is_known = |file: &ContextFile| state.files.get(&file.path).is_some_and(|held| *held.file == *file);
        if state.files.iter().count() != seen.len() || !seen.iter().all(is_known) {
            session.execute(Actor::System, ObserveFiles(seen)).await?;
        }
        *looked = Some(began);
        Ok(())
    }

    /// Cleans up after a session that is gone. What has to stay is in the log.
    pub(crate) async fn end(&self, id: &SessionId, now: Timestamp) {
        let ended = id.clone();
        match self.with(move |project| project.end(&ended, now)).await {
            Ok(cleaned) => told(&cleaned),
            Err(error) => tracing::warn!(session = %id, code = error.code, "the files of a session stay"),
        }
    }
}

fn told(cleaned: &callboard_files::Cleaned) {
    for kept in &cleaned.kept {
        tracing::warn!(path = kept.path, reason = kept.reason, "a context file stays");
    }
}

fn seen_as(found: Found) -> ContextFile {
    let Found { path, recipient, keywords, created, .. } = found;
    let keywords = keywords.into_iter().map(Arc::from).collect();
    ContextFile { path: path.into(), recipient: recipient.into(), keywords, created: created.into() }
}

/// What time the store says it is.
pub(crate) async fn now(board: &Board) -> Result<Timestamp, CallError> {
    Ok(board.store().now().await.map_err(callboard_engine::Error::from)?)
}
