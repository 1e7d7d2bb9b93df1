//! What is kept of an erasure.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ChangedEntry;
use crate::{
    entry::{Hash, Header},
    fact::{Description, Fact, Sentence, text},
    id::Seq,
    state::State,
};

/// The words of an entry were erased. Its header says who did it. It is for the user alone: what it names may be hidden from
/// agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Erased {
    /// The entry.
    pub seq: Seq,
    /// Why.
    pub reason: Arc<str>,
    /// The hash of what stands in the place of its data, which so is a part of the chain of tags.
    pub sha256: Hash,
    /// The same for each entry that held copies of its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<ChangedEntry>,
}

impl Erased {
    /// Each entry that it erased, with the hash of what stands in the place of its data.
    pub fn entries(&self) -> impl Iterator<Item = ChangedEntry> {
        [ChangedEntry { seq: self.seq, sha256: self.sha256 }].into_iter().chain(self.copies.iter().copied())
    }
}

impl Fact for Erased {
    const TYPE: &'static str = "entry.erased";

    const SENTENCE: Sentence = |it| format!("{} erased entry {}{}", it.by, it.text("seq"), it.about("reason"));

    const DESCRIPTION: Description = Description::of(&[text("reason")]);

    fn subject(&self) -> String {
        format!("entry:{}", self.seq)
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.erased = header.seq;
    }
}
