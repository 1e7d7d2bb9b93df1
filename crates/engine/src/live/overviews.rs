//! What lists know of sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use callboard_core::{entry::Head, id::SessionId};

use crate::{lock::lock, session_info::SessionInfo};

/// What lists know of sessions at a head: a session that has not changed since is not read again. What is announced as
/// changed or gone is forgotten.
#[derive(Default)]
pub(crate) struct Overviews {
    known: Mutex<HashMap<SessionId, (Head, Arc<SessionInfo>)>>,
}

/// So many sessions are known at the most; with more of them, all are read again.
const MOST: usize = 4096;

impl Overviews {
    /// What is known of a session at this head.
    pub(crate) fn at(&self, id: &SessionId, head: Head) -> Option<Arc<SessionInfo>> {
        lock(&self.known).get(id).filter(|(at, _)| *at == head).map(|(_, info)| info.clone())
    }

    pub(crate) fn note(&self, head: Head, info: Arc<SessionInfo>) {
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(info.id.clone(), (head, info));
    }

    pub(crate) fn forget<'a>(&self, ids: impl IntoIterator<Item = &'a SessionId>) {
        let mut known = lock(&self.known);
        ids.into_iter().for_each(|id| drop(known.remove(id)));
    }

    pub(crate) fn forget_all(&self) {
        lock(&self.known).clear();
    }
}
