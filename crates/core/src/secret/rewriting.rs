//! Rewriting: what earlier entries say of a value that becomes a secret is hidden in the append that makes it one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use super::facts::{Hidden, HiddenEntry};
use crate::{
    command::DecisionBuilder,
    entry::{Entry, Erasure, Hash, erased},
    erasure::forget_prompt,
    event,
    id::Seq,
    text::Values,
};

/// How many entries one fact names.
const AT_ONCE: usize = 512;

/// What earlier entries say of values that become secrets, and what is to stand there.
#[derive(Clone, Debug, Default)]
pub struct Rewriting {
    /// The variables whose values they are, each with the hash under which its value is sealed.
    pub secrets: BTreeMap<Arc<str>, Hash>,
    /// The entries, in the order of their numbers.
    pub entries: Vec<Rewritten>,
    /// The texts that stand beside the journal then: long ones with hidden values, and the sealed originals.
    pub values: Values,
    /// The long texts that nobody refers to any more.
    pub unneeded: BTreeSet<Hash>,
}

/// An entry that is rewritten.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The entry.
    pub seq: Seq,
    /// The hash that its tag is computed over.
    pub data_hash: Hash,
    /// Its data from now on: a JSON object.
    pub data: Arc<str>,
    /// The hash under which its data of before is stored beside the journal, sealed; `None` where an older original is.
    pub sealed: Option<Hash>,
}

impl Rewritten {
    /// An entry with `data`, in which values are hidden, in the place of its own. A prompt is not told by its hash then: who
    /// knows the rest of the prompt could guess a short value from it.
    pub fn new(entry: &Entry, mut data: Value, sealed: Option<Hash>) -> Self {
        forget_prompt(&mut data);
        let data = event::reworded(entry, data).data;
        Self { seq: entry.header.seq, data_hash: entry.data_hash(), data, sealed }
    }

    /// What stands in the place of its data, where the entry `by` says so.
    pub(super) fn marked(&self, by: Seq) -> Arc<str> {
        erased(Erasure { sha256: self.data_hash, by }, &self.data).into()
    }
}

impl DecisionBuilder<'_> {
    /// Rewrites what earlier entries say of the secrets that were sealed in this decision.
    pub(crate) fn hide_earlier(&mut self) {
        let sealed = self.context.sealed;
        let is_sealed = sealed.values.values().any(|(hash, _)| self.values.contains_key(hash));
        let Some(rewriting) = sealed.rewriting.as_ref().filter(|_| is_sealed) else { return };
        self.by = self.context.by.clone();
        for some in rewriting.entries.chunks(AT_ONCE) {
            let by = self.next_seq();
            let mut entries = Vec::with_capacity(some.len());
            for entry in some {
                let data = entry.marked(by);
                entries.push(HiddenEntry { seq: entry.seq, sha256: Hash::of(data.as_bytes()), sealed: entry.sealed });
                self.erased.entries.insert(entry.seq, data);
            }
            self.record(Hidden { secrets: rewriting.secrets.clone(), entries });
        }
        if !rewriting.entries.is_empty() {
            self.values.extend(rewriting.values.iter().map(|(hash, text)| (*hash, text.clone())));
            self.erased.values.extend(rewriting.unneeded.iter().copied());
        }
    }
}
