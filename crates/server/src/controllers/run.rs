//! Runs.

pub(super) mod list;
pub(super) mod read;
pub(super) mod start;
pub(super) mod steer;
pub(super) mod tool_results;

use std::sync::Arc;

use callboard_core::{
    conversation::ToolCall,
    id::{AgentName, RunId, SetName},
    run::{Due, Kind, Limits, Run, Status, Used},
    time::Timestamp,
    view::View,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::shape;

/// A run, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunBody {
    #[schema(value_type = String)]
    id: RunId,
    /// `team`.
    #[schema(value_type = String)]
    kind: Kind,
    /// `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    status: Status,
    /// Why it is held or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The form that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    form: Option<SetName>,
    /// The agent whose tools it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    agent: Option<AgentName>,
    /// The calls of tools whose results it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<shape::message::ToolCallShape>, required = false)]
    tool_calls: Vec<ToolCall>,
    /// How many turns were requested.
    turns: u64,
    #[schema(value_type = shape::session::LimitsShape)]
    limits: Limits,
    /// What it has used altogether.
    #[schema(value_type = UsedShape)]
    used: Used,
    /// Who drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    node: Option<Arc<str>>,
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
}

#[derive(ToSchema)]
#[schema(as = Used)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct UsedShape {
    turns: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    milliseconds: u64,
}

impl RunBody {
    /// What a viewer sees of a run. A worker with whom runs are shared sees its course, not what is said in it.
    fn seen(view: &View<'_>, run: &Run) -> Self {
        let whole = view.is_in_charge();
        let (form, agent, tool_calls) = match &run.due {
            Due::User { form } if whole => (form.clone(), None, Vec::new()),
            Due::Tools { agent, calls } if whole => (None, Some(agent.clone()), calls.clone()),
            _ => (None, None, Vec::new()),
        };
        Self {
            id: run.id.clone(),
            kind: run.kind,
            status: run.status(),
            reason: run.halt.as_ref().filter(|_| whole).and_then(|halt| halt.reason.clone()),
            form,
            agent,
            tool_calls,
            turns: run.turns,
            limits: run.limits.clone(),
            used: run.used_in_all,
            node: run.node.clone().filter(|_| whole),
            started_at: run.started_at,
        }
    }
}
