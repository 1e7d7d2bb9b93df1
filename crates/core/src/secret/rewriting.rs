//! Rewriting: what earlier entries say of a value that becomes a secret is hidden in the append that makes it one.

use std::sync::Arc;

use super::facts::{Hidden, HiddenEntry};
use crate::{
    command::DecisionBuilder,
    entry::Hash,
    error::{ConflictKind, Error},
    id::is_of_call,
    sealed::StoredValue,
};

/// How many entries one fact names.
const AT_ONCE: usize = 512;

impl DecisionBuilder<'_> {
    /// Rewrites what earlier entries say of the secrets that were sealed in this decision.
    ///
    /// # Errors
    /// Some of what the command brings is in a message that is there already, and was put back in it: it is no secret.
    pub(crate) fn hide_earlier(&mut self) -> Result<(), Error> {
        let sealed = self.context.sealed;
        let is_sealed = sealed.values.values().any(|(hash, _)| self.values.contains_key(hash));
        let Some(rewriting) = sealed.rewriting.as_ref().filter(|_| is_sealed) else { return Ok(()) };
        let is_put_back =
            |(name, (hash, _)): (&Arc<str>, &StoredValue)| is_of_call(name) && !self.values.contains_key(hash);
        if !rewriting.entries.is_empty() && sealed.values.iter().any(is_put_back) {
            let what = "a message that is there already has what was a secret and was put back";
            return Err(Error::conflict(ConflictKind::SecretsChanged, what, "send the other messages alone"));
        }
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
        Ok(())
    }
}
