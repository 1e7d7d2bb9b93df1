//! Masking the input of a command: what is secret in it is sealed, and known secrets are hidden in all of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use callboard_core::{
    api_words::API_WORDS,
    command::Command,
    entry::{Actor, Hash},
    error::{Error as Refusal, Fault},
    input::{CallPart, Fingerprint, FreeText, HideSecrets, InputVisitor},
    json::pointer_token,
    sealed::SealedInput,
    state::State,
    variable,
};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    seal::{
        keys::DataKey,
        known::{Brought, Known, KnownSecret, json_of, wipe},
        mask::Mask,
        masks::Masks,
        sealer::{Sealer, Unmasked},
    },
};

/// What stands in the place of a text that could not be searched for secrets.
const UNSEARCHED: &str = "[left out: it could not be searched for secrets]";

/// What is wrong with a name.
const HOLDS_SECRET: &str = "it holds the value of a secret: use another name";

/// Refuses a name that holds a secret. `pointer` says where it was given.
pub(crate) fn check_name(mask: &Mask, pointer: &str, name: &str) -> Result<(), Refusal> {
    if mask.finds(name) { Err(Refusal::invalid(pointer, HOLDS_SECRET)) } else { Ok(()) }
}

/// A command whose input was masked.
pub(crate) struct Masked<C> {
    pub(crate) command: C,
    pub(crate) sealed: SealedInput,
    pub(crate) brought: Brought,
    /// Finds all that is secret by then.
    pub(crate) masks: Masks,
    /// Keys in it that are names and hold what was found in calls.
    kept: BTreeSet<String>,
}

impl<C: Command> HideSecrets for Masked<C> {
    fn hide(&self, key: &str, value: &mut Value) -> bool {
        self.masks.all.mask_under(&self.kept, key, value)
    }
}

impl Sealer {
    /// Masks the input of a command for what is `known` in `state`. `None` where there is nothing to be masked: the command
    /// is as it was then, and nothing was copied.
    pub(crate) fn masked<C: Command>(
        &self,
        command: &mut C,
        by: &Actor,
        state: &State,
        known: &Result<Arc<Known>, Error>,
    ) -> Result<Option<Masked<C>>, Unmasked> {
        let mut probe = Probe::default();
        command.input(&mut probe);
        let known = match known {
            Ok(known) if known.key.is_none() && !probe.has_variables && !probe.has_call_secrets => return Ok(None),
            Ok(known) => known,
            Err(_) if !probe.has_words => return Ok(None),
            Err(error) if C::NEEDS_WORDS => return Err(error.clone().into()),
            Err(_) => {
                let mut command = command.clone();
                command.input(&mut Redaction);
                let (sealed, brought, masks, kept) = Default::default();
                return Ok(Some(Masked { command, sealed, brought, masks, kept }));
            }
        };
        let seals_calls = probe.has_call_secrets && self.can_seal(known)?;
        if known.key.is_none() && !probe.has_variables && !seals_calls {
            return Ok(None);
        }
        let mut command = command.clone();
        let calls = seals_calls.then_some(&**known);
        let (found, in_calls, numbers, forgotten, refused) = Default::default();
        let mut splitting = Splitting { state, by, calls, found, in_calls, numbers, forgotten, refused };
        if probe.has_variables || seals_calls {
            command.input(&mut splitting);
        }
        let Splitting { found, in_calls, forgotten, refused, .. } = splitting;
        if let Some(refused) = refused {
            return Err(refused.into());
        }
        let found = found.into_iter().map(|(name, by_pointer)| {
            let json = json_of(&by_pointer);
            by_pointer.into_values().for_each(wipe);
            (name, json)
        });
        let (sealed, brought) = self.seal(found.chain(in_calls), state, known)?;
        let kept = match forgotten.is_empty() {
            true => Ok(known.masks.clone()),
            false => known.masks_without(|name| forgotten.contains(name)),
        };
        let masks = kept.and_then(|kept| kept.with_secrets(brought.secrets.values()));
        let masks = masks.map_err(|problem| self.sealed(&problem.to_string()))?;
        let key = brought.key.as_ref().or(known.key.as_ref());
        let mut masking = Masking { masks: &masks, key, kept: BTreeSet::new(), faults: Vec::new() };
        command.input(&mut masking);
        let Masking { kept, faults, .. } = masking;
        match faults {
            faults if faults.is_empty() => Ok(Some(Masked { command, sealed, brought, masks, kept })),
            faults => Err(Unmasked::Refused(Refusal::Invalid(faults).into())),
        }
    }

