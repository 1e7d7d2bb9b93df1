//! The state of a team's steps.

use std::sync::Arc;

use callboard_core::{
    error::Error, id::StepName, json::given, number, schema::ToolName, session::Ttl, step::Progress, time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The state of a team's steps.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Orchestration {
    /// The active step; `null` if there is none.
    #[schema(value_type = Option<String>)]
    pub active_step: Option<StepName>,
    /// The last 256 used tools, the oldest first.
    pub recently_used_tools: Vec<Arc<str>>,
    /// How many tools of the active step's sequence were used. When all were, the sequence is finished.
    pub sequence_index: usize,
    /// The tokens that models used. Only the user and the manager see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_token_usage: Option<TokenUsage>,
    /// When the session was last used.
    pub last_accessed: Timestamp,
    /// After how many seconds without use the session expires, or `never`.
    pub ttl_seconds: Ttl,
}

impl Orchestration {
    /// What a viewer sees of it; an error where the session has no steps.
    pub fn seen(view: &View<'_>, last_accessed: Timestamp) -> Result<Self, Error> {
        let settings = &view.state.session.settings;
        if settings.steps.is_empty() {
            return Err(Error::NoSteps);
        }
        let progress: &Progress = &view.state.steps;
        let usage = progress.usage;
        let usage = TokenUsage {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.prompt_tokens.saturating_add(usage.completion_tokens),
        };
        Ok(Self {
            active_step: progress.active(&settings.steps).map(|step| step.name.clone()),
            recently_used_tools: progress.log.iter().cloned().collect(),
            sequence_index: progress.index,
            cumulative_token_usage: view.is_in_charge().then_some(usage),
            last_accessed,
            ttl_seconds: settings.ttl_seconds,
        })
    }
}

/// The tokens that models used.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenUsage {
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// The sum of both.
    pub total_tokens: u64,
}

/// A change of the state of the steps. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrchestrationPatch {
    /// The step to activate, at the start of its sequence. `null` is the default step.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<StepName>)]
    pub active_step: Option<Option<StepName>>,
    /// How many tools of the step's sequence count as used.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub sequence_index: Option<usize>,
    /// After how many seconds without use the session expires, or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<Ttl>,
}

/// A tool that was used.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"tool": "search"}))]
pub struct UsedTool {
    /// The name of the tool.
    #[schema(value_type = ToolName)]
    pub tool: Arc<str>,
}

/// The tools of an agent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// The names of the tools.
    pub tools: Vec<String>,
}
