//! Snapshots: what a journal folds to, kept so that a long one need not be folded from its start. They are written off
//! the append path, and may be deleted at any time.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
};
use callboard_store::Store;

use crate::{
    Error,
    live::{PAGE, Writer},
    session::read,
};

/// The state of a session as of the entry `at`.
pub(crate) async fn load(store: &dyn Store, id: &SessionId, at: Seq) -> Result<State, Error> {
    let mut state = newest(store, id, at).await?.unwrap_or_default();
    while state.head.seq < at {
        let page = read(store, id, state.head.seq, at, PAGE).await?;
        if page.is_empty() {
            break;
        }
        page.iter().try_for_each(|entry| state.apply(entry))?;
    }
    Ok(state)
}

/// The state that the newest usable snapshot holds: one that is of this journal, and that this program can read.
async fn newest(store: &dyn Store, id: &SessionId, at: Seq) -> Result<Option<State>, Error> {
    let Some((head, bytes)) = store.snapshot(id, at).await? else { return Ok(None) };
    let there = read(store, id, head.seq.previous(), head.seq, 1).await?;
    let Ok(state) = serde_json::from_slice::<Snapshot<State>>(&bytes) else {
        tracing::info!(session = %id, seq = %head.seq, "a snapshot of another version is left aside");
        return Ok(None);
    };
    let usable = state.version == VERSION && state.state.head == head && there.first().map(Entry::head) == Some(head);
    Ok(usable.then_some(state.state))
}

/// The version of what snapshots hold. One of another version is left aside, and the journal is folded from its start.
const VERSION: u32 = 1;

#[derive(serde::Serialize, serde::Deserialize)]
struct Snapshot<S> {
    version: u32,
    state: S,
}

impl Writer {
    /// Writes a snapshot of `state` where the last one is long ago, without waiting for it.
    pub(crate) fn write_snapshot(&mut self, state: &Arc<State>) {
        let Head { seq, .. } = state.head;
        if seq.0.saturating_sub(self.snapshot.0) < self.settings.snapshot_every {
            return;
        }
        self.snapshot = seq;
        let (store, id, state) = (self.store.clone(), self.id.clone(), state.clone());
        tokio::spawn(async move {
            let head = state.head;
            let snapshot = Snapshot { version: VERSION, state: &*state };
            let written = match serde_json::to_vec(&snapshot) {
                Ok(bytes) => store.put_snapshot(&id, head, bytes.into()).await,
                Err(error) => return tracing::warn!(session = %id, %error, "a snapshot could not be made"),
            };
            if let Err(error) = written {
                // It only saves time: the journal has everything.
                tracing::warn!(session = %id, %error, "a snapshot could not be written");
            }
        });
    }
}
