//! Scrubbing: secrets that became known later are masked in the words that older entries hold.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    decide::check_reason,
    facts::{Erased, ErasedCopy},
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    entry::{Entry, Erasure, Hash, erased},
    event,
    id::Seq,
    input::InputVisitor,
    rights,
    text::Values,
};

/// Puts masked words in the place of those that older entries hold. Only the user may.
#[derive(Clone, Debug)]
pub struct ScrubEntries {
    /// The entries whose words hold secrets, as they are to be.
    pub entries: Arc<[ScrubbedEntry]>,
    /// The long texts that they then refer to.
    pub values: Arc<Values>,
    /// The long texts that nobody refers to any more.
    pub unneeded: Arc<BTreeSet<Hash>>,
    /// Why, for the journal.
    pub reason: Arc<str>,
}

/// An entry with masked words.
#[derive(Clone, Debug)]
pub struct ScrubbedEntry {
    /// The entry.
    pub seq: Seq,
    /// The hash of what it held when it was masked. One that was changed meanwhile stays as it is.
    pub was: Hash,
    /// Its data with masked words: a JSON object.
    pub data: Arc<str>,
}

impl ScrubbedEntry {
    /// An entry whose words are masked in `data`. Where it could not be read then, all of its words are erased.
    pub fn new(entry: &Entry, data: Value) -> Self {
        let was = Hash::of(entry.data.as_bytes());
        Self { seq: entry.header.seq, was, data: event::reworded(entry, data).data }
    }
}

/// What was scrubbed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrubbed {
    /// The entry that says who did it and why; absent where nothing held a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrubbed_by: Option<Seq>,
    /// The entries whose words held secrets.
    pub entries: Vec<Seq>,
}

impl KeptAnswer for Scrubbed {
    const NAME: &'static str = "scrubbed";
}

impl Command for ScrubEntries {
    type Answer = Scrubbed;

    const ERASES: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Scrubbed, Undecided> {
        rights::user(decision, "scrub secrets")?;
        check_reason(&self.reason)?;
        let by = decision.next_seq();
        let mut rewritten = Vec::new();
        for ScrubbedEntry { seq, was, data } in self.entries.iter() {
            let Some(entry) = decision.entry(*seq)? else { continue };
            if Hash::of(entry.data.as_bytes()) == *was {
                rewritten.push((*seq, Arc::<str>::from(erased(Erasure { sha256: entry.data_hash(), by }, data))));
            }
        }
        let hashes = rewritten.iter().map(|(seq, data)| ErasedCopy { seq: *seq, sha256: Hash::of(data.as_bytes()) });
        let mut hashes: Vec<_> = hashes.collect();
        let entries: Vec<Seq> = hashes.iter().map(|one| one.seq).collect();
        if entries.is_empty() {
            return Ok(Scrubbed::default());
        }
        let ErasedCopy { seq, sha256 } = hashes.remove(0);
        decision.erased.entries.extend(rewritten);
        decision.erased.values = (*self.unneeded).clone();
        decision.values.extend(self.values.iter().map(|(hash, text)| (*hash, text.clone())));
        decision.record(Erased { seq, reason: self.reason.clone(), sha256, copies: hashes });
        Ok(Scrubbed { scrubbed_by: Some(by), entries })
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.reason);
    }

    fn entries(&self) -> Vec<Seq> {
        self.entries.iter().map(|entry| entry.seq).collect()
    }
}
