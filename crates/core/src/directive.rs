//! Directives: what a manager says in structured output. They change context sets, and in a run they say what is next.

pub(crate) mod decide;
pub mod facts;
pub mod read;
pub mod schema;
pub mod text;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{audience::Audience, context_set::SetOutcome, error::Fault, form::Field, id::AgentName, text::shortened};

/// A directive as it was understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    /// Whom the message is for.
    pub message_to: Option<Recipient>,
    /// What is said.
    pub message: Option<Arc<str>>,
    /// Whether the work is done.
    pub workflow_complete: bool,
    /// Whether the message asks the user for something.
    pub is_info_request: bool,
    /// What the user is to fill in.
    pub form: Option<FormRequest>,
    /// The updates of context sets, in order; for one that could not be read, how it came out.
    pub sets: Vec<Result<SetUpdate, SetOutcome>>,
    /// What the answer to the message is held against.
    pub expected_output: Option<Arc<str>>,
}

/// Whom a message is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recipient {
    /// One of the team.
    Agent(AgentName),
    /// The user.
    User(UserWord),
}

/// The word `user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserWord {
    /// The word.
    #[serde(rename = "user")]
    User,
}

impl Recipient {
    /// The user.
    pub const USER: Self = Self::User(UserWord::User);
}

/// A form that a directive brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormRequest {
    /// The name of the set that it becomes.
    #[serde(default)]
    pub name: Option<String>,
    /// What it asks for.
    pub fields: Vec<Field>,
    /// Taken and set to `false`: a new form is not answered.
    #[serde(default, skip_serializing)]
    pub answered: bool,
}

/// One update of a context set in a directive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetUpdate {
    /// The name as it was given.
    pub name: String,
    /// The new content; empty to delete.
    pub context: Arc<str>,
    /// Whether the set is to be new.
    #[serde(default)]
    pub new_or_update: Option<NewOrUpdate>,
    /// Who is to see it.
    #[serde(default)]
    pub visible_to_agents: Option<Audience>,
}

/// Whether a set is to be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewOrUpdate {
    /// There must be none of its name.
    New,
    /// It is changed, or made where there is none.
    Update,
}

/// A manager's directive that is to be applied: its structured output, or `{"text": …}` in the fallback's grammar.
#[derive(Clone, Debug, PartialEq)]
pub struct Direct(pub Value);

/// What a directive led to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Directed {
    /// How each update of a set came out, in order.
    pub outcomes: Vec<SetOutcome>,
    /// The form that was put before the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormRequest>,
    /// What a text said that could not be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<String>,
}

/// How the pointers to single updates of sets begin.
pub(crate) const UPDATES: &str = "/contextSetUpdate/contextSets/";

/// The subject of directives.
pub const SUBJECT: &str = "directives";

/// What was made of something that was meant as a directive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What is good in it.
    pub directive: Directive,
    /// What is wrong with it, by JSON pointer.
    pub faults: Vec<Fault>,
    /// What could not be understood of a text.
    pub unparsed: Vec<String>,
}

/// How long what is expected of an answer may be.
const CRITERIA_BYTES: usize = 16 * 1024;

/// What is expected of an answer, in a length that can stand in every question whether an answer is that.
pub(super) fn criteria(text: Arc<str>) -> Option<Arc<str>> {
    let note = "[shortened here: what is expected of an answer is to be said in a few words]";
    Some(text).filter(|text| !text.trim().is_empty()).map(|text| shortened(&text, CRITERIA_BYTES, note))
}

#[cfg(test)]
mod tests;
