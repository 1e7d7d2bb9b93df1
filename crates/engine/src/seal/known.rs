//! What a session in memory knows of its secrets. It is read when it is needed first, and goes with the session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
};

use callboard_core::{
    entry::Hash,
    error::Error as Refusal,
    id::Seq,
    idempotency::Fingerprint,
    secret::{Secrets, StoredValue, WrappedKey},
    state::State,
    variable::shown_name,
};
use futures::future::try_join_all;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    live::session::Live,
    seal::{
        keys::DataKey,
        mask::{Hidden, Mask},
    },
};

/// How many sealed values are read at once.
const AT_ONCE: usize = 32;

/// The secrets of a session as of an entry.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// The entry that last changed which secrets there are.
    pub(crate) changed: Seq,
    /// The key with which they are sealed; `None` before the first secret.
    pub(crate) key: Option<DataKey>,
    /// Finds all of them.
    pub(crate) mask: Arc<Mask>,
    secrets: BTreeMap<Hash, Arc<Secret>>,
}

/// The secrets in one value of a variable.
pub(crate) struct Secret {
    /// The name of the variable.
    pub(crate) name: Arc<str>,
    /// The JSON of an object: each secret by its JSON pointer in the value.
    pub(crate) json: Zeroizing<String>,
    /// What is looked for.
    hidden: Vec<Arc<Hidden>>,
}

impl Secret {
    /// These secrets of the variable `name`.
    pub(crate) fn new(name: Arc<str>, by_pointer: &BTreeMap<String, Value>) -> Self {
        let json = Zeroizing::new(serde_json::to_string(by_pointer).unwrap_or_default());
        let mut hidden = Vec::new();
        for (pointer, value) in by_pointer {
            let shown: Arc<str> = shown_name(&name, pointer).into();
            for value in leaves(value) {
                hidden.push(Arc::new(Hidden { name: shown.clone(), value }));
            }
        }
        Self { name, json, hidden }
    }

    fn read(name: Arc<str>, json: &str) -> Option<Self> {
        let by_pointer: BTreeMap<String, Value> = serde_json::from_str(json).ok()?;
        let secret = Self::new(name, &by_pointer);
        by_pointer.into_values().for_each(wipe);
        Some(secret)
    }

    /// What is looked for.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = &Arc<Hidden>> {
        self.hidden.iter()
    }

    /// Its secrets by their JSON pointers in the value.
    pub(crate) fn by_pointer(&self) -> BTreeMap<String, Value> {
        serde_json::from_str(&self.json).unwrap_or_default()
    }
}

