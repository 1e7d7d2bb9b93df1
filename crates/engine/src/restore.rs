//! Restoring: what was hidden because of a secret that is to be none, as it was.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    entry::{Actor, Entry, Hash},
    error::{ConflictKind, Error as Refusal},
    event::EventType,
    id::{Seq, VariableName},
    rewriting::rewritten,
    sealed::Rewritten,
    secret::{RestoreSecret, RestoredSecret},
    text::Values,
};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    journal::{PAGE, damaged},
    live::job::Receipt,
    seal::{
        keys::DataKey,
        known::Known,
        mask::Mask,
        originals::{Original, name_of, originals},
        rewrite::hide,
    },
    session::Session,
    texts,
};

impl Session {
    /// What makes the secret variable `name` one that is none, and puts its value back where it was hidden. What another secret is
    /// hidden in stays hidden there; where that secret is not known any more, the whole entry stays as it is.
    pub async fn restoring(&self, name: &VariableName, reason: &str) -> Result<RestoreSecret, Error> {
        let state = self.state().await?;
        let is_secret = state.variables.get(name).is_some_and(|variable| variable.secret);
        if !is_secret {
            return Err(Refusal::not_found("secret variable", name).into());
        }
        let known = self.live.known_secrets(&state).await?;
        if let Some(other) = known.other_with_value_of(name.as_str()) {
            return Err(Refusal::Conflict {
                kind: ConflictKind::ValueIsSecret,
                what: format!("the secret {other} has the same value as {name}"),
                hint: "restore or clear that one first",
            }
            .into());
        }
        let value = self.value_with_secrets(&state, name).await?;
        let rest = known.mask_without(|other| *other == *name.as_str());
        let mask = rest.map_err(|problem| self.live.sealer().sealed(&problem.to_string()))?;
        let mut restoring = Restoring { entries: Vec::new(), values: Values::new(), unneeded: BTreeSet::new() };
        let originals = originals(&*self.live.store, self.id(), state.head.seq).await?;
        let wanted = originals.0.into_iter().filter_map(|(seq, text)| Some((seq, text.open_without(name, &state)?)));
        let wanted: BTreeMap<Seq, Hash> = wanted.collect();
        let seqs: Vec<Seq> = wanted.keys().copied().collect();
        for seqs in seqs.chunks(PAGE) {
            for entry in self.live.store.read_each(self.id(), seqs).await? {
                let sealed = wanted.get(&entry.header.seq).copied();
                let original = match (sealed, &known.key) {
                    (Some(sealed), Some(key)) => self.original(&entry, sealed, key).await?,
                    _ => None,
                };
                if let Some(original) = original {
                    restoring.take(&entry, original, &mask)?;
                }
            }
        }
        Ok(RestoreSecret {
            name: name.clone(),
            value,
            reason: reason.into(),
            secrets: state.secrets.changed,
            entries: restoring.entries.into(),
            values: restoring.values.into(),
            unneeded: restoring.unneeded.into(),
        })
    }

    /// Restores a secret, and says in which entries.
    pub async fn restore(
        &self,
        by: impl Into<Actor>,
        name: &VariableName,
        reason: &str,
    ) -> Result<Receipt<RestoredSecret>, Error> {
        self.execute(by, self.restoring(name, reason).await?).await
    }

    /// An entry as it was; `None` where that is not there, as in an import.
    async fn original(&self, entry: &Entry, sealed: Hash, key: &DataKey) -> Result<Option<Original>, Error> {
        let Some(sealed) = self.live.store.value(self.id(), sealed).await? else { return Ok(None) };
        let seq = entry.header.seq;
        let unreadable = || self.live.sealer().sealed(&format!("what was sealed of entry {seq} is damaged"));
        let text: Zeroizing<String> = key.unseal(&sealed, &name_of(seq)).ok_or_else(unreadable)?;
        Ok(Some(serde_json::from_str(&text).map_err(|_| unreadable())?))
    }
}

/// The entries that are restored.
struct Restoring {
    entries: Vec<(Rewritten, Hash)>,
    values: Values,
    unneeded: BTreeSet<Hash>,
}

impl Restoring {
    fn take(&mut self, entry: &Entry, original: Original, mask: &Mask) -> Result<(), Error> {
        let Some(kind) = EventType::named(&entry.header.kind) else { return Ok(()) };
        let mut data: Value = serde_json::from_str(&original.data).map_err(|error| damaged(entry, &error))?;
        hide(mask, kind, &mut data, &original.texts, &mut self.values);
        let now: BTreeSet<Hash> = kind.long_texts(&data).into_iter().collect();
        self.values.extend(original.texts.into_iter().filter(|(hash, _)| now.contains(hash)));
        self.unneeded.extend(texts::long_texts(entry).into_iter().filter(|hash| !now.contains(hash)));
        self.entries.push((rewritten(entry, data, None), Hash::of(entry.data.as_bytes())));
        Ok(())
    }
}

impl Known {
    /// The variable that has a value of the variable `name` too, if there is one.
    fn other_with_value_of(&self, name: &str) -> Option<Arc<str>> {
        let (own, others): (Vec<_>, Vec<_>) = self.secrets.values().partition(|secret| *secret.name == *name);
        let is_own = |value| own.iter().any(|secret| secret.hidden().any(|own| own == value));
        Some(others.into_iter().find(|other| other.hidden().any(is_own))?.name.clone())
    }
}
