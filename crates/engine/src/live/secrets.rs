//! What a live session does with its secrets: it reads them when it needs them, and keeps them as long as it lives.

use std::sync::Arc;

use callboard_core::{entry::Hash, input::Fingerprint, sealed::WrappedKey, secret::Secrets, state::State};
use futures::future::try_join_all;

use crate::{
    error::Error,
    live::session::Live,
    lock::lock,
    seal::{
        keys::DataKey,
        known::{Known, KnownSecret},
        sealer::Sealer,
    },
};

/// How many sealed values are read at once.
const AT_ONCE: usize = 32;

impl Live {
    /// What seals for this session.
    pub(crate) fn sealer(&self) -> Sealer {
        Sealer { session: self.id.clone(), master: None }
    }

    /// What is known of the secrets that there are in `state`.
    pub(crate) async fn known_secrets(&self, state: &State) -> Result<Arc<Known>, Error> {
        let before = lock(&self.secrets).clone();
        if before.changed == state.secrets.changed {
            return Ok(before);
        }
        let known = Arc::new(self.read_secrets(&before, &state.secrets).await?);
        self.note_secrets(&known);
        Ok(known)
    }

    /// Keeps what is known from now on, unless more is known already.
    pub(crate) fn note_secrets(&self, known: &Arc<Known>) {
        let mut kept = lock(&self.secrets);
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
        let new = secrets.iter().filter(|(_, hash)| !before.secrets.contains_key(hash));
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
            let secret = json.and_then(|json| KnownSecret::read(name.clone(), json));
            let secret =
                secret.ok_or_else(|| self.sealer().sealed(&format!("the sealed value of {name} is damaged")))?;
            found.push((hash, Arc::new(secret)));
        }
        known.take(secrets, found).map_err(|problem| self.sealer().sealed(&problem.to_string()))?;
        Ok(known)
    }

    /// The data key. There is none where it was not imported, and none that is missed where nothing is sealed with it.
    async fn open_key(&self, key: &WrappedKey, nothing_sealed: bool) -> Result<Option<DataKey>, Error> {
        let Some(wrapped) = self.store.value(&self.id, key.sha256).await? else { return Ok(None) };
        let masters = self.settings.master_keys.keys();
        match masters.and_then(|masters| DataKey::unwrap(&wrapped, &masters, &key.made_for)) {
            Ok(key) => Ok(Some(key)),
            Err(_) if nothing_sealed => Ok(None),
            Err(problem) => Err(self.sealer().sealed(&problem)),
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
}
