//! Erasure: the one exception to appending. The words in an entry are taken away for good, and with them all copies that
//! Callboard made of them. Its header and the hash of its data stay, so the chain of tags still holds.

mod changed;
mod check;
pub mod copies;
mod decide;
pub mod facts;
mod words;

pub(crate) use self::decide::{check_reason, forget_prompt};
pub use self::{
    changed::{CHANGING, ChangedEntry, changed_by, is_changing},
    check::ErasureCheck,
    copies::CopySearch,
    facts::Erased,
};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::Seq;

/// Erases the words of an entry. Only the user may.
#[derive(Clone, Debug)]
pub struct EraseEntry {
    /// The entry.
    pub seq: Seq,
    /// Why, for the journal.
    pub reason: Arc<str>,
    /// What was found to hold copies of its words. Entries that came since then are looked at when it is decided.
    pub copies: Arc<CopySearch>,
}

/// The outcome of erasing an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedEntry {
    /// The entry.
    pub seq: Seq,
    /// The entry that says who erased it and why; absent in a fork that was made before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_by: Option<Seq>,
    /// The entries with copies of its words, which were erased together with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Seq>,
}

#[cfg(test)]
mod tests;
