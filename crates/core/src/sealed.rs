//! What is sealed of a command's input before it is decided, and what is rewritten of older entries then.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    entry::{Erasure, Hash, erased},
    id::{Seq, SessionId},
    text::Values,
};

/// A text that is stored beside the journal, with its hash.
pub type StoredValue = (Hash, Arc<str>);

/// What the secrets of a session are sealed with: a data key, which the master key wraps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrappedKey {
    /// The wrapped key stands beside the journal under this hash.
    pub sha256: Hash,
    /// The session for which the key was made, to which all that it sealed is bound. A fork keeps the key of the session
    /// that it was forked from.
    pub made_for: SessionId,
}

/// What was sealed of a command's input before it is decided.
#[derive(Clone, Debug, Default)]
pub struct SealedInput {
    /// The sealed values by the names of their variables.
    pub values: BTreeMap<Arc<str>, StoredValue>,
    /// Secrets that are sealed already: the same values as before.
    pub known: BTreeMap<Arc<str>, Hash>,
    /// The key that they were sealed with, where the session had none: it is wrapped, and recorded with the first value.
    pub new_key: Option<(WrappedKey, Arc<str>)>,
    /// What is rewritten of earlier entries if the values are recorded.
    pub rewriting: Option<Arc<Rewriting>>,
}

impl SealedInput {
    /// Nothing was sealed.
    pub const NOTHING: &'static Self =
        &Self { values: BTreeMap::new(), known: BTreeMap::new(), new_key: None, rewriting: None };
}

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
    /// What stands in the place of its data, where the entry `by` says so.
    pub(crate) fn marked(&self, by: Seq) -> Arc<str> {
        erased(Erasure { sha256: self.data_hash, by }, &self.data).into()
    }
}
