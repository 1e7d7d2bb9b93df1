//! Restoring: what was hidden because of a secret that is to be none, as it was.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    conversation::{
        call_secrets::{CONTENT, CallSecrets, fill, put_back},
        facts::MessageAdded,
    },
    entry::{Actor, Entry, Hash},
    error::{ConflictKind, Error as Refusal},
    event::EventType,
    fact::{self, Fact as _},
    id::{Seq, VariableName, is_of_call},
    rewriting::rewritten,
    sealed::Rewritten,
    secret::{RestoreSecret, RestoredSecret},
    state::State,
    text::{Text, Values},
};
use serde::Deserialize as _;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    journal::{PAGE, Pages, damaged},
    live::job::Receipt,
    seal::{
        keys::DataKey,
        known::{Known, KnownSecret},
        layer::Hidden,
        mask::Mask,
        originals::{Original, name_of, originals},
        rewrite::hide,
    },
    secrets::secret_gone,
    session::Session,
    texts,
};

impl Session {
    /// What makes the secret `name` one that is none, and puts its value back where it was hidden: a variable, or what the secrets
    /// in a call are called. What another secret is hidden in stays hidden there; where that secret is not known any more, the whole
    /// entry stays as it is.
    pub async fn restoring(&self, name: &VariableName, reason: &str) -> Result<RestoreSecret, Error> {
        let state = self.state().await?;
        let is_secret = state.variables.get(name).is_some_and(|variable| variable.secret);
        let is_in_call = is_of_call(name.as_str()) && state.secrets.newest(name.as_str()).is_some();
        if !is_secret && !is_in_call {
            return Err(Refusal::not_found("secret variable", name).into());
        }
        let known = self.live.known_secrets(&state).await?;
        if !is_secret && known.newest(&state.secrets, name.as_str()).is_none() {
            return Err(secret_gone(name));
        }
        let names = known.with_same_values(name.as_str());
        if let Some(other) = known.other_with_value_of(&names) {
            let what = format!("the secret {other} has the same value as {name}");
            return Err(Refusal::conflict(ConflictKind::ValueIsSecret, what, "restore or clear that one first").into());
        }
        let value = if is_secret { Some(self.value_with_secrets(&state, name).await?) } else { None };
        let rest = known.masks_without(|other| names.contains(other));
        let masks = rest.map_err(|problem| self.live.sealer().sealed(&problem.to_string()))?;
        let mut restoring = Restoring { entries: Vec::new(), values: Values::new(), unneeded: BTreeSet::new() };
        let originals = originals(&*self.live.store, self.id(), state.head.seq).await?;
        let wanted = originals.0.into_iter().filter_map(|(seq, text)| Some((seq, text.open_without(&names, &state)?)));
        let wanted: BTreeMap<Seq, Hash> = wanted.collect();
        let mut calls = self.calls_with(&names, state.head.seq).await?;
        let seqs: BTreeSet<Seq> = wanted.keys().chain(calls.keys()).copied().collect();
        let seqs: Vec<Seq> = seqs.into_iter().collect();
        for seqs in seqs.chunks(PAGE) {
            for entry in self.live.store.read_each(self.id(), seqs).await? {
                let sealed = wanted.get(&entry.header.seq).copied();
                let original = match (sealed, &known.key) {
                    (Some(sealed), Some(key)) => self.original(&entry, sealed, key).await?,
                    _ => None,
                };
                let calls = calls.remove(&entry.header.seq).unwrap_or_default();
                let (mut original, was_rewritten) = match original {
                    Some(mut original) => {
                        if *entry.header.kind == *MessageAdded::TYPE {
                            original.take_over(&entry, &self.as_it_is(&entry).await?, &state)?;
                        }
                        (original, true)
                    }
                    None if calls.is_empty() => continue,
                    None => (self.as_it_is(&entry).await?, false),
                };
                if original.put_back(&entry, &calls, &known)? || was_rewritten {
                    restoring.take(&entry, original, &masks.all)?;
                }
            }
        }
        Ok(RestoreSecret {
            name: name.clone(),
            value,
            also: names.into_iter().filter(|other| **other != *name.as_str()).collect(),
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

    /// The messages out of whose calls secrets with these names were taken.
    async fn calls_with(
        &self,
        names: &BTreeSet<Arc<str>>,
        head: Seq,
    ) -> Result<BTreeMap<Seq, Vec<CallSecrets>>, Error> {
        let mut found = BTreeMap::new();
        if !names.iter().any(|name| is_of_call(name)) {
            return Ok(found);
        }
        let types = vec![MessageAdded::TYPE.into()];
        let mut pages = Pages::of(&*self.live.store, self.id(), Seq::ZERO, head, types);
        while let Some(page) = pages.next().await? {
            for entry in page.iter().filter(|entry| entry.data.contains("\"secrets\"")) {
                let MessageAdded(message) = fact::read(entry)?;
                let meant = message.secrets.into_iter().filter(|secrets| names.contains(&secrets.name));
                let meant: Vec<_> = meant.collect();
                if !meant.is_empty() {
                    found.insert(entry.header.seq, meant);
                }
            }
        }
        Ok(found)
    }

    /// An entry as it is.
    async fn as_it_is(&self, entry: &Entry) -> Result<Original, Error> {
        let texts = texts::there(&*self.live.store, self.id(), texts::long_texts(entry)).await?;
        Ok(Original { data: entry.json().into_owned(), texts })
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

impl Original {
    /// Takes over what was put back in the calls of a message since it was sealed: only the message as it is `now` has it.
    fn take_over(&mut self, entry: &Entry, now: &Self, state: &State) -> Result<(), Error> {
        let MessageAdded(message) = fact::read(entry)?;
        let read = |data: &str| serde_json::from_str::<Value>(data).map_err(|error| damaged(entry, &error));
        let (mut data, data_now) = (read(&self.data)?, read(&now.data)?);
        for CallSecrets { name, at, sha256 } in &message.secrets {
            if state.secrets.of(name).contains(sha256) {
                continue;
            }
            let (Some(place), Some(place_now)) = (data.pointer_mut(at), data_now.pointer(at)) else { continue };
            let whole_now = match content_at(at, place_now) {
                Some(content) => {
                    let Ok(whole) = content.whole(&now.texts) else { continue };
                    Value::from(&**whole)
                }
                None => place_now.clone(),
            };
            change(entry, at, place, &mut self.texts, |json| fill(json, &whole_now))?;
        }
        self.data = data.to_string();
        Ok(())
    }

    /// Puts secrets back that were taken out of the calls of a message. Says whether there were any: of an erased message nothing
    /// is put back.
    fn put_back(&mut self, entry: &Entry, calls: &[CallSecrets], known: &Known) -> Result<bool, Error> {
        if calls.is_empty() {
            return Ok(false);
        }
        let mut data: Value = serde_json::from_str(&self.data).map_err(|error| damaged(entry, &error))?;
        for CallSecrets { at, sha256, .. } in calls {
            let (Some(place), Some(secret)) = (data.pointer_mut(at), known.secrets.get(sha256)) else { continue };
            change(entry, at, place, &mut self.texts, |json| put_back(json, &secret.written()))?;
        }
        let before = std::mem::replace(&mut self.data, data.to_string());
        Ok(self.data != before)
    }
}

/// The content of a message, if it stands at this place and is a text.
fn content_at(at: &str, place: &Value) -> Option<Text> {
    if *at == *CONTENT { Text::deserialize(place).ok() } else { None }
}

/// Changes the JSON of a call at its place in a message. A long text that is not there any more was erased, and stays so.
fn change(
    entry: &Entry,
    at: &str,
    place: &mut Value,
    texts: &mut Values,
    change: impl FnOnce(&mut Value),
) -> Result<(), Error> {
    let Some(content) = content_at(at, place) else {
        change(place);
        return Ok(());
    };
    let Ok(whole) = content.whole(texts) else { return Ok(()) };
    let mut whole = Value::from(&**whole);
    change(&mut whole);
    let whole: Arc<str> = whole.as_str().unwrap_or_default().into();
    let kept = Text::keep(&whole, "the message", texts)?;
    *place = serde_json::to_value(kept).map_err(|error| damaged(entry, &error))?;
    Ok(())
}

impl Known {
    /// The secret `name`, and those in calls that have no other values than it.
    fn with_same_values(&self, name: &str) -> BTreeSet<Arc<str>> {
        let own: Vec<_> = self.secrets.values().filter(|secret| *secret.name == *name).collect();
        let is_own = |value: &Arc<Hidden>| own.iter().any(|secret| secret.hidden.contains(value));
        let is_same = |secret: &KnownSecret| {
            secret.is_looked_for && !secret.hidden.is_empty() && secret.hidden.iter().all(is_own)
        };
        let differ = self.secrets.values().filter(|secret| !is_same(secret));
        let differ: BTreeSet<_> = differ.map(|secret| &secret.name).collect();
        let same = self.secrets.values().filter(|secret| is_of_call(&secret.name) && !differ.contains(&secret.name));
        same.map(|secret| secret.name.clone()).chain([name.into()]).collect()
    }

    /// The secret that has a value of one of the secrets `names` too, if there is one. What is not looked for is hidden in its
    /// own place alone.
    fn other_with_value_of(&self, names: &BTreeSet<Arc<str>>) -> Option<Arc<str>> {
        let (own, others): (Vec<_>, Vec<_>) = self.secrets.values().partition(|secret| names.contains(&secret.name));
        let is_own = |value: &Arc<Hidden>| own.iter().any(|secret| secret.hidden.contains(value));
        Some(others.into_iter().find(|other| other.hidden.iter().any(is_own))?.name.clone())
    }
}
