//! Directives: what a manager says in structured output. They change context sets, and in a run they say what is next.

pub(crate) mod decide;
pub mod facts;
pub mod read;
pub mod schema;
pub mod schema_for;
pub mod text;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    audience::Audience,
    context_set::SetOutcome,
    context_set::form::Field,
    error::Fault,
    id::{AgentName, RunId, SetName},
    text::{Text, shortened},
};

/// A directive, parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    /// The recipient of the message.
    pub message_to: Option<Recipient>,
    /// What is said.
    pub message: Option<Arc<str>>,
    /// Whether the work is done.
    pub workflow_complete: bool,
    /// Whether the message asks the user for something.
    pub is_info_request: bool,
    /// What the user is to fill in.
    pub form: Option<FormRequest>,
    /// The updates of context sets, in order; or the outcome of an update that could not be read.
    pub sets: Vec<Result<SetUpdate, SetOutcome>>,
    /// What the answer to the message is held against.
    pub expected_output: Option<Arc<str>>,
}

/// A directive was taken in. Its message is here only where it did not become a message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// The run that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The outcome of each update of a set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<SetOutcome>,
    /// The recipient of its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_to: Option<Recipient>,
    /// What it said, outside of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// Whether it said that the work is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workflow_complete: bool,
    /// The form that it put before the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<SetName>,
    /// What of it was not valid, and was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What of it could not be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<String>,
}

/// The recipient of a message: a worker, or `user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Recipient {
    /// One of the team.
    Agent(AgentName),
    /// The user.
    User(UserWord),
}

/// The word `user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum UserWord {
    /// The word.
    #[serde(rename = "user")]
    User,
}

impl Recipient {
    /// The user.
    pub const USER: Self = Self::User(UserWord::User);
}

/// A form that a directive puts before the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FormRequest {
    /// The name of the set that it becomes.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Label>))]
    pub name: Option<String>,
    /// What it asks for.
    #[cfg_attr(feature = "schema", schema(min_items = 1))]
    pub fields: Vec<Field>,
    /// Accepted and ignored: a new form is not answered.
    #[serde(default, skip_serializing_if = "is_ignored")]
    pub answered: bool,
}

/// `answered` is read and never written.
fn is_ignored(_: &bool) -> bool {
    true
}

/// One update of a context set in a directive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextSetUpdate))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetUpdate {
    /// The name of the context set.
    pub name: String,
    /// The new content; empty to delete.
    pub context: Arc<str>,
    /// Whether the set must not exist yet.
    #[serde(default)]
    pub new_or_update: Option<NewOrUpdate>,
    /// Who may see it.
    #[serde(default)]
    pub visible_to_agents: Option<Audience>,
}

/// Whether a set must not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

/// The outcome of a directive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Directed {
    /// The outcome of each update of a set, in order.
    pub outcomes: Vec<SetOutcome>,
    /// The form that the user is to fill in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormRequest>,
    /// The parts of a text that could not be parsed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<String>,
}

/// The beginning of JSON pointers to single updates of sets.
pub(crate) const UPDATES: &str = "/contextSetUpdate/contextSets/";

/// The subject of directives.
pub const SUBJECT: &str = "directives";

/// The result of parsing a directive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The valid part of it.
    pub directive: Directive,
    /// What is wrong with it, by JSON pointer.
    pub faults: Vec<Fault>,
    /// The parts of a text that could not be parsed.
    pub unparsed: Vec<String>,
}

/// The largest size of criteria, in bytes.
const CRITERIA_BYTES: usize = 16 * 1024;

/// Criteria for an answer, shortened so that they fit into every prompt that checks an answer.
pub(super) fn criteria(text: Arc<str>) -> Option<Arc<str>> {
    let note = "[shortened here: what is expected of an answer is to be said in a few words]";
    Some(text).filter(|text| !text.trim().is_empty()).map(|text| shortened(&text, CRITERIA_BYTES, note))
}

#[cfg(test)]
mod tests;
