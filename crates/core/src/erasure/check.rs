//! Checking that what stands in the place of erased data is what the erasure put there: the tags of those entries no longer
//! tell, but the entry that says who erased them has the hashes.

use std::collections::BTreeMap;

use super::facts::Erased;
use crate::{
    entry::{Entry, Hash},
    error::Error,
    fact::{self, Fact},
    id::Seq,
};

/// Checks a journal entry by entry, from its first one on. Where a fork was made before an entry was erased, no entry of it
/// says so, and nothing can be checked.
#[derive(Clone, Debug, Default)]
pub struct ErasureCheck(BTreeMap<Seq, (Hash, Seq)>);

impl ErasureCheck {
    /// Takes the next entry. An error says which entry was changed.
    pub fn take(&mut self, entry: &Entry) -> Result<(), Error> {
        let seq = entry.header.seq;
        if let Some(erasure) = entry.erasure() {
            self.0.insert(seq, (Hash::of(entry.data.as_bytes()), erasure.by));
        }
        if *entry.header.kind != *Erased::TYPE {
            return Ok(());
        }
        let erased: Erased = fact::read(entry)?;
        // What a later entry erased once more is checked there.
        let is_wrong = |(erased, sha256): &(Seq, Hash)| match self.0.get(erased) {
            Some((_, by)) if *by > seq => false,
            there => there.map(|(there, _)| there) != Some(sha256),
        };
        match erased.entries().find(is_wrong) {
            None => Ok(()),
            Some((changed, _)) => {
                let detail = format!("entry {changed} is not as it was when its words were erased");
                Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail })
            }
        }
    }
}
