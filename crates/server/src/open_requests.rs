//! Requests under idempotency keys that are being answered.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::id::SessionId;

/// The requests that are being answered, by their session and the key that they claim.
#[derive(Clone, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<HashSet<(SessionId, String)>>>);

/// A request that is being answered, until it is dropped.
pub(crate) struct OpenRequest {
    all: OpenRequests,
    key: (SessionId, String),
}

impl OpenRequests {
    /// Opens a request. `None` where it is open already.
    pub(crate) fn open(&self, key: (SessionId, String)) -> Option<OpenRequest> {
        let is_new = self.keys().insert(key.clone());
        is_new.then(|| OpenRequest { all: self.clone(), key })
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<(SessionId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.all.keys().remove(&self.key);
    }
}
