//! Long texts, which stand beside the journal: what entries say of them.

use callboard_core::{
    entry::Hash,
    text::{INLINE_BYTES, Stored},
};
use serde_json::{Map, Value};

/// Fields that hold what somebody brought along: it may look like anything.
const BROUGHT: [&str; 6] = ["answer", "answers", "arguments", "intent", "metadata", "parameters"];

/// The hashes of the long texts that the data of an entry speaks of, and of what looks like one.
pub(crate) fn stored(data: &str) -> Vec<Hash> {
    hashes(data, &[], |fields| {
        let is_text = fields.contains_key("size_bytes") && fields.contains_key("beginning");
        let hash = fields.get("sha256").filter(|_| is_text)?;
        serde_json::from_value(hash.clone()).ok()
    })
}

/// The hashes of the long texts that must be there for what the data of an entry says.
pub(crate) fn needed(data: &str) -> Vec<Hash> {
    hashes(data, &BROUGHT, |fields| {
        let stored: Stored = serde_json::from_value(Value::Object(fields.clone())).ok()?;
        (fields.len() == 3 && stored.size_bytes > INLINE_BYTES as u64).then_some(stored.sha256)
    })
}

/// What `find` finds in the objects of `data`, but for what is in the fields `without`.
fn hashes(data: &str, without: &[&str], find: impl Fn(&Map<String, Value>) -> Option<Hash>) -> Vec<Hash> {
    let mut hashes = Vec::new();
    let mut waiting: Vec<Value> = Vec::new();
    if data.contains("\"sha256\"") {
        waiting.extend(serde_json::from_str::<Value>(data));
    }
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                hashes.extend(find(&fields));
                let inside = fields.into_iter().filter(|(name, _)| !without.contains(&name.as_str()));
                waiting.extend(inside.map(|(_, value)| value));
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}
