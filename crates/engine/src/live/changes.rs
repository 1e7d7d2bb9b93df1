//! What a store announces.

use std::{collections::HashSet, time::Duration};

use callboard_core::id::SessionId;
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

/// How long until a session that could not be read is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// The journals that a store announced as changed.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) sessions: HashSet<SessionId>,
    /// Whether any other journal may have changed too.
    pub(crate) all: bool,
}

/// Waits for the next announced journals, and takes all that were announced meanwhile. With `again` it waits only a moment.
/// `None` once the store is closed.
pub(crate) async fn next_changes(changes: &mut broadcast::Receiver<SessionId>, again: bool) -> Option<Changes> {
    let mut changed = Changes::default();
    let patience = if again { AGAIN_AFTER } else { Duration::MAX };
    match tokio::time::timeout(patience, changes.recv()).await {
        Ok(Ok(id)) => drop(changed.sessions.insert(id)),
        Ok(Err(RecvError::Lagged(_))) => changed.all = true,
        Ok(Err(RecvError::Closed)) => return None,
        Err(_) => return Some(changed),
    }
    loop {
        match changes.try_recv() {
            Ok(id) => drop(changed.sessions.insert(id)),
            Err(TryRecvError::Lagged(_)) => changed.all = true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(changed),
        }
    }
}
