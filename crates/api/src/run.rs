//! Runs.

use std::sync::Arc;

use callboard_core::{
    conversation::ToolCall,
    id::{AgentName, RunId, SetName},
    run::{self, Due, Kind, Limits, Status, Used, Wait},
    schema::Saying,
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run, as far as its reader may know it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Its id.
    #[schema(value_type = String)]
    pub id: RunId,
    /// `team`.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    pub status: Status,
    /// Why it is held or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The form that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub form: Option<SetName>,
    /// The agent whose tools it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<AgentName>,
    /// The calls of tools whose results it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// How many turns were requested.
    pub turns: u64,
    /// How far it goes before it is paused.
    pub limits: Limits,
    /// What it has used altogether.
    pub used: Used,
    /// Who drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub node: Option<Arc<str>>,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
}

impl Run {
    /// What a viewer sees of a run. A worker with whom runs are shared sees its course, not what is said in it.
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

/// Runs of a session.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// The runs, the newest first.
    pub runs: Vec<Run>,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// What kind of run it is.
    pub kind: Kind,
    /// It becomes a message of the user's in `main`.
    #[schema(value_type = Saying)]
    pub input: Arc<str>,
    /// As the session says, where they are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Why a run is held.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// For people to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// What tools gave.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolResults {
    /// What each call gave.
    pub results: Vec<ToolResult>,
}

/// What one call of a tool gave.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// The `id` of the call.
    pub tool_call_id: String,
    /// What it gave, as the model is to read it.
    pub content: String,
}
