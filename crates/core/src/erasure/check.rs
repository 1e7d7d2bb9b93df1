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
pub struct ErasureCheck(BTreeMap<Seq, Hash>);

impl ErasureCheck {
    /// Takes the next entry. An error says which entry was changed.
    pub fn take(&mut self, entry: &Entry) -> Result<(), Error> {
        let seq = entry.header.seq;
        if entry.erasure().is_some() {
            self.0.insert(seq, Hash::of(entry.data.as_bytes()));
        }
        if *entry.header.kind != *Erased::TYPE {
            return Ok(());
        }
        let erased: Erased = fact::read(entry)?;
        match erased.entries().find(|(seq, sha256)| self.0.get(seq) != Some(sha256)) {
            None => Ok(()),
            Some((changed, _)) => {
                let detail = format!("entry {changed} is not as it was when its words were erased");
                Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail })
            }
        }
    }
}
