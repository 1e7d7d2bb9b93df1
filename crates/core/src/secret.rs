//! Secrets: values that are sealed beside the journal. The journal and the state only say which there are.
//!
//! This crate has no keys. An engine seals values before a command is decided and gives the decision what it sealed.

mod decide;
pub mod facts;
pub mod master_key;
mod restore;
mod rewriting;

use std::{collections::BTreeSet, sync::Arc};

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::{
    entry::Hash,
    id::{Seq, VariableName},
    sealed::{StoredValue, WrappedKey},
};

pub use self::restore::{RestoreSecret, RestoredSecret};

/// Which secrets a session has. It holds no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Secrets {
    /// The data key, once there was a secret.
    pub key: Option<WrappedKey>,
    /// The entry that last changed which secrets there are, or the key.
    pub changed: Seq,
    /// The hashes of the sealed values of each variable, the newest last. Older values stay known, so that they are
    /// masked too.
    sealed: RedBlackTreeMapSync<Arc<str>, Arc<[Hash]>>,
}

impl Secrets {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sealed.is_empty()
    }

    /// Each sealed value with the name of its variable.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, Hash)> {
        self.sealed.iter().flat_map(|(name, hashes)| hashes.iter().map(move |hash| (name, *hash)))
    }

    /// The hashes of all that stands beside the journal for them: the sealed values, and the wrapped key.
    pub fn stored(&self) -> BTreeSet<Hash> {
        let key = self.key.iter().map(|key| key.sha256);
        key.chain(self.iter().map(|(_, hash)| hash)).collect()
    }

    /// The hashes of the sealed values of the variable `name`, the newest last.
    pub fn of(&self, name: &str) -> &[Hash] {
        self.sealed.get(name).map_or(&[][..], |hashes| hashes)
    }

    /// The newest sealed value of the variable `name`.
    pub fn newest(&self, name: &str) -> Option<Hash> {
        self.of(name).last().copied()
    }

    /// Notes that the variable `name` was given the value that is sealed as `sealed`, by the entry `seq`.
    pub(crate) fn learn(&mut self, name: &Arc<str>, sealed: Hash, seq: Seq) {
        let others = self.of(name).iter().copied().filter(|hash| *hash != sealed);
        let hashes: Arc<[Hash]> = others.chain([sealed]).collect();
        self.sealed.insert_mut(name.clone(), hashes);
        self.changed = seq;
    }

    /// Forgets the values of the variable `name`, or of all variables.
    pub(crate) fn forget_each(&mut self, name: Option<&str>, seq: Seq) {
        match name {
            Some(name) => self.forget(name, seq),
            None if self.is_empty() => {}
            None => (self.sealed, self.changed) = (RedBlackTreeMapSync::default(), seq),
        }
    }

    /// Forgets all values that the variable `name` ever had.
    pub(crate) fn forget(&mut self, name: &str, seq: Seq) {
        if self.sealed.remove_mut(name) {
            self.changed = seq;
        }
    }
}

/// That the data key of a session was wrapped anew, under another master key.
#[derive(Clone, Debug, PartialEq)]
pub struct RewrapKey {
    /// The wrapped key that is replaced.
    pub before: Hash,
    /// The key as it is wrapped now.
    pub wrapped: StoredValue,
}

/// That the value of a secret is about to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevealSecret {
    /// The variable.
    pub name: VariableName,
}
