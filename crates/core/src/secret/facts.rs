//! What can happen to secrets.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::sealed::WrappedKey;
use crate::{
    entry::{Hash, Header},
    erasure::ChangedEntry,
    fact::{Description, Earlier, Fact, MeantFor, Seen, Sentence, sealed, text},
    id::{Seq, VariableName},
    state::State,
    view::View,
};

/// The data key of the session was made, or wrapped under another master key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyWrapped {
    /// The key from now on.
    pub key: WrappedKey,
}

impl Fact for KeyWrapped {
    const TYPE: &'static str = "secret.key_wrapped";

    const SENTENCE: Sentence = |_| "the key of the session's secrets was wrapped".to_owned();

    const DESCRIPTION: Description =
        Description { earlier: Earlier::Replaced, ..Description::of(&[sealed("key.sha256")]) };

    fn subject(&self) -> String {
        "secrets".to_owned()
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.secrets.key = Some(self.key);
        state.secrets.changed = header.seq;
    }
}

/// The value of a secret was shown to the author of the entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revealed {
    /// The variable.
    pub name: VariableName,
}

impl Fact for Revealed {
    const TYPE: &'static str = "secret.revealed";

    const SENTENCE: Sentence = |it| format!("{} looked at the secret {}", it.by, it.name());

    const DESCRIPTION: Description = Description::of(&[]);

    const MEANT_FOR: MeantFor = MeantFor::Manager;

    fn subject(&self) -> String {
        format!("variable:{}", self.name)
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        view.is_in_charge().then(|| Seen::fact(&self)).flatten()
    }
}

/// What earlier entries said of values that became secrets was hidden. It is for the user alone: what it names may be hidden
/// from agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hidden {
    /// The variables whose values they are, each with the hash under which its value is sealed.
    pub secrets: BTreeMap<Arc<str>, Hash>,
    /// The entries.
    pub entries: Vec<HiddenEntry>,
}

/// An entry in which a secret was hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenEntry {
    /// The entry.
    pub seq: Seq,
    /// See [`ChangedEntry::sha256`].
    pub sha256: Hash,
    /// The hash under which its data of before is stored beside the journal, sealed; absent where an older original is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Hash>,
}

impl Hidden {
    /// The entries that it changes.
    pub fn changed(&self) -> impl Iterator<Item = ChangedEntry> {
        self.entries.iter().map(|HiddenEntry { seq, sha256, .. }| ChangedEntry { seq: *seq, sha256: *sha256 })
    }
}

impl Fact for Hidden {
    const TYPE: &'static str = "secret.hidden";

    const SENTENCE: Sentence = |it| match it.count("entries") {
        1 => "a new secret was hidden in 1 earlier entry".to_owned(),
        entries => format!("a new secret was hidden in {entries} earlier entries"),
    };

    const DESCRIPTION: Description = Description::of(&[sealed("entries.*.sealed")]);

    fn subject(&self) -> String {
        "secrets".to_owned()
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.erased = header.seq;
    }
}

/// A variable, or what keys in a call say to be secret, is no secret any more, and its value stands again where it was hidden.
/// It is for the user alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restored {
    /// The variable, or what the secrets in the call are called.
    pub name: VariableName,
    /// Secrets in calls that have the same values: they are none either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Arc<str>>,
    /// Why.
    pub reason: Arc<str>,
    /// The entries.
    pub entries: Vec<ChangedEntry>,
}

impl Restored {
    /// What the secrets are called that are none any more.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()].into_iter().chain(self.also.iter().map(|name| &**name))
    }
}

impl Fact for Restored {
    const TYPE: &'static str = "secret.restored";

    const SENTENCE: Sentence = |it| format!("{} made {} a secret no more{}", it.by, it.name(), it.about("reason"));

    const DESCRIPTION: Description = Description::of(&[text("reason")]);

    fn subject(&self) -> String {
        format!("variable:{}", self.name)
    }

    fn apply(self, state: &mut State, header: &Header) {
        self.names().for_each(|name| state.secrets.forget(name, header.seq));
        state.erased = header.seq;
    }
}
