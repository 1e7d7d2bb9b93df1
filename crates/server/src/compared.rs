//! How far conversations of the gateway's clients were compared with what is known: the next request of one is compared from there on.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    audience::VisibilitySpan,
    entry::{Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};

/// So many conversations are remembered at most.
const MOST: usize = 10_000;

/// How far a conversation was compared.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    /// How many of the client's messages are known.
    pub(crate) count: usize,
    /// A hash of what counts of them.
    pub(crate) hash: Hash,
    /// The last of them in the journal. Its tag tells it from that of a later session with the same id.
    pub(crate) last: Head,
    /// The time of that message.
    pub(crate) at: Timestamp,
    /// Who saw the thread.
    pub(crate) sight: VisibilitySpan,
    /// The last entry that changed older ones.
    pub(crate) erased: Seq,
}

/// How far conversations were compared, by their session and what names them there. All are forgotten where there are too many.
#[derive(Default)]
pub(crate) struct Comparisons(Mutex<HashMap<(SessionId, String), Compared>>);

impl Comparisons {
    /// How far this one was.
    pub(crate) fn of(&self, key: &(SessionId, String)) -> Option<Compared> {
        self.known().get(key).cloned()
    }

    /// Remembers it.
    pub(crate) fn keep(&self, key: (SessionId, String), compared: Compared) {
        let mut known = self.known();
        if known.len() >= MOST && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, compared);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(SessionId, String), Compared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
