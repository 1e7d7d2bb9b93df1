//! The sessions that are open: in memory, as long as somebody holds them or asks for them now and then.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::id::SessionId;
use callboard_store::Store;
use tokio::{sync::Notify, task::JoinSet, time::Instant};

use crate::{
    live::{message_cache::MessageCache, session::Live},
    settings::Settings,
};

/// The sessions of a store that are in memory, and what keeps them so.
pub(crate) struct Open {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: Arc<Settings>,
    /// Told where a run begins or goes on through this board.
    pub(crate) begun: Arc<Notify>,
    pub(crate) messages: MessageCache,
    sessions: Mutex<Sessions>,
    /// What goes on in the background as long as the board is there.
    tasks: Mutex<JoinSet<()>>,
}

/// The sessions in memory.
#[derive(Default)]
pub(crate) struct Sessions {
    pub(crate) kept: HashMap<SessionId, Kept>,
    pub(crate) is_closed: bool,
}

/// A session in memory, and when it was last asked for.
pub(crate) struct Kept {
    pub(crate) live: Arc<Live>,
    pub(crate) used: Instant,
}

impl Open {
    pub(crate) fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let (begun, messages, sessions, tasks) = Default::default();
        Self { store, settings: Arc::new(settings), begun, messages, sessions, tasks }
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn alive(&self, id: &SessionId) -> Option<Arc<Live>> {
        self.sessions().alive(id)
    }

    pub(crate) fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    /// The session, where it is in memory and has not ended. It is asked for now.
    pub(crate) fn alive(&mut self, id: &SessionId) -> Option<Arc<Live>> {
        let kept = self.kept.get_mut(id).filter(|kept| kept.live.known().is_ok())?;
        kept.used = Instant::now();
        Some(kept.live.clone())
    }
}
