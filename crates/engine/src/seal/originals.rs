//! What is sealed of entries in which secrets were hidden.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    entry::{Entry, Hash},
    erasure::Erased,
    fact::{self, Fact},
    id::{Seq, SessionId},
    rewriting::CHANGING,
    secret::facts::{Hidden, Restored},
    state::State,
    text::Values,
};
use callboard_store::Store;
use serde::{Deserialize, Serialize};

use crate::{error::Error, journal::Pages};

/// An entry as it was before a secret was hidden in it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Original {
    /// Its data, without a salt.
    pub(crate) data: String,
    /// The long texts that it refers to.
    pub(crate) texts: Values,
}

/// What sealed originals are bound to.
pub(crate) fn name_of(seq: Seq) -> String {
    format!("entry:{seq}")
}

/// What is sealed of the entries of a session.
#[derive(Default)]
pub(crate) struct Originals(pub(crate) BTreeMap<Seq, HiddenText>);

/// What became of an entry in which secrets were hidden.
#[derive(Default)]
pub(crate) struct HiddenText {
    /// The hash under which it is sealed as it was before.
    pub(crate) sealed: Option<Hash>,
    /// The secrets that were hidden in it and are not restored: the variables, and as what their values are sealed.
    secrets: BTreeSet<(Arc<str>, Hash)>,
}

impl Originals {
    /// Whether an entry is sealed as it was.
    pub(crate) fn has(&self, seq: Seq) -> bool {
        self.0.get(&seq).is_some_and(|text| text.sealed.is_some())
    }

    /// Takes the next of the entries that change others.
    fn take(&mut self, entry: &Entry) -> Result<(), Error> {
        match &*entry.header.kind {
            Hidden::TYPE => {
                let Hidden { secrets, entries } = fact::read(entry)?;
                for one in entries {
                    let text = self.0.entry(one.seq).or_default();
                    text.sealed = one.sealed.or(text.sealed);
                    text.secrets.extend(secrets.iter().map(|(name, sealed)| (name.clone(), *sealed)));
                }
            }
            Restored::TYPE => {
                let restored: Restored = fact::read(entry)?;
                let is_of_other = |(secret, _): &(Arc<str>, Hash)| restored.names().all(|name| *name != **secret);
                self.0.values_mut().for_each(|text| text.secrets.retain(is_of_other));
            }
            // What was sealed of an erased entry went with it.
            _ => fact::read::<Erased>(entry)?.entries().for_each(|erased| drop(self.0.remove(&erased.seq))),
        }
        Ok(())
    }
}

/// What is sealed of the entries of a session, as of an entry.
pub(crate) async fn originals(store: &dyn Store, id: &SessionId, head: Seq) -> Result<Originals, Error> {
    let mut originals = Originals::default();
    let mut pages = Pages::of(store, id, Seq::ZERO, head, CHANGING.map(Arc::from).to_vec());
    while let Some(page) = pages.next().await? {
        page.iter().try_for_each(|entry| originals.take(entry))?;
    }
    Ok(originals)
}

impl HiddenText {
    /// The hash of what it was, if one of the secrets `names` was hidden in it and all others in it are known still.
    pub(crate) fn open_without(self, names: &BTreeSet<Arc<str>>, state: &State) -> Option<Hash> {
        let is_known =
            |(secret, sealed): &(Arc<str>, Hash)| names.contains(secret) || state.secrets.of(secret).contains(sealed);
        let is_meant = self.secrets.iter().any(|(secret, _)| names.contains(secret));
        self.sealed.filter(|_| is_meant && self.secrets.iter().all(is_known))
    }
}
