//! Agents and their tools.

use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::text::{AgentName, Line, ToolName};

/// One of the team.
#[derive(ToSchema)]
#[schema(as = Agent)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentShape {
    name: AgentName,
    role: AgentRole,
    title: Option<Line>,
    instructions: Option<String>,
    /// `openai:NAME` or `anthropic:NAME`; `CALLBOARD_MODEL` where it is left out.
    model: Option<Line>,
    #[schema(required = false)]
    tools: Vec<ToolShape>,
}

/// What an agent is in its team, which has at most one manager.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum AgentRole {
    Manager,
    Worker,
}

/// A function that an agent's model may call; the caller of the run executes it.
#[derive(ToSchema)]
#[schema(as = Tool)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolShape {
    name: ToolName,
    #[schema(required = false)]
    description: String,
    /// The JSON Schema of its arguments.
    #[schema(required = false)]
    parameters: BTreeMap<String, Value>,
    #[schema(required = false)]
    idempotent: bool,
}
