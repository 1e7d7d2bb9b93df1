//! Watches the folder of a project and records what changes, whoever writes it.

use std::{collections::BTreeMap, time::Duration};

use callboard_core::id::SessionId;
use callboard_engine::Error;
use callboard_files::Stamp;
use tokio::time::{Instant, MissedTickBehavior};

use crate::{
    app::App,
    call_error::CallError,
    files::{Files, now, told},
};

/// The folder of a session that nobody used for so long is removed.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// After how many seconds the time of last use is renewed in the folder of a live session.
const REFRESHED: i64 = 6 * 60 * 60;

/// The manifests as they were last seen, and whether each is of a session of this board. A session with the name of another may
/// be created later.
#[derive(Default)]
struct Watched(BTreeMap<SessionId, (Stamp, bool)>);

/// Watches until it is dropped.
pub(crate) async fn watch(app: App) {
    let Some(files) = &app.files else { return };
    let mut ticks = tokio::time::interval(files.settings.look_every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut watched = Watched::default();
    let mut swept = Instant::now();
    loop {
        ticks.tick().await;
        if let Err(error) = watched.look(&app, files).await {
            tracing::warn!(code = error.code, "the project's folder could not be looked at; trying again");
        }
        if files.settings.sweep_every.is_some_and(|every| swept.elapsed() >= every) {
            swept = Instant::now();
            if let Err(error) = watched.sweep(&app, files).await {
                tracing::warn!(code = error.code, "context files could not be cleaned up; trying again later");
            }
        }
    }
}

impl Watched {
    /// Records what has changed since the last look.
    async fn look(&mut self, app: &App, files: &Files) -> Result<(), CallError> {
        let stamps = files.with(|project| project.stamps()).await?;
        let gone: Vec<_> = self.0.keys().filter(|id| !stamps.contains_key(*id)).cloned().collect();
        for id in gone {
            self.observe(app, files, &id).await?;
            self.0.remove(&id);
        }
        for (id, stamp) in stamps {
            if self.0.get(&id).is_none_or(|(seen, _)| *seen != stamp) {
                let is_ours = self.observe(app, files, &id).await?;
                self.0.insert(id, (stamp, is_ours));
            }
        }
        Ok(())
    }

    /// Records what is in a folder, if it belongs to a session of this board. Returns whether it does.
    async fn observe(&self, app: &App, files: &Files, id: &SessionId) -> Result<bool, CallError> {
        if !lives(app, id).await? {
            return Ok(false);
        }
        let session = match app.board.session(id).await {
            Ok(session) => session,
            Err(Error::NoSession { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if let Err(error) = files.observe(&session).await {
            tracing::warn!(session = %id, code = error.code, "a folder of context files could not be read");
        }
        Ok(true)
    }

    /// Removes the folders of deleted sessions, and folders that were not used for long. A live session's folder is in use.
    async fn sweep(&mut self, app: &App, files: &Files) -> Result<(), CallError> {
        if !app.board.trusts_clock().await? {
            return Ok(());
        }
        // A session may have been created for one of these folders: look at all of them again.
        self.0.retain(|_, (_, is_ours)| *is_ours);
        let now = now(&app.board).await?;
        let ids = files.with(|project| project.ids()).await?;
        let mut nobodys = Vec::new();
        for id in ids {
            if lives(app, &id).await? {
                files.with(move |project| Ok(project.refresh(&id, REFRESHED, now).is_ok())).await?;
            } else if self.0.remove(&id).is_some() {
                files.end(&id, now).await;
            } else {
                nobodys.push(id);
            }
        }
        // Only those that were looked at: a folder that has come since may be that of a live session.
        told(&files.with(move |project| project.clean_these(nobodys, STALE, now, false)).await?);
        Ok(())
    }
}

/// Whether there is such a session. Asking does not count as using it.
async fn lives(app: &App, id: &SessionId) -> Result<bool, CallError> {
    Ok(app.board.store().row(id).await.map_err(Error::from)?.is_some())
}
