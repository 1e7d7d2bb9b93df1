//! Context sets.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    context_set::Outcome,
    count::Tokens,
    id::{AgentName, SetName},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Form;

/// A context set, as far as its reader may know it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSet {
    /// Its name.
    #[schema(value_type = String)]
    pub name: SetName,
    /// Left out where the manager sees that there is such a set, and not what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub content: Option<Arc<str>>,
    /// Who may see it.
    pub visible_to: Audience,
    /// The agents from which it is hidden now.
    #[schema(value_type = Vec<String>)]
    pub hidden_from_agents: Vec<AgentName>,
    /// Whether it stands in prompts.
    pub enabled: bool,
    /// The form that the user is to fill in, or has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// The size of its content.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// Context sets by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSetList {
    /// The sets.
    pub context_sets: Vec<ContextSet>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a set is to be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutContextSet {
    /// What it is to say. An empty text is stored, too: a set is deleted with `DELETE`.
    #[schema(value_type = String)]
    pub content: Arc<str>,
    /// Who is to see it; as before, or the session's default, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// Whether it is to stand in prompts. Only the user says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// The set after it, and how it came out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PutContextSetAnswer {
    /// The set.
    #[serde(flatten)]
    pub set: ContextSet,
    /// `created`, `updated` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}
