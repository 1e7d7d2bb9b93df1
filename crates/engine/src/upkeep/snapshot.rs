//! Snapshots: stored states, so that a long journal need not be folded from its start. They are written outside of the
//! append path, and may be deleted at any time.

use std::sync::Arc;

use callboard_core::{
    entry::Entry,
    id::{Seq, SessionId},
    state::State,
};
use callboard_store::Store;

use crate::{
    error::Error,
    journal::{PAGE, follows, read},
};

/// A state that was read from a store.
pub(crate) struct Loaded {
    pub(crate) state: State,
    /// The entry of the snapshot with which reading began; 0 without a snapshot.
    pub(crate) snapshot: Seq,
    /// The newest entry, where it was read.
    pub(crate) newest: Option<Entry>,
}

/// The state of a session as of the entry `at`; `None` if the journal is shorter, or was deleted while it was read. That is
/// two calls of the store, and one more for each further page of entries behind the snapshot.
pub(crate) async fn load(store: &dyn Store, id: &SessionId, at: Seq) -> Result<Option<Loaded>, Error> {
    let state = kept(store, id, at).await?.unwrap_or_default();
    load_from(state, store, id, at, |_| ()).await
}

/// The same from a state that is known already. `folded` is shown the state behind each page.
pub(crate) async fn load_from(
    mut state: State,
    store: &dyn Store,
    id: &SessionId,
    at: Seq,
    mut folded: impl FnMut(&State) + Send,
) -> Result<Option<Loaded>, Error> {
    let mut newest = None;
    let mut page = read(store, id, state.head.seq.previous(), at, PAGE).await?;
    if state.head.seq > Seq::ZERO {
        if page.first().map(Entry::head) == Some(state.head) {
            newest = Some(page.remove(0));
        } else {
            // A snapshot of another journal, which once had this name.
            state = State::default();
            page = read(store, id, Seq::ZERO, at, PAGE).await?;
        }
    }
    let snapshot = state.head.seq;
    while state.head.seq < at {
        if !page.first().is_some_and(|first| follows(state.head, first)) {
            return Ok(None);
        }
        page.iter().try_for_each(|entry| state.apply(entry))?;
        newest = page.pop();
        folded(&state);
        page = match state.head.seq < at {
            true => read(store, id, state.head.seq, at, PAGE).await?,
            false => Vec::new(),
        };
    }
    Ok(Some(Loaded { state, snapshot, newest }))
}

/// The state in the newest snapshot, where it is in a version that this program reads.
pub(crate) async fn kept(store: &dyn Store, id: &SessionId, at: Seq) -> Result<Option<State>, Error> {
    let Some((head, bytes)) = store.snapshot(id, at).await? else { return Ok(None) };
    let Ok(snapshot) = serde_json::from_slice::<Snapshot<State>>(&bytes) else {
        tracing::info!(session = %id, seq = %head.seq, "ignoring a snapshot of another version");
        return Ok(None);
    };
    let Snapshot { version, state } = snapshot;
    Ok((version == VERSION && state.head == head).then_some(state))
}

/// The version of snapshots. A snapshot of another version is ignored, and the journal is folded from its start.
const VERSION: u32 = 13;

#[derive(serde::Serialize, serde::Deserialize)]
struct Snapshot<S> {
    version: u32,
    state: S,
}

/// Writes a snapshot of `state`. A failure is logged.
pub(crate) async fn write(store: Arc<dyn Store>, id: SessionId, state: Arc<State>) {
    let head = state.head;
    // Serializing a large state takes a while.
    let snapshot = move || serde_json::to_vec(&Snapshot { version: VERSION, state: &*state });
    let written = match tokio::task::spawn_blocking(snapshot).await {
        Ok(Ok(bytes)) => store.put_snapshot(&id, head, bytes.into()).await,
        Ok(Err(error)) => return tracing::warn!(session = %id, %error, "a snapshot could not be serialized"),
        Err(_) => return,
    };
    if let Err(error) = written {
        // A missing snapshot only costs time: the journal has everything.
        tracing::warn!(session = %id, %error, "a snapshot could not be written");
    }
}
