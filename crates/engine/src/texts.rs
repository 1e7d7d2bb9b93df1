//! Long texts, which stand beside the journal: which ones an entry speaks of.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash},
    event::EventType,
    id::{Seq, SessionId},
    text::Values,
};
use callboard_store::Store;

/// What stands in the place of a long text of the entry `seq` that the store has lost.
pub(crate) fn damaged(seq: Seq) -> Arc<str> {
    format!("[this text is damaged: entry {seq}]").into()
}

/// The texts with these hashes that are there. One that is not was erased, or something only looks like a long text, for instance in
/// metadata.
pub(crate) async fn there(
    store: &dyn Store,
    id: &SessionId,
    hashes: Vec<Hash>,
) -> Result<Values, callboard_store::Error> {
    let mut values = Values::new();
    for hash in hashes {
        values.extend(store.value(id, hash).await?.map(|text| (hash, text)));
    }
    Ok(values)
}

/// The hashes of the long texts that must be there for what an entry says.
pub(crate) fn long_texts(entry: &Entry) -> Vec<Hash> {
    callboard_core::event::long_texts(&entry.header.kind, &entry.data)
}

/// The hashes of all that stands beside the journal for an entry: its long texts, and what is sealed.
pub(crate) fn stored_values(entry: &Entry) -> Vec<Hash> {
    [long_texts(entry), sealed_values(entry)].concat()
}

/// The hashes of the sealed values that an entry speaks of.
pub(crate) fn sealed_values(entry: &Entry) -> Vec<Hash> {
    let known = EventType::named(&entry.header.kind).filter(|kind| kind.has_sealed_values());
    let Some((kind, data)) = known.zip(serde_json::from_str(&entry.data).ok()) else { return Vec::new() };
    kind.sealed_values(&data)
}
