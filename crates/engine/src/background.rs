//! The background tasks of a board: dropping idle sessions, following changes by others, sweeping expired sessions.

mod recall;
mod sweep;
mod vectors;

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
    time::Duration,
};

use callboard_core::id::SessionId;
use tokio::{sync::broadcast, task::JoinSet, time::MissedTickBehavior};

pub(crate) use self::sweep::sweep;
use crate::{
    error::Error,
    live::{
        changes::{Changes, next_changes},
        open::{OpenSession, OpenSessions},
        session::Live,
    },
};

/// How long changes are gathered, so that not every append in a busy store wakes this task.
const GATHERED_FOR: Duration = Duration::from_millis(5);

/// Starts the tasks of a board.
pub(crate) fn start(board: &Arc<OpenSessions>, tasks: &mut JoinSet<()>) {
    let (supervisor, idle) = (&board.settings.supervisor, board.settings.idle);
    let weak = || Arc::downgrade(board);
    let open = weak();
    tasks.spawn(supervisor.keep("idle sessions", move || drop_idle(open.clone(), idle)));
    let (open, mut changes) = (weak(), Some(board.store.watch()));
    tasks.spawn(supervisor.keep("changes of sessions", move || follow(open.clone(), changes.take())));
    if let Some(quiet) = board.settings.recall.quiet {
        let (open, mut changes) = (weak(), Some(board.store.watch()));
        let read = move || recall::read_quiet(open.clone(), changes.take(), quiet);
        tasks.spawn(supervisor.keep("recall", read));
    }
    if board.settings.recall.embedder.is_some() {
        let open = weak();
        tasks.spawn(supervisor.keep("vectors of recall", move || vectors::keep_filled(open.clone())));
    }
    if let Some(every) = board.settings.sweep {
        let open = weak();
        tasks.spawn(supervisor.keep("sweep", move || keep_swept(open.clone(), every)));
    }
}

/// Drops sessions that nobody holds and that were not used recently.
async fn drop_idle(board: Weak<OpenSessions>, idle: Duration) {
    let mut every = ticks(idle);
    loop {
        every.tick().await;
        let Some(board) = board.upgrade() else { return };
        let held = |open: &OpenSession| Arc::strong_count(&open.live) > 1 && open.live.known().is_ok();
        board.sessions().by_id.retain(|_, open| held(open) || open.used.elapsed() < idle);
    }
}

/// Lets sessions with listeners read what others wrote, as soon as the store announces them. Sessions without listeners
/// read on demand. Without `changes` it watches from now on, and assumes that any session may have changed before.
async fn follow(board: Weak<OpenSessions>, changes: Option<broadcast::Receiver<SessionId>>) {
    // Sessions that could not be read, and those whose own append is not published yet.
    let (mut again, mut own) = (HashSet::new(), HashSet::new());
    let mut missed = changes.is_none();
    let Some(mut changes) = changes.or_else(|| board.upgrade().map(|board| board.store.watch())) else { return };
    loop {
        let changed = match std::mem::take(&mut missed) {
            true => Some(Changes { all: true, ..Changes::default() }),
            false => next_changes(&mut changes, !again.is_empty() || !own.is_empty()).await,
        };
        let Some(changed) = changed else { return };
        let Some(board) = board.upgrade() else { return };
        match changed.all {
            true => board.overviews.forget_all(),
            false => board.overviews.forget(&changed.sessions),
        }
        let listening: Vec<Arc<Live>> = {
            let sessions = board.sessions();
            let is_named = |id: &SessionId| changed.all || changed.sessions.contains(id) || again.contains(id);
            let is_due = |id: &SessionId, live: &Live| is_named(id) || (own.contains(id) && !live.has_published_own());
            let listening = sessions.by_id.iter().filter(|(id, open)| is_due(id, &open.live));
            listening.map(|(_, open)| open.live.clone()).filter(|live| live.published.has_listeners()).collect()
        };
        drop(board);
        again.clear();
        own.clear();
        for live in listening {
            match live.follow().await {
                Ok(true) | Err(Error::NoSession { .. } | Error::Closed) => {}
                Ok(false) => drop(own.insert(live.id.clone())),
                Err(error) => {
                    tracing::warn!(session = %live.id, %error, "changes could not be read; trying again");
                    again.insert(live.id.clone());
                }
            }
        }
        tokio::time::sleep(GATHERED_FOR).await;
    }
}

/// Removes expired sessions regularly, as long as the store's clock can be trusted.
async fn keep_swept(board: Weak<OpenSessions>, every: Duration) {
    let mut every = ticks(every);
    loop {
        every.tick().await;
        let Some(board) = board.upgrade() else { return };
        if !board.trusts_clock().await.unwrap_or(false) {
            continue;
        }
        match sweep(&board).await {
            Ok(swept) if swept.is_empty() => {}
            Ok(swept) => tracing::info!(sessions = swept.len(), "removed expired sessions"),
            Err(error) => tracing::warn!(%error, "expired sessions could not be removed; trying again later"),
        }
    }
}

fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
