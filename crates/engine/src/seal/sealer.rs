//! What seals for one session: it makes the session's key under the master key.

use callboard_core::{
    entry::Hash,
    error::Error as Refusal,
    id::SessionId,
    sealed::{StoredValue, WrappedKey},
};

use crate::{
    error::Error,
    seal::{
        keys::{DataKey, MasterKey},
        known::Known,
    },
};

/// Why an input is not masked.
pub(crate) enum Unmasked {
    /// It is refused.
    Refused(Error),
    /// The master key has to be looked up first.
    MasterKey,
}

impl<E: Into<Error>> From<E> for Unmasked {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

/// Seals for one session.
#[derive(Clone)]
pub(crate) struct Sealer {
    pub(crate) session: SessionId,
    /// The master key that wraps a new key, once it was looked up, or why there is none.
    pub(crate) master: Option<Result<MasterKey, String>>,
}

impl Sealer {
    /// A new key for the session, and how it is stored.
    pub(crate) fn make_key(&self) -> Result<(DataKey, WrappedKey, StoredValue), Unmasked> {
        let master = self.master.as_ref().ok_or(Unmasked::MasterKey)?;
        let master = master.as_ref().map_err(|problem| self.sealed(problem))?;
        let no_randomness = || self.sealed("this machine has no randomness for a key");
        let key = DataKey::random(self.session.clone()).ok_or_else(no_randomness)?;
        let wrapped = key.wrap(master).ok_or_else(no_randomness)?;
        let sha256 = Hash::of(wrapped.as_bytes());
        Ok((key, WrappedKey { sha256, made_for: self.session.clone() }, (sha256, wrapped.into())))
    }

    /// Whether what keys in calls say to be secret can be sealed. Without a master key it stays as it is: a message is not refused
    /// for it.
    pub(crate) fn can_seal(&self, known: &Known) -> Result<bool, Unmasked> {
        if known.key.is_some() {
            return Ok(true);
        }
        self.master.as_ref().map(Result::is_ok).ok_or(Unmasked::MasterKey)
    }

    /// The error that secrets cannot be opened or sealed.
    pub(crate) fn sealed(&self, problem: &str) -> Error {
        Refusal::Sealed {
            what: format!("the secrets of the session {} are sealed: {problem}", self.session),
            hint: "give the master key, or clear the secret variables as the user",
        }
        .into()
    }
}