    /// Seals the secrets that were found. A value that is known already is not sealed again.
    fn seal(
        &self,
        found: impl Iterator<Item = (Arc<str>, Zeroizing<String>)>,
        state: &State,
        known: &Known,
    ) -> Result<(SealedInput, Brought), Unmasked> {
        let (mut sealed, mut brought) = (SealedInput::default(), Brought::default());
        for (name, json) in found {
            let secret = KnownSecret::new(name.clone(), json);
            if let Some(hash) = known.sealed_as(&state.secrets, &secret) {
                sealed.known.insert(name, hash);
                continue;
            }
            let key = match known.key.as_ref().or(brought.key.as_ref()) {
                Some(key) => key.clone(),
                None => {
                    let (key, wrapped, stored) = self.make_key()?;
                    sealed.new_key = Some((wrapped, stored.1));
                    brought.key.insert(key).clone()
                }
            };
            let no_randomness = || self.sealed("this machine has no randomness to seal with");
            let text: Arc<str> = key.seal(&secret.json, &name).ok_or_else(no_randomness)?.into();
            let hash = Hash::of(text.as_bytes());
            brought.secrets.insert(hash, Arc::new(secret));
            sealed.values.insert(name, (hash, text));
        }
        Ok((sealed, brought))
    }
}

/// Finds out what an input has.
#[derive(Default)]
struct Probe {
    has_words: bool,
    has_variables: bool,
    has_call_secrets: bool,
}

impl InputVisitor for Probe {
    fn text(&mut self, _: &mut dyn FreeText) {
        self.has_words = true;
    }

    fn json(&mut self, _: &mut Value) {
        self.has_words = true;
    }

    fn name(&mut self, _: fmt::Arguments<'_>, _: &str) {
        self.has_words = true;
    }

    fn variable(&mut self, _: &str, _: Option<bool>, _: &mut Value) {
        (self.has_words, self.has_variables) = (true, true);
    }

    fn call(&mut self, part: &mut dyn CallPart) -> Option<Arc<str>> {
        self.has_call_secrets = self.has_call_secrets || part.has_secrets();
        None
    }
}

/// Takes secrets out of the values of variables, and out of calls.
struct Splitting<'a> {
    state: &'a State,
    by: &'a Actor,
    /// What is known, also in the names of secrets in calls; `None` where nothing is taken out of calls.
    calls: Option<&'a Known>,
    /// The secrets by the names of their variables.
    found: BTreeMap<Arc<str>, BTreeMap<String, Value>>,
    /// The JSON of those that were found in calls, by what they are called.
    in_calls: BTreeMap<Arc<str>, Zeroizing<String>>,
    /// The number of the newest name of calls with one id, by the first of their names.
    numbers: BTreeMap<String, usize>,
    /// Variables of which the user says that they are not secret.
    forgotten: BTreeSet<Arc<str>>,
    /// Why a variable is refused: it has too many secrets.
    refused: Option<Refusal>,
}

impl InputVisitor for Splitting<'_> {
    fn text(&mut self, _: &mut dyn FreeText) {}

    fn json(&mut self, _: &mut Value) {}

    fn name(&mut self, _: fmt::Arguments<'_>, _: &str) {}

    fn variable(&mut self, name: &str, secret: Option<bool>, value: &mut Value) {
        // A name that is none is refused when the command is decided.
        let mark = name.parse().map_or(secret, |name| self.state.variables.mark(&name, secret));
        if secret == Some(false) && *self.by == Actor::User {
            self.forgotten.insert(name.into());
        }
        let secrets = match variable::split(name, value, mark) {
            Ok(secrets) => secrets,
            Err(refused) => {
                self.refused.get_or_insert(refused);
                return;
            }
        };
        if !secrets.is_empty() {
            let found = self.found.entry(name.into()).or_default();
            // What was brought for the same variable before is of the past at once, and a secret all the same.
            let past = std::mem::replace(found, secrets);
            let number = found.len();
            found.extend(past.into_iter().map(|(pointer, value)| (format!("past{number}{pointer}"), value)));
        }
    }

    fn call(&mut self, part: &mut dyn CallPart) -> Option<Arc<str>> {
        let known = self.calls?;
        let secrets = part.take_secrets();
        if secrets.is_empty() {
            return None;
        }
        let json = json_of(&secrets);
        secrets.into_values().for_each(|written| drop(Zeroizing::new(Box::<str>::from(written))));
        let name = part.name();
        let name = known.masks.names.mask(&name).unwrap_or(name);
        if let Some(name) = known.name_in_call(&name, &json) {
            self.in_calls.insert(name.clone(), json);
            return Some(name);
        }
        // Some models give several calls of a conversation the same id.
        let last = self.numbers.entry(name.clone()).or_insert(1);
        let of = |number: usize| if number == 1 { name.clone() } else { format!("{name} {number}") };
        let (found, state) = (&self.in_calls, self.state);
        let is_free = |name: &String| match found.get(name.as_str()) {
            Some(there) => *there == json,
            None => state.secrets.of(name).is_empty(),
        };
        let name = match [of(1), of(*last)].into_iter().find(is_free) {
            Some(name) => name,
            None => loop {
                *last += 1;
                let name = of(*last);
                if is_free(&name) {
                    break name;
                }
            },
        };
        let name: Arc<str> = name.into();
        self.in_calls.insert(name.clone(), json);
        Some(name)
    }
}

