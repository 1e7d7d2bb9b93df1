//! Context sets: named texts that a team shares, each with its own audience.

pub(crate) mod decide;
pub mod facts;
pub mod form;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use self::form::Form;
use crate::{
    agent::Team,
    audience::{Audience, ThingView, VisibilitySpan},
    count::Tokens,
    id::{AgentName, Seq, SetName},
    text::{Text, first_chars},
    time::Timestamp,
};

/// The set in which the manager keeps track of the work. Only the manager sees it.
pub const PROCESS_STEPS: &str = "Process Steps";

/// Whether a name is that of [`PROCESS_STEPS`], however it is spelled: case, blanks, `_` and `-` do not count.
pub fn is_process_steps(name: &SetName) -> bool {
    fn bare(text: &str) -> impl Iterator<Item = char> {
        let letters = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-'));
        letters.flat_map(char::to_lowercase)
    }
    bare(name.as_str()).eq(bare(PROCESS_STEPS))
}

/// A named text of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSet {
    /// Its name, unique in its session.
    pub name: SetName,
    /// What it says.
    pub content: Text,
    /// Who may see it. Until a form is answered, only the manager sees it.
    pub visible_to: Audience,
    /// Whether prompts show it.
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

    /// Who may see it in its present state.
    fn audience(&self, team: &Team) -> Audience {
        if self.is_open_form() { team.managers() } else { self.visible_to.clone() }
    }
}

/// A set as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldSet {
    /// The set.
    pub set: Arc<ContextSet>,
    /// Who may see it, and since when.
    pub sight: VisibilitySpan,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The entry that last changed it.
    pub seq: Seq,
}

/// All sets of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextSets(RedBlackTreeMapSync<SetName, HeldSet>);

impl ContextSets {
    /// The set with this name, visible or not.
    pub fn get(&self, name: &SetName) -> Option<&HeldSet> {
        self.0.get(name)
    }

    /// All sets by name, visible or not.
    pub fn iter(&self) -> impl Iterator<Item = &HeldSet> {
        self.0.values()
    }
}

/// What a viewer sees of a set. The outline is its name, visibility and size.
pub type SetView<'a> = ThingView<'a, HeldSet>;

/// A change to one set, as a caller asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct PutSet {
    /// The set.
    pub name: SetName,
    /// Its new content.
    pub content: Arc<str>,
    /// Who is to see it. If absent: as before, or the session's default for a new set.
    pub visible_to: Option<Audience>,
    /// Whether prompts are to show it. Only the user may set this.
    pub enabled: Option<bool>,
}

impl PutSet {
    /// A set with this content. Its visibility stays as it is; a new set gets the session's default.
    pub fn new(name: SetName, content: impl Into<Arc<str>>) -> Self {
        Self { name, content: content.into(), visible_to: None, enabled: None }
    }

    /// The same, visible to these agents only.
    #[must_use]
    pub fn for_agents(self, agents: impl IntoIterator<Item = AgentName>) -> Self {
        Self { visible_to: Some(Audience::of(agents)), ..self }
    }
}

/// A set to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteSet(pub SetName);

/// The outcome of one update of a context set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Outcome))]
pub struct SetOutcome {
    /// The name of the context set, as the directive gives it.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason, if the request was not fulfilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SetOutcome {
    /// The outcome of an update of the set `name`. Long names and reasons are cut.
    pub(crate) fn new(name: &str, outcome: Outcome, reason: Option<String>) -> Self {
        Self { name: first_chars(name, 200), outcome, reason: reason.map(|reason| first_chars(&reason, 500)) }
    }

    /// The outcome of an invalid update.
    pub(crate) fn rejected(name: &str, reason: impl ToString) -> Self {
        Self::new(name, Outcome::Rejected, Some(reason.to_string()))
    }
}

/// The outcome of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = OutcomeWord))]
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
    /// Whether anything has changed.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Deleted | Self::CreatedEmpty)
    }
}

#[cfg(test)]
mod tests;
