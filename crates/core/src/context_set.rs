//! Context sets: named texts that a team shares, each seen only by those it is meant for.

pub(crate) mod decide;
pub mod facts;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::{
    agent::Team,
    audience::{Audience, VisibilitySpan},
    count::Tokens,
    form::Form,
    id::{AgentName, Seq, SetName},
    text::{Text, first_chars},
    time::Timestamp,
};

/// The set in which the manager keeps track of the work. It is the manager's alone.
pub const PROCESS_STEPS: &str = "Process Steps";

/// A named text of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSet {
    /// Its name, unique in its session.
    pub name: SetName,
    /// What it says.
    pub content: Text,
    /// Who may see it. A form is nevertheless for the manager alone until it is answered.
    pub visible_to: Audience,
    /// Whether it stands in prompts.
    pub enabled: bool,
    /// The form that the user is to fill in, or has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// The size of its content.
    pub tokens: Tokens,
}

impl ContextSet {
    /// Whether it is a form that waits for the user.
    pub fn is_open_form(&self) -> bool {
        self.form.as_ref().is_some_and(|form| !form.answered)
    }

    /// Who may see it as it is.
    fn audience(&self, team: &Team) -> Audience {
        if self.is_open_form() { team.managers() } else { self.visible_to.clone() }
    }
}

/// A set as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The set.
    pub set: Arc<ContextSet>,
    /// Who has it in sight.
    pub sight: VisibilitySpan,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The entry that last changed it.
    pub seq: Seq,
}

/// All sets of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextSets(RedBlackTreeMapSync<SetName, Held>);

impl ContextSets {
    /// The set with this name, whoever may see it.
    pub fn get(&self, name: &SetName) -> Option<&Held> {
        self.0.get(name)
    }

    /// All sets by name, whoever may see them.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.0.values()
    }
}

/// What a viewer sees of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetView<'a> {
    /// All of it.
    Whole(&'a Held),
    /// Its name, visibility and size: what the manager sees of a set that is hidden from it.
    Outline(&'a Held),
}

impl<'a> SetView<'a> {
    /// The set behind it.
    pub fn held(self) -> &'a Held {
        match self {
            Self::Whole(held) | Self::Outline(held) => held,
        }
    }
}

/// A change to one set, as a caller asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct PutSet {
    /// The set.
    pub name: SetName,
    /// What it is to say.
    pub content: Arc<str>,
    /// Who is to see it; as before, or the session's default, where it is absent.
    pub visible_to: Option<Audience>,
    /// Whether it is to stand in prompts; only the user says so.
    pub enabled: Option<bool>,
}

impl PutSet {
    /// A set that says `content`, seen by those who saw it before or, where it is new, by those the session says.
    pub fn new(name: SetName, content: impl Into<Arc<str>>) -> Self {
        Self { name, content: content.into(), visible_to: None, enabled: None }
    }

    /// The same, seen by these agents alone.
    #[must_use]
    pub fn for_agents(self, agents: impl IntoIterator<Item = AgentName>) -> Self {
        Self { visible_to: Some(Audience::of(agents)), ..self }
    }
}

/// That a set is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteSet(pub SetName);

/// How one update of a set came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOutcome {
    /// The name as it was given.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, where it is not what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SetOutcome {
    /// The outcome of an update of the set `name`; a name or a reason of any length is told in a few words.
    pub(crate) fn new(name: &str, outcome: Outcome, reason: Option<String>) -> Self {
        Self { name: first_chars(name, 200), outcome, reason: reason.map(|reason| first_chars(&reason, 500)) }
    }

    /// The outcome of an update that is not valid.
    pub(crate) fn rejected(name: &str, reason: impl ToString) -> Self {
        Self::new(name, Outcome::Rejected, Some(reason.to_string()))
    }
}

/// What came of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There was no such set, and now there is.
    Created,
    /// It is changed.
    Updated,
    /// It says what it said before.
    Unchanged,
    /// It is gone.
    Deleted,
    /// There was no such set, and now there is an empty one.
    CreatedEmpty,
    /// It was to be new, and there was one already.
    Conflict,
    /// It was not valid.
    Rejected,
}

impl Outcome {
    /// Whether anything is other than it was.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Deleted | Self::CreatedEmpty)
    }
}

/// Whether `agent` is among those from whom `set` is hidden, for the team as it is now.
pub fn hidden_from_agents<'a>(held: &'a Held, team: &'a Team) -> impl Iterator<Item = &'a AgentName> {
    team.hidden_from(&held.sight.audience)
}

#[cfg(test)]
mod tests;
