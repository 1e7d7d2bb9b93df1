//! Which entries change what older entries say, and how.

use crate::{
    entry::Entry,
    erasure::{ChangedEntry, Erased},
    error::Error,
    fact::{self, Fact},
    secret::facts::{Hidden, Restored},
};

/// The types of the entries that change what older entries say.
pub const CHANGING: [&str; 3] = [Erased::TYPE, Hidden::TYPE, Restored::TYPE];

/// Whether `entry` changes what older entries say.
pub fn is_changing(entry: &Entry) -> bool {
    CHANGING.contains(&&*entry.header.kind)
}

/// The older entries that `entry` changes.
pub fn changed_by(entry: &Entry) -> Result<Vec<ChangedEntry>, Error> {
    Ok(match &*entry.header.kind {
        Erased::TYPE => fact::read::<Erased>(entry)?.entries().collect(),
        Hidden::TYPE => fact::read::<Hidden>(entry)?.changed().collect(),
        Restored::TYPE => fact::read::<Restored>(entry)?.entries,
        _ => Vec::new(),
    })
}
