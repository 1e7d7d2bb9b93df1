//! Restoring: a value that was marked as a secret by mistake stands again where it stood. Only the user restores.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::Restored;
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    entry::Hash,
    erasure::{ChangedEntry, check_reason},
    error::{ConflictKind, Error},
    id::{Seq, VariableName},
    input::InputVisitor,
    rights::Right,
    sealed::Rewritten,
    text::Values,
    variable::SetVariable,
};

/// Makes a secret one that is none, and puts its value back where it was hidden.
#[derive(Clone, Debug)]
pub struct RestoreSecret {
    /// The variable, or what the secrets in a call are called.
    pub name: VariableName,
    /// The whole value of the variable; `None` where there is no such variable.
    pub value: Option<Value>,
    /// Secrets in calls that have the same values: they are none either then.
    pub also: Vec<Arc<str>>,
    /// Why, for the journal.
    pub reason: Arc<str>,
    /// As of which change of the secrets the rest was made.
    pub secrets: Seq,
    /// The entries as they are to be, each with the hash of the data that it has now.
    pub entries: Arc<[(Rewritten, Hash)]>,
    /// The long texts that they refer to.
    pub values: Arc<Values>,
    /// The long texts that nobody refers to any more.
    pub unneeded: Arc<BTreeSet<Hash>>,
}

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredSecret {
    /// The entries in which the value stands again.
    pub entries: Vec<Seq>,
}

impl KeptAnswer for RestoredSecret {
    const NAME: &'static str = "restored";
}

impl Command for RestoreSecret {
    type Answer = RestoredSecret;

    const RIGHT: Right = Right::user("restore secrets");

    const ERASES: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<RestoredSecret, Undecided> {
        check_reason(&self.reason)?;
        if decision.state.secrets.changed != self.secrets {
            let what = "the secrets of the session changed meanwhile";
            return Err(Error::conflict(ConflictKind::SecretsChanged, what, "try again").into());
        }
        let mut restored = Vec::new();
        for (rewritten, was) in self.entries.iter() {
            let Some(entry) = decision.entry(rewritten.seq)? else { continue };
            if Hash::of(entry.data.as_bytes()) == *was {
                restored.push(rewritten);
            }
        }
        if let Some(value) = &self.value {
            SetVariable::new(self.name.clone(), value.clone(), Some(false), self.reason.clone())?.perform(decision)?;
        }
        let by = decision.next_seq();
        let mut entries = Vec::with_capacity(restored.len());
        for rewritten in restored {
            let data = rewritten.marked(by);
            entries.push(ChangedEntry { seq: rewritten.seq, sha256: Hash::of(data.as_bytes()) });
            decision.erased.entries.insert(rewritten.seq, data);
        }
        decision.values.extend(self.values.iter().map(|(hash, text)| (*hash, text.clone())));
        decision.erased.values.extend(self.unneeded.iter().copied());
        let answer = RestoredSecret { entries: entries.iter().map(|entry| entry.seq).collect() };
        let (name, also, reason) = (self.name.clone(), self.also.clone(), self.reason.clone());
        decision.record(Restored { name, also, reason, entries });
        Ok(answer)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        if let Some(value) = &mut self.value {
            visitor.variable(self.name.as_str(), Some(false), value);
        }
        // What has no value of its own here is no secret any more, either.
        for name in &self.also {
            visitor.variable(name, Some(false), &mut Value::Null);
        }
        visitor.text(&mut self.reason);
    }

    fn entries(&self) -> Vec<Seq> {
        self.entries.iter().map(|(entry, _)| entry.seq).collect()
    }
}
