//! Checking that what stands in the place of erased data is what the erasure put there: the tags of those entries no longer
//! tell, but the entry that says who erased them has the hashes.

use std::collections::BTreeMap;

use super::changed_by;
use crate::{
    entry::{Entry, Hash},
    erasure::ChangedEntry,
    error::Error,
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
        // What a later entry changed once more is checked there.
        let is_wrong = |changed: &ChangedEntry| match self.0.get(&changed.seq) {
            Some((_, by)) if *by > seq => false,
            there => there.map(|(there, _)| there) != Some(&changed.sha256),
        };
        match changed_by(entry)?.iter().find(|changed| is_wrong(changed)) {
            None => Ok(()),
            Some(ChangedEntry { seq: changed, .. }) => {
                let detail = format!("entry {changed} is not as it was left when its words were changed");
                Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail })
            }
        }
    }
}
