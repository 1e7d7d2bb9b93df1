//! Upkeep: what a board does in the background, as long as it is there.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
    time::Duration,
};

use callboard_core::id::SessionId;
use callboard_store::Store;
use tokio::{
    sync::broadcast::{
        self,
        error::{RecvError, TryRecvError},
    },
    task::JoinSet,
    time::MissedTickBehavior,
};

use crate::{
    error::Error,
    live::{
        open::{OpenSession, OpenSessions},
        session::Live,
    },
};

/// How long a session that could not be read is left alone before it is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// How long what the store tells is gathered behind what it told last, so that every append of a busy store wakes nobody.
const GATHERED_FOR: Duration = Duration::from_millis(5);

/// How many sessions the store is asked to remove at once, so that a large sweep holds nobody up for long.
const SWEPT_AT_ONCE: usize = 50;

/// Starts the tasks of a board.
pub(crate) fn start(board: &Arc<OpenSessions>, tasks: &mut JoinSet<()>) {
    let (supervisor, idle) = (&board.settings.supervisor, board.settings.idle);
    let weak = || Arc::downgrade(board);
    let open = weak();
    tasks.spawn(supervisor.keep("idle sessions", move || drop_idle(open.clone(), idle)));
    let (open, mut changes) = (weak(), Some(board.store.watch()));
    tasks.spawn(supervisor.keep("changes of sessions", move || follow(open.clone(), changes.take())));
    if let Some(every) = board.settings.sweep {
        let open = weak();
        tasks.spawn(supervisor.keep("sweep", move || keep_swept(open.clone(), every)));
    }
}

/// Drops sessions that nobody holds and nobody has asked for lately.
async fn drop_idle(board: Weak<OpenSessions>, idle: Duration) {
    let mut every = ticks(idle);
    loop {
        every.tick().await;
        let Some(board) = board.upgrade() else { return };
        let held = |open: &OpenSession| Arc::strong_count(&open.live) > 1 && open.live.known().is_ok();
        board.sessions().by_id.retain(|_, open| held(open) || open.used.elapsed() < idle);
    }
}

/// Lets sessions that somebody waits for read what others wrote, as soon as the store tells of it. Who only asks now and
/// then looks for it then. Without `changes` it watches from now on, and takes it that any session may have changed before.
async fn follow(board: Weak<OpenSessions>, changes: Option<broadcast::Receiver<SessionId>>) {
    // Those that could not be read, and those whose own append was not published yet.
    let (mut again, mut own) = (HashSet::new(), HashSet::new());
    let mut missed = changes.is_none();
    let Some(mut changes) = changes.or_else(|| board.upgrade().map(|board| board.store.watch())) else { return };
    loop {
        let told = match std::mem::take(&mut missed) {
            true => Some(Told { all: true, ..Told::default() }),
            false => next_told(&mut changes, !again.is_empty() || !own.is_empty()).await,
        };
        let Some(told) = told else { return };
        let Some(board) = board.upgrade() else { return };
        let listening: Vec<Arc<Live>> = {
            let sessions = board.sessions();
            let is_told = |id: &SessionId| told.all || told.sessions.contains(id) || again.contains(id);
            let is_due = |id: &SessionId, live: &Live| is_told(id) || (own.contains(id) && !live.has_published_own());
            let listening = sessions.by_id.iter().filter(|(id, open)| is_due(id, &open.live));
            listening.map(|(_, open)| open.live.clone()).filter(|live| live.has_listeners()).collect()
        };
        drop(board);
        again.clear();
        own.clear();
        for live in listening {
            match live.follow().await {
                Ok(true) | Err(Error::NoSession { .. } | Error::Closed) => {}
                Ok(false) => drop(own.insert(live.id.clone())),
                Err(error) => {
                    tracing::warn!(session = %live.id, %error, "what changed could not be read; trying again");
                    again.insert(live.id.clone());
                }
            }
        }
        tokio::time::sleep(GATHERED_FOR).await;
    }
}

/// Which sessions a store told of.
#[derive(Default)]
struct Told {
    sessions: HashSet<SessionId>,
    /// Whether it may have been any other one too.
    all: bool,
}

/// What the store tells of next, with what it told meanwhile; at once, or nearly so, where something is to be tried
/// again anyway. None where it has closed.
async fn next_told(changes: &mut broadcast::Receiver<SessionId>, again: bool) -> Option<Told> {
    let mut told = Told::default();
    let patience = if again { AGAIN_AFTER } else { Duration::MAX };
    match tokio::time::timeout(patience, changes.recv()).await {
        Ok(Ok(id)) => drop(told.sessions.insert(id)),
        Ok(Err(RecvError::Lagged(_))) => told.all = true,
        Ok(Err(RecvError::Closed)) => return None,
        Err(_) => return Some(told),
    }
    loop {
        match changes.try_recv() {
            Ok(id) => drop(told.sessions.insert(id)),
            Err(TryRecvError::Lagged(_)) => told.all = true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(told),
        }
    }
}

/// Removes what has expired, now and then, as long as the store's clock can be trusted.
async fn keep_swept(board: Weak<OpenSessions>, every: Duration) {
    let mut every = ticks(every);
    loop {
        every.tick().await;
        let Some(board) = board.upgrade() else { return };
        if !board.trusts_clock().await.unwrap_or(false) {
            continue;
        }
        match sweep(&*board.store).await {
            Ok(swept) if swept.is_empty() => {}
            Ok(swept) => tracing::info!(sessions = swept.len(), "removed what had expired"),
            Err(error) => tracing::warn!(%error, "what has expired could not be removed; trying again later"),
        }
    }
}

/// Removes what has expired and names it.
pub(crate) async fn sweep(store: &dyn Store) -> Result<Vec<SessionId>, callboard_store::Error> {
    let mut swept = Vec::new();
    loop {
        let some = store.sweep(SWEPT_AT_ONCE).await?;
        let is_last = some.len() < SWEPT_AT_ONCE;
        swept.extend(some);
        if is_last {
            return Ok(swept);
        }
    }
}

fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
