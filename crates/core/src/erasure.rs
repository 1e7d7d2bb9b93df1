//! Erasure: the one exception to appending. The words in an entry are taken away for good, and with them all copies that
//! Callboard made of them. Its header and the hash of its data stay, so the chain of tags still holds. How it is done is in
//! [`rewriting`](crate::rewriting).

mod facts;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::facts::Erased;
use crate::{entry::Hash, error::Error, id::Seq};

/// How many characters a reason has at most.
const REASON_CHARS: usize = 1000;

/// An entry that says something else than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedEntry {
    /// The entry.
    pub seq: Seq,
    /// The hash of what stands in the place of its data, which so is a part of the chain of tags.
    pub sha256: Hash,
}

/// Takes away the hash of a prompt: whoever knows the rest of the prompt could guess short words from it.
pub(crate) fn forget_prompt(data: &mut Value) {
    if let Some(sha256) = data.pointer_mut("/prompt/sha256") {
        *sha256 = Hash::default().to_string().into();
    }
}

pub(crate) fn check_reason(reason: &str) -> Result<(), Error> {
    if reason.trim().is_empty() {
        return Err(Error::invalid("/reason", "say why in at least one word"));
    }
    match reason.chars().nth(REASON_CHARS) {
        Some(_) => Err(Error::invalid("/reason", format!("use at most {REASON_CHARS} characters"))),
        None => Ok(()),
    }
}