/// Hides known secrets.
struct Masking<'a> {
    masks: &'a Masks,
    key: Option<&'a DataKey>,
    /// See [`Masked::kept`].
    kept: BTreeSet<String>,
    faults: Vec<Fault>,
}

impl InputVisitor for Masking<'_> {
    fn text(&mut self, text: &mut dyn FreeText) {
        if let Some(masked) = self.masks.all.mask(text.as_str()) {
            text.replace(masked);
        }
    }

    fn json(&mut self, value: &mut Value) {
        self.masks.all.mask_under(&self.kept, "", value);
    }

    fn keys(&mut self, pointer: fmt::Arguments<'_>, value: &Value) {
        let names = &self.masks.names;
        let mut rest = vec![(pointer.to_string(), value)];
        while let Some((pointer, value)) = rest.pop() {
            match value {
                Value::Array(all) => {
                    let inner = all.iter().enumerate().filter(|(_, inner)| inner.is_object() || inner.is_array());
                    rest.extend(inner.map(|(at, inner)| (format!("{pointer}/{at}"), inner)).rev());
                }
                Value::Object(fields) => {
                    for (key, inner) in fields.iter().rev() {
                        // A fault shows no value.
                        let shown = if names.finds_in_key(key) { names.mask(key) } else { None };
                        let pointer = format!("{pointer}/{}", pointer_token(shown.as_deref().unwrap_or(key)));
                        if shown.is_some() {
                            self.faults.push(Fault { pointer: pointer.clone(), problem: HOLDS_SECRET.to_owned() });
                        } else if self.masks.all.finds_in_key(key) {
                            self.kept.insert(key.clone());
                        }
                        rest.push((pointer, inner));
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    fn answer(&mut self, text: &mut dyn FreeText) {
        if let Some(masked) = self.masks.all.mask_answer(text.as_str()) {
            text.replace(masked);
        }
    }

    fn name(&mut self, pointer: fmt::Arguments<'_>, name: &str) {
        if self.masks.names.finds(name) {
            let pointer = pointer.to_string();
            let key = pointer.rsplit('/').next().unwrap_or_default();
            if !API_WORDS.has_word(key, name) {
                self.faults.push(Fault { pointer, problem: HOLDS_SECRET.to_owned() });
            }
        }
    }

    fn given_name(&mut self, name: &mut dyn FreeText) {
        if let Some(masked) = self.masks.names.mask(name.as_str()) {
            name.replace(masked);
        }
    }

    fn variable(&mut self, _: &str, _: Option<bool>, value: &mut Value) {
        self.masks.all.mask_under(&self.kept, "", value);
    }

    fn fingerprint(&mut self, fingerprint: &mut Fingerprint) {
        fingerprint.keyed = self.key.map(|key| key.keyed(fingerprint.plain));
    }
}

/// Leaves texts out.
struct Redaction;

impl InputVisitor for Redaction {
    fn text(&mut self, text: &mut dyn FreeText) {
        text.replace(UNSEARCHED.to_owned());
    }

    fn json(&mut self, value: &mut Value) {
        *value = UNSEARCHED.into();
    }

    fn name(&mut self, _: fmt::Arguments<'_>, _: &str) {}

    fn variable(&mut self, _: &str, _: Option<bool>, value: &mut Value) {
        *value = UNSEARCHED.into();
    }
}
