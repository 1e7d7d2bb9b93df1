//! What programs do with the secrets of a session: reveal one, mask a text, and wrap the key anew.

use std::{fmt, sync::Arc};

use callboard_core::{
    entry::{Actor, Hash},
    error::{ConflictKind, Error as Refusal},
    fact::{self, Fact as _},
    id::{Seq, VariableName},
    secret::{RevealSecret, RewrapKey, facts::Hidden},
    state::State,
    variable::{Origin, facts::Set, shown_name},
};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    journal::damaged,
    lock::lock,
    seal::{keys::DataKey, known::wipe, mask::Mask, masking::check_name},
    session::Session,
};

/// A secret that may be typed into pages.
pub struct SecretForPages {
    /// The value.
    pub value: Zeroizing<String>,
    /// The origins of the pages.
    pub origins: Vec<Origin>,
}

impl fmt::Debug for SecretForPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretForPages").field("origins", &self.origins).finish_non_exhaustive()
    }
}

/// Whether it is the place of a secret in the value that a variable has, not in one that it had.
fn is_of_now(pointer: &str) -> bool {
    pointer.is_empty() || pointer.starts_with('/')
}

/// The error that the values of secrets are not here.
pub(crate) fn secret_gone(name: &VariableName) -> Error {
    let what = format!("the secrets in {name} are not here: they are left out of exports, and gone once replaced");
    Refusal::conflict(ConflictKind::SecretGone, what, "set the variable again").into()
}

impl Session {
    /// Finds the secrets of the session in texts. Refused as sealed where they cannot be opened.
    pub async fn mask(&self) -> Result<Arc<Mask>, Error> {
        let state = self.live.known()?;
        Ok(self.live.known_secrets(&state).await?.masks.all.clone())
    }

    /// What finds the secrets of the session in what comes from outside to be shown, such as a question. Where they cannot be
    /// opened, it finds none.
    pub async fn mask_of_input(&self) -> Result<Arc<Mask>, Error> {
        match self.mask().await {
            Err(error) if error.is_sealed() => Ok(Arc::default()),
            mask => mask,
        }
    }

    /// The same as it was known last, without a look at the store. It is for what cannot wait.
    pub fn known_mask(&self) -> Arc<Mask> {
        lock(&self.live.secrets).masks.all.clone()
    }

    /// Refuses a name that holds a secret, unless it was found in a call. `pointer` says where it was given.
    pub async fn check_name(&self, pointer: &str, name: &str) -> Result<(), Error> {
        let state = self.live.known()?;
        Ok(check_name(&self.live.known_secrets(&state).await?.masks.names, pointer, name)?)
    }

    /// The value of a variable with its secrets. That `by` saw it is recorded; only the user may.
    pub async fn reveal(&self, by: impl Into<Actor>, name: &VariableName) -> Result<Value, Error> {
        let by = by.into();
        let state = self.state().await?;
        let value = match &by {
            Actor::Agent(_) => None,
            // What cannot be opened is not recorded as revealed.
            Actor::User | Actor::System => Some(self.value_with_secrets(&state, name).await?),
        };
        self.execute(by, RevealSecret { name: name.clone() }).await?;
        value.ok_or_else(|| Refusal::not_found("secret variable", name).into())
    }

    /// Whether all secrets in the value of a variable are looked for in texts; those that are too short are not.
    pub async fn is_looked_for(&self, name: &VariableName) -> Result<bool, Error> {
        let state = self.state().await?;
        let known = self.live.known_secrets(&state).await?;
        Ok(known.newest(&state.secrets, name.as_str()).is_none_or(|(_, secret)| secret.is_looked_for))
    }

    /// The entries in which a secret was hidden by the append that ended with the entry `head`.
    pub async fn rewritten_by(&self, head: Seq) -> Result<Vec<Seq>, Error> {
        let (mut rewritten, mut at) = (Vec::new(), head);
        while let Some(entry) = self.entry(at).await?.filter(|entry| *entry.header.kind == *Hidden::TYPE) {
            rewritten.extend(fact::read::<Hidden>(&entry)?.changed().map(|changed| changed.seq));
            at = at.previous();
        }
        rewritten.sort_unstable();
        Ok(rewritten)
    }

