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

/// A context set, as its reader may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSet {
    /// Its name.
    #[schema(value_type = String)]
    pub name: SetName,
    /// Its text. Absent if the reader may know that the set exists, but not what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Arc<str>>,
    /// Which agents may see it. The user sees every set.
    pub visible_to: Audience,
    /// The agents of the team that may not see it.
    #[schema(value_type = Vec<String>)]
    pub hidden_from_agents: Vec<AgentName>,
    /// Whether it is part of prompts.
    pub enabled: bool,
    /// The form that the user fills in, if the set is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// The size of its content in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A page of context sets, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSetList {
    /// The sets.
    pub context_sets: Vec<ContextSet>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The new content of a context set.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"content": "Version 2 ships in May.", "visible_to": ["writer"]}))]
pub struct PutContextSet {
    /// Its text. An empty text is stored like any other; use `DELETE` to delete a set.
    pub content: Arc<str>,
    /// Which agents may see it. If absent: as before, or the session's `default_visibility` for a new set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// Whether it is part of prompts. If absent: as before, or `true` for a new set. Only the user may set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// The context set after the change.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PutContextSetAnswer {
    /// The set.
    #[serde(flatten)]
    pub set: ContextSet,
    /// What the request did: `created`, `updated` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}
