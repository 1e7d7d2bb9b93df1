//! Rewriting: what is erased or hidden in older entries, or restored, and how it is found.

mod changed;
mod check;
pub mod copies;
mod decide;
mod words;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    changed::{CHANGING, changed_by, is_changing},
    check::ErasureCheck,
    copies::CopySearch,
};
use crate::{
    entry::{Entry, Hash, copied},
    erasure::forget_prompt,
    event,
    id::Seq,
    sealed::Rewritten,
};

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

/// An entry with `data`, in which values are hidden, in the place of its own. A prompt is not told by its hash then: who
/// knows the rest of the prompt could guess a short value from it. Where the entry could not be read then, all of its words
/// are erased: a value may be a word that the entry needs where it stands.
pub fn rewritten(entry: &Entry, mut data: Value, sealed: Option<Hash>) -> Rewritten {
    forget_prompt(&mut data);
    let mut masked = Entry { data: data.to_string().into(), ..entry.clone() };
    if event::check_readable(&masked).is_err() {
        event::erase(&entry.header.kind, &mut data);
        masked.data = data.to_string().into();
    }
    let data = copied(&entry.copied_from(), &masked.data).into();
    Rewritten { seq: entry.header.seq, data_hash: entry.data_hash(), data, sealed }
}

#[cfg(test)]
mod tests;
