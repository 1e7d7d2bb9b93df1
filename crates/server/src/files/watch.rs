//! Watching the folder of a project: whatever writes it, what changes there is noted.

use std::{collections::BTreeMap, time::Duration};

use callboard_core::id::SessionId;
use callboard_engine::Error;
use callboard_files::Stamp;
use tokio::time::{Instant, MissedTickBehavior};

use super::{Files, now, told};
use crate::{app::App, calls::CallError};

/// How long nobody has to have used a session until its folder is cleaned up.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// How old the last use of a folder may get whose session lives.
const REFRESHED: i64 = 6 * 60 * 60;

/// What was seen last.
#[derive(Default)]
struct Watched {
    /// The manifests of sessions of the board.
    ours: BTreeMap<SessionId, Stamp>,
    /// Those of others. They may become ours.
    others: BTreeMap<SessionId, Stamp>,
}

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
    /// Notes what has changed since it looked last.
    async fn look(&mut self, app: &App, files: &Files) -> Result<(), CallError> {
        let stamps = files.with(|project| project.stamps()).await?;
        let gone: Vec<_> = self.ours.keys().filter(|id| !stamps.contains_key(*id)).cloned().collect();
        for id in gone {
            self.observe(app, files, &id).await?;
            self.ours.remove(&id);
        }
        self.others.retain(|id, _| stamps.contains_key(id));
        for (id, stamp) in stamps {
            if self.ours.get(&id) == Some(&stamp) || self.others.get(&id) == Some(&stamp) {
                continue;
            }
            let is_ours = self.observe(app, files, &id).await?;
            let (to, from) =
                if is_ours { (&mut self.ours, &mut self.others) } else { (&mut self.others, &mut self.ours) };
            from.remove(&id);
            to.insert(id, stamp);
        }
        Ok(())
    }

    /// Notes what is in a folder, and says whether it is that of a session of the board.
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

    /// Cleans up after sessions that are gone, and what nobody has used for long. What belongs to a session that lives is
    /// in use.
    async fn sweep(&mut self, app: &App, files: &Files) -> Result<(), CallError> {
        if !app.board.trusts_clock().await? {
            return Ok(());
        }
        // A folder that was there before its session is looked at again.
        self.others.clear();
        let now = now(&app.board).await?;
        let ids = files.with(|project| project.ids()).await?;
        for id in ids {
            if lives(app, &id).await? {
                let refreshed = id.clone();
                files.with(move |project| Ok(project.refresh(&refreshed, REFRESHED, now).is_ok())).await?;
            } else if self.ours.remove(&id).is_some() {
                files.end(&id, now).await;
            }
        }
        told(&files.with(move |project| project.clean(STALE, now)).await?);
        Ok(())
    }
}

/// Whether there is such a session. To ask is no use of it.
async fn lives(app: &App, id: &SessionId) -> Result<bool, CallError> {
    Ok(app.board.store().row(id).await.map_err(Error::from)?.is_some())
}
