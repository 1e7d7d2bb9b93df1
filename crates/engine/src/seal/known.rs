//! What a session in memory knows of its secrets. It is read when it is needed first, and goes with the session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    conversation::call_secrets::{secret_looking, value_of},
    entry::Hash,
    exact::text_bytes,
    id::{Seq, is_of_call},
    secret::Secrets,
};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, value::RawValue};
use zeroize::Zeroizing;

use crate::seal::{
    keys::DataKey,
    layer::{Hidden, TooMany},
    mask::is_looked_for,
    masks::Masks,
};

/// How many values of the arguments or of the result of one call are looked for at most. All that a session holds are looked for in
/// each text, and a tool may give a list with a `token` in each line: the others are hidden in their places alone.
const MOST_OF_CALL: usize = 1_000;

/// The secrets of a session as of an entry.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// The entry that last changed which secrets there are.
    pub(crate) changed: Seq,
    /// The key with which they are sealed; `None` before the first secret.
    pub(crate) key: Option<DataKey>,
    /// Finds all of them.
    pub(crate) masks: Masks,
    pub(crate) secrets: BTreeMap<Hash, Arc<KnownSecret>>,
}

/// The secrets in one value of a variable.
pub(crate) struct KnownSecret {
    /// The name of the variable.
    pub(crate) name: Arc<str>,
    /// The JSON of an object: each secret by its JSON pointer in the value.
    pub(crate) json: Zeroizing<String>,
    /// What is looked for.
    pub(crate) hidden: Vec<Arc<Hidden>>,
    /// Whether that is all of it.
    pub(crate) is_looked_for: bool,
}

impl KnownSecret {
    /// The secrets of the variable `name` that are in this JSON of an object.
    pub(crate) fn new(name: Arc<str>, json: Zeroizing<String>) -> Self {
        let leaves = leaves(&json);
        let count = leaves.len();
        let leaves = leaves.into_iter().filter_map(|text| match is_of_call(&name) {
            true => secret_looking(&text).map(|secret| Zeroizing::new(secret.to_owned())),
            false => Some(text),
        });
        let most = if is_of_call(&name) { MOST_OF_CALL } else { usize::MAX };
        let hidden: Vec<_> = leaves.filter(|text| is_looked_for(text)).take(most).map(Arc::new).collect();
        let is_looked_for = hidden.len() == count;
        Self { name, json, hidden, is_looked_for }
    }

    pub(crate) fn read(name: Arc<str>, json: Zeroizing<String>) -> Option<Self> {
        let is_object = serde_json::from_str::<BTreeMap<String, &RawValue>>(&json).is_ok();
        is_object.then(|| Self::new(name, json))
    }

    /// Its secrets by their JSON pointers in the value.
    pub(crate) fn by_pointer(&self) -> BTreeMap<String, Value> {
        self.read_as::<&RawValue>().into_iter().map(|(pointer, json)| (pointer, value_of(json.get()))).collect()
    }

    /// The same as they are written.
    pub(crate) fn written(&self) -> BTreeMap<String, Box<RawValue>> {
        self.read_as()
    }

    #[expect(clippy::expect_used, reason = "a secret that is not known is not hidden")]
    fn read_as<'a, T: Deserialize<'a>>(&'a self) -> BTreeMap<String, T> {
        serde_json::from_str(&self.json).expect("it was written from such a map")
    }
}

/// Secrets by their JSON pointers as the JSON of an object.
#[expect(clippy::expect_used, reason = "a secret that is not known is not hidden")]
pub(crate) fn json_of(by_pointer: &BTreeMap<String, impl Serialize>) -> Zeroizing<String> {
    Zeroizing::new(serde_json::to_string(by_pointer).expect("a map of JSON values by texts is JSON"))
}

