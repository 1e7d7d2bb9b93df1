//! Long texts, which stand beside the journal: which ones an entry speaks of.

use callboard_core::{
    entry::{Entry, Hash},
    event::EventType,
};

/// The hashes of the long texts that must be there for what an entry says.
pub(crate) fn long_texts(entry: &Entry) -> Vec<Hash> {
    of(&entry.header.kind, &entry.data)
}

/// The same for an entry of this type with this data, as it is or as somebody sees it.
pub(crate) fn of(kind: &str, data: &str) -> Vec<Hash> {
    let may_have = data.contains("\"sha256\"");
    let known = EventType::named(kind).filter(|_| may_have);
    let Some((kind, data)) = known.zip(serde_json::from_str(data).ok()) else { return Vec::new() };
    let mut hashes = kind.long_texts(&data);
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}
