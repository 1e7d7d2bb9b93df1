//! Which entries change what older entries say, and how.

use serde::{Deserialize, Serialize};

use super::facts::Erased;
use crate::{
    entry::{Entry, Hash},
    error::Error,
    fact::{self, Fact},
    id::Seq,
    secret::facts::{Hidden, Restored},
};

/// The types of the entries that change what older entries say.
pub const CHANGING: [&str; 3] = [Erased::TYPE, Hidden::TYPE, Restored::TYPE];

/// An entry that says something else than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedEntry {
    /// The entry.
    pub seq: Seq,
    /// The hash of what stands in the place of its data, which so is a part of the chain of tags.
    pub sha256: Hash,
}

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