/// The texts and numbers in a secret, each of which is one.
fn leaves(value: &Value) -> Vec<Zeroizing<String>> {
    match value {
        Value::String(text) => vec![Zeroizing::new(text.trim().to_owned())],
        Value::Number(number) => vec![Zeroizing::new(number.to_string())],
        Value::Array(all) => all.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// Overwrites the texts of a value.
pub(crate) fn wipe(value: Value) {
    match value {
        Value::String(text) => drop(Zeroizing::new(text)),
        Value::Array(all) => all.into_iter().for_each(wipe),
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| wipe(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Known {
    /// The same after a decision that made `secrets` what they are, with what its input brought.
    pub(crate) fn after(&self, secrets: &Secrets, brought: &Brought) -> Self {
        let mut known = self.clone();
        known.changed = secrets.changed;
        known.key = brought.key.clone().or(known.key);
        let is_there = |hash: &Hash| secrets.iter().any(|(_, there)| there == *hash);
        let new = brought.secrets.iter().filter(|(hash, _)| is_there(hash));
        known.take(secrets, new.map(|(hash, secret)| (*hash, secret.clone())).collect());
        known
    }

    /// Takes new secrets in, and forgets those that are not among `secrets` any more.
    fn take(&mut self, secrets: &Secrets, new: Vec<(Hash, Arc<Secret>)>) {
        let there: BTreeSet<_> = secrets.iter().map(|(_, hash)| hash).collect();
        let before = self.secrets.len();
        self.secrets.retain(|hash, _| there.contains(hash));
        let forgot = self.secrets.len() < before;
        let hidden: Vec<_> = new.iter().flat_map(|(_, secret)| secret.hidden.iter().cloned()).collect();
        self.secrets.extend(new);
        self.mask = if forgot { self.mask_without(|_| false) } else { Arc::new(self.mask.with(hidden)) };
    }

    /// A mask of all secrets but those of variables that `is_left_out`.
    pub(crate) fn mask_without(&self, is_left_out: impl Fn(&str) -> bool) -> Arc<Mask> {
        let kept = self.secrets.values().filter(|secret| !is_left_out(&secret.name));
        Arc::new(Mask::default().with(kept.flat_map(|secret| secret.hidden.iter().cloned())))
    }

    /// The secrets that are sealed as `hash`.
    pub(crate) fn secret(&self, hash: &Hash) -> Option<&Arc<Secret>> {
        self.secrets.get(hash)
    }

    /// The newest secrets of the variable `name`, and as what they are sealed.
    pub(crate) fn newest(&self, secrets: &Secrets, name: &str) -> Option<(Hash, &Arc<Secret>)> {
        let hash = secrets.newest(name)?;
        Some((hash, self.secrets.get(&hash)?))
    }
}

/// What the input of a command brought.
#[derive(Clone, Default)]
pub(crate) struct Brought {
    /// The key that it was sealed with.
    pub(crate) key: Option<DataKey>,
    /// The secrets by the hashes of their sealed values.
    pub(crate) secrets: BTreeMap<Hash, Arc<Secret>>,
}

impl Live {
    /// What is known of the secrets that there are in `state`.
    pub(crate) async fn known_secrets(&self, state: &State) -> Result<Arc<Known>, Error> {
        let before = self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if before.changed == state.secrets.changed {
            return Ok(before);
        }
        let known = Arc::new(self.read_secrets(&before, &state.secrets).await?);
        self.note_secrets(&known);
        Ok(known)
    }

    /// Keeps what is known from now on, unless more is known already.
    pub(crate) fn note_secrets(&self, known: &Arc<Known>) {
        let mut kept = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.changed < known.changed {
            *kept = known.clone();
        }
    }

    async fn read_secrets(&self, before: &Known, secrets: &Secrets) -> Result<Known, Error> {
        let mut known = Known { changed: secrets.changed, ..before.clone() };
        known.key = match &secrets.key {
            Some(key) => self.open_key(key, secrets.is_empty()).await?,
            None => None,
        };
        let Some(key) = known.key.clone() else {
            // An import has neither the key nor the values: there is nothing to be masked.
            return Ok(Known { changed: secrets.changed, ..Known::default() });
        };
        let new = secrets.iter().filter(|(_, hash)| before.secret(hash).is_none());
        let new: Vec<(Arc<str>, Hash)> = new.map(|(name, hash)| (name.clone(), hash)).collect();
        let mut read = Vec::with_capacity(new.len());
        for some in new.chunks(AT_ONCE) {
            let reads: Vec<_> = some.iter().map(|(_, hash)| self.store.value(&self.id, *hash)).collect();
            read.extend(try_join_all(reads).await?);
        }
        let mut found = Vec::new();
        for ((name, hash), sealed) in new.into_iter().zip(read) {
            let Some(sealed) = sealed else { continue };
            let json = key.unseal(&sealed, &name);
            let secret = json.and_then(|json| Secret::read(name.clone(), &json));
            let secret = secret.ok_or_else(|| self.sealed(&format!("the sealed value of {name} is damaged")))?;
            found.push((hash, Arc::new(secret)));
        }
        known.take(secrets, found);
        Ok(known)
    }

    /// The data key. There is none where it was not imported, and none that is missed where nothing is sealed with it.
    async fn open_key(&self, key: &WrappedKey, nothing_sealed: bool) -> Result<Option<DataKey>, Error> {
        let Some(wrapped) = self.store.value(&self.id, key.sha256).await? else { return Ok(None) };
        let masters = self.settings.master_keys.keys();
        match masters.and_then(|masters| DataKey::unwrap(&wrapped, &masters, &key.made_for)) {
            Ok(key) => Ok(Some(key)),
            Err(_) if nothing_sealed => Ok(None),
            Err(problem) => Err(self.sealed(&problem)),
        }
    }

    /// The fingerprint of a request, with its hash under the key of the session's secrets.
    pub(crate) async fn keyed(&self, fingerprint: Fingerprint) -> Result<Fingerprint, Error> {
        let keyed = match self.known_secrets(&*self.known()?).await {
            Ok(known) => known.key.as_ref().map(|key| key.keyed(fingerprint.plain)),
            Err(error) if error.is_sealed() => None,
            Err(error) => return Err(error),
        };
        Ok(Fingerprint { keyed, ..fingerprint })
    }

    /// A new key for the session, and how it is stored.
    pub(crate) fn make_key(&self) -> Result<(DataKey, WrappedKey, StoredValue), Error> {
        let masters = self.settings.master_keys.keys_or_make().map_err(|problem| self.sealed(&problem))?;
        let no_key = || self.sealed("there is no master key");
        let master = masters.first().ok_or_else(no_key)?;
        let no_randomness = || self.sealed("this machine has no randomness for a key");
        let key = DataKey::random(self.id.clone()).ok_or_else(no_randomness)?;
        let wrapped = key.wrap(master).ok_or_else(no_randomness)?;
        let sha256 = Hash::of(wrapped.as_bytes());
        Ok((key, WrappedKey { sha256, made_for: self.id.clone() }, (sha256, wrapped.into())))
    }

    /// The error that secrets cannot be opened or sealed.
    pub(crate) fn sealed(&self, problem: &str) -> Error {
        Refusal::Sealed {
            what: format!("the secrets of the session {} are sealed: {problem}", self.id),
            hint: "give the master key, or clear the secret variables as the user",
        }
        .into()
    }
}
