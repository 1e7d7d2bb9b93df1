//! The open sessions. A session stays in memory while somebody holds it, and for a while after its last use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use callboard_core::id::SessionId;
use callboard_store::Store;
use tokio::{sync::Notify, task::JoinSet, time::Instant};

use crate::{
    error::Error,
    live::{
        message_cache::{MAX_BYTES, MessageCache},
        overviews::Overviews,
        session::Live,
    },
    lock::lock,
    recall::Indices,
    settings::Settings,
    upkeep::clock_trust::ClockTrust,
};

/// The open sessions of a board, and what they share.
pub(crate) struct OpenSessions {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: Arc<Settings>,
    /// Notifies when a run begins or continues through this board.
    pub(crate) begun: Arc<Notify>,
    pub(crate) messages: Arc<MessageCache>,
    /// What finds things again in sessions.
    pub(crate) indices: Arc<Indices>,
    /// What lists know of sessions.
    pub(crate) overviews: Overviews,
    sessions: Mutex<Sessions>,
    clock_trust: Mutex<ClockTrust>,
    /// The background tasks of the board.
    tasks: Mutex<JoinSet<()>>,
}

/// The sessions in memory.
#[derive(Default)]
pub(crate) struct Sessions {
    pub(crate) by_id: HashMap<SessionId, OpenSession>,
    pub(crate) is_closed: bool,
}

/// A session in memory, and the time of its last use.
pub(crate) struct OpenSession {
    pub(crate) live: Arc<Live>,
    pub(crate) used: Instant,
}

impl OpenSessions {
    pub(crate) fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let (begun, overviews, sessions, tasks) = Default::default();
        let clock_trust = Mutex::new(ClockTrust::new(store.last_activity_at_open()));
        let messages = Arc::new(MessageCache::of_bytes(MAX_BYTES));
        let indices = Arc::new(Indices::new(store.clone(), settings.recall.clone()));
        Self { store, settings: Arc::new(settings), begun, messages, indices, overviews, sessions, clock_trust, tasks }
    }

    /// Whether the store's clock can be trusted enough to delete expired sessions.
    pub(crate) async fn trusts_clock(&self) -> Result<bool, Error> {
        let now = self.store.now().await?;
        Ok(lock(&self.clock_trust).at(now))
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        lock(&self.sessions)
    }

    pub(crate) fn alive(&self, id: &SessionId) -> Option<Arc<Live>> {
        self.sessions().alive(id)
    }

    pub(crate) fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        lock(&self.tasks)
    }
}

impl Sessions {
    /// The session, if it is open and has not ended. This counts as a use.
    pub(crate) fn alive(&mut self, id: &SessionId) -> Option<Arc<Live>> {
        let open = self.by_id.get_mut(id).filter(|open| open.live.known().is_ok())?;
        open.used = Instant::now();
        Some(open.live.clone())
    }
}