    /// The value of a variable with its secrets.
    pub(crate) async fn value_with_secrets(&self, state: &State, name: &VariableName) -> Result<Value, Error> {
        let known = self.live.known_secrets(state).await?;
        let variable = state.variables.get(name).filter(|variable| variable.secret);
        let seq = variable.ok_or_else(|| Refusal::not_found("secret variable", name))?.seq;
        let entry = self.entry(seq).await?.ok_or_else(|| Refusal::not_found("entry", seq))?;
        let set: Set = fact::read(&entry)?;
        let mut value = match (set.value, &set.long_value) {
            (None, Some(text)) => {
                serde_json::from_str(&self.text(text).await?).map_err(|error| damaged(&entry, &error))?
            }
            (value, _) => value.unwrap_or_default(),
        };
        let newest = known.newest(&state.secrets, name.as_str()).filter(|(hash, _)| set.sealed == Some(*hash));
        let Some((_, secrets)) = newest else {
            return Err(secret_gone(name));
        };
        for (pointer, secret) in secrets.by_pointer() {
            if let Some(place) = value.pointer_mut(&pointer) {
                *place = secret;
            }
        }
        Ok(value)
    }

    /// The secret that is called `name`, to be typed into pages: a variable, with `.key` for each step into its value; `None` where no variable has it now, or it is no
    /// text.
    pub async fn secret_for_pages(&self, name: &str) -> Result<Option<SecretForPages>, Error> {
        let state = self.state().await?;
        let known = self.live.known_secrets(&state).await?;
        for variable in state.variables.iter().filter(|variable| variable.secret) {
            let variable_name = variable.name.as_str();
            let Some((_, secret)) =
                known.newest(&state.secrets, variable_name).filter(|_| name.starts_with(variable_name))
            else {
                continue;
            };
            let is_meant = |pointer: &str| is_of_now(pointer) && shown_name(variable_name, pointer) == name;
            for (pointer, value) in secret.by_pointer() {
                let text = match value {
                    Value::String(text) if is_meant(&pointer) => text,
                    Value::Number(number) if is_meant(&pointer) => number.to_string(),
                    value => {
                        wipe(value);
                        continue;
                    }
                };
                return Ok(Some(SecretForPages { value: Zeroizing::new(text), origins: variable.origins.clone() }));
            }
        }
        Ok(None)
    }

    /// Takes the key of `from`, of which this is a fork as of `at`, where it was wrapped anew since.
    pub(crate) async fn take_key(&self, from: &Self, at: &State) -> Result<(), Error> {
        let state = from.live.known()?;
        let (Some(before), Some(now)) = (&at.secrets.key, &state.secrets.key) else { return Ok(()) };
        let is_same = before.made_for == now.made_for && before.sha256 != now.sha256;
        let is_missing = self.live.known()?.secrets.key.as_ref() == Some(before);
        if let (true, true, Some(text)) = (is_same, is_missing, from.live.store.value(from.id(), now.sha256).await?) {
            self.execute(Actor::System, RewrapKey { before: before.sha256, wrapped: (now.sha256, text) }).await?;
        }
        Ok(())
    }

    /// Wraps the key of the session under the first of the master keys, unless it is already, or there is none. Says
    /// whether it did.
    pub async fn rewrap_key(&self) -> Result<bool, Error> {
        let state = self.state().await?;
        let Some(key) = &state.secrets.key else { return Ok(false) };
        let Some(wrapped) = self.live.store.value(self.id(), key.sha256).await? else { return Ok(false) };
        let sealed = |problem: String| self.live.sealer().sealed(&problem);
        let masters = self.live.settings.master_keys.keys().map_err(sealed)?;
        let Some(master) = masters.first() else { return Err(sealed("there is no master key".to_owned())) };
        if DataKey::is_wrapped_by(&wrapped, master) {
            return Ok(false);
        }
        let opened = DataKey::unwrap(&wrapped, &masters, &key.made_for).map_err(sealed)?;
        let wrapped = opened.wrap(master).ok_or_else(|| sealed("this machine has no randomness".to_owned()))?;
        let wrapped: Arc<str> = wrapped.into();
        let wrapped = (Hash::of(wrapped.as_bytes()), wrapped);
        self.execute(Actor::System, RewrapKey { before: key.sha256, wrapped }).await?;
        Ok(true)
    }
}