/// The texts and numbers in the JSON of secrets, each of which is one; keys are none. A number is there as it is written, and as
/// others would write it.
fn leaves(json: &str) -> Vec<Zeroizing<String>> {
    let (mut leaves, mut at) = (Vec::new(), 0_usize);
    while let Some(rest) = json.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let begin = at;
        match rest.first() {
            Some(b'"') => {
                at += text_bytes(rest);
                let is_key = json.get(at..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                if !is_key {
                    let written = json.get(begin..at).unwrap_or_default();
                    // What is no text of Rust, such as half of a pair of UTF-16, is looked for as it is written.
                    let text = serde_json::from_str(written).unwrap_or_else(|_| written.trim_matches('"').to_owned());
                    let text = Zeroizing::new(text);
                    leaves.push(Zeroizing::new(text.trim().to_owned()));
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let is_number = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                at += rest.iter().take_while(is_number).count();
                let written = json.get(begin..at).unwrap_or_default();
                let other = serde_json::from_str::<Number>(written).map(|number| number.to_string());
                let other = other.ok().filter(|other| other != written);
                leaves.extend([written.to_owned()].into_iter().chain(other).map(Zeroizing::new));
            }
            _ => at += 1,
        }
    }
    leaves
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

impl Masks {
    /// Masks that hide these secrets too.
    pub(crate) fn with_secrets<'a>(
        &self,
        secrets: impl Iterator<Item = &'a Arc<KnownSecret>>,
    ) -> Result<Self, TooMany> {
        let (calls, others): (Vec<_>, Vec<_>) = secrets.partition(|secret| is_of_call(&secret.name));
        let hidden =
            |secrets: Vec<&'a Arc<KnownSecret>>| secrets.into_iter().flat_map(|secret| secret.hidden.iter().cloned());
        self.with(hidden(others), hidden(calls))
    }
}

impl Known {
    /// The same after a decision that made `secrets` what they are, with what its input brought.
    pub(crate) fn after(&self, secrets: &Secrets, brought: &Brought) -> Result<Self, TooMany> {
        let mut known = self.clone();
        known.changed = secrets.changed;
        known.key = brought.key.clone().or(known.key);
        let there: BTreeSet<_> = secrets.iter().map(|(_, hash)| hash).collect();
        let new = brought.secrets.iter().filter(|(hash, _)| there.contains(*hash));
        known.take(secrets, new.map(|(hash, secret)| (*hash, secret.clone())).collect())?;
        Ok(known)
    }

    /// Takes new secrets in, and forgets those that are not among `secrets` any more.
    pub(crate) fn take(&mut self, secrets: &Secrets, new: Vec<(Hash, Arc<KnownSecret>)>) -> Result<(), TooMany> {
        let there: BTreeSet<_> = secrets.iter().map(|(_, hash)| hash).collect();
        let before = self.secrets.len();
        self.secrets.retain(|hash, _| there.contains(hash));
        let forgot = self.secrets.len() < before;
        if !forgot {
            self.masks = self.masks.with_secrets(new.iter().map(|(_, secret)| secret))?;
        }
        self.secrets.extend(new);
        if forgot {
            self.masks = self.masks_without(|_| false)?;
        }
        Ok(())
    }

    /// Masks of all secrets but those of variables that `is_left_out`.
    pub(crate) fn masks_without(&self, is_left_out: impl Fn(&str) -> bool) -> Result<Masks, TooMany> {
        Masks::default().with_secrets(self.secrets.values().filter(|secret| !is_left_out(&secret.name)))
    }

    /// As what these very secrets of a variable are sealed already.
    pub(crate) fn sealed_as(&self, secrets: &Secrets, secret: &KnownSecret) -> Option<Hash> {
        let is_same = |hash: &&Hash| self.secrets.get(*hash).is_some_and(|known| known.json == secret.json);
        secrets.of(&secret.name).iter().find(is_same).copied()
    }

    /// Under which name these very secrets of a call are sealed already: `name`, or that with a number behind it.
    pub(crate) fn name_in_call(&self, name: &str, json: &str) -> Option<Arc<str>> {
        let is_number =
            |rest: &str| rest.is_empty() || rest.strip_prefix(' ').is_some_and(|rest| rest.parse::<usize>().is_ok());
        let is_same = |secret: &&Arc<KnownSecret>| {
            secret.name.strip_prefix(name).is_some_and(is_number) && **secret.json == *json
        };
        Some(self.secrets.values().find(is_same)?.name.clone())
    }

    /// The newest secrets of the variable `name`, and as what they are sealed.
    pub(crate) fn newest(&self, secrets: &Secrets, name: &str) -> Option<(Hash, &Arc<KnownSecret>)> {
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
    pub(crate) secrets: BTreeMap<Hash, Arc<KnownSecret>>,
}

impl Brought {
    /// The values that are to be looked for in what was said before: those for which `masks` look, and for which nobody looked
    /// `before`. They are in the order of their texts, since the hashes differ each time that a command is decided.
    pub(crate) fn wanted(&self, before: &Masks, masks: &Masks) -> Vec<Arc<Hidden>> {
        let hidden = self.secrets.values().flat_map(|secret| &secret.hidden);
        let is_new = |value: &&Arc<Hidden>| masks.all.has(value) && !before.all.has(value);
        let wanted = hidden.filter(is_new).map(|value| (value.as_str(), value));
        wanted.collect::<BTreeMap<_, _>>().into_values().cloned().collect()
    }
}
