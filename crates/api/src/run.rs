//! Runs.

use std::sync::Arc;

use callboard_core::{
    conversation::ToolCall,
    id::{AgentName, RunId, SetName},
    limits::Limits,
    run::{self, Due, RunKind, Status, Used, Wait},
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run, as its reader may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Its id.
    #[schema(value_type = String)]
    pub id: RunId,
    /// The kind of run: `team` or `director`.
    #[schema(value_type = String)]
    pub kind: RunKind,
    /// Its status: `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    pub status: Status,
    /// Why it is paused or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The form whose answers it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub form: Option<SetName>,
    /// The agent whose tool calls it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<AgentName>,
    /// The tool calls whose results it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// How many turns it has requested from models.
    pub turns: u64,
    /// Its limits. At a limit it is paused and can be resumed.
    pub limits: Limits,
    /// What it used since its start.
    pub used: Used,
    /// The server that drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    /// When it was started.
    pub started_at: Timestamp,
}

impl Run {
    /// What a viewer sees of a run. A worker with whom runs are shared sees its progress, not what is said in it.
    pub fn seen(view: &View<'_>, run: &run::Run) -> Self {
        let (form, agent, tool_calls) = match view.due(run) {
            Some(Due::Wait(Wait::User { form })) => (form, None, Vec::new()),
            Some(Due::Wait(Wait::Tools { agent, calls, .. })) => (None, Some(agent), calls),
            _ => (None, None, Vec::new()),
        };
        Self {
            id: run.id.clone(),
            kind: run.kind,
            status: run.status(),
            reason: view.reason(run),
            form,
            agent,
            tool_calls,
            turns: run.turns,
            limits: run.limits.clone(),
            used: run.used_in_all,
            node: run.node.clone().filter(|_| view.is_in_charge()),
            started_at: run.started_at,
        }
    }
}

/// The newest runs of a session.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// The runs, the newest first.
    pub runs: Vec<Run>,
}

/// Why a run is to be paused.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The reason, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// Results of tool calls.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"results": [{"tool_call_id": "call_1", "content": "42"}]}))]
pub struct ToolResults {
    /// The results, one for each call. They can be sent in several requests.
    pub results: Vec<ToolResult>,
}

/// The result of a tool call.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// The `id` of the tool call.
    pub tool_call_id: String,
    /// The result, as the model is to read it.
    pub content: String,
}
