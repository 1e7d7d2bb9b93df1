//! Where a team is among its steps.

use std::sync::Arc;

use callboard_core::{
    error::Error, id::StepName, number, schema::ToolName, session::Ttl, step::Progress, time::Timestamp, view::View,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Where a team is among its steps.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Orchestration {
    /// The step that is active; `null` where none is.
    #[schema(value_type = Option<String>)]
    pub active_step: Option<StepName>,
    /// The last 256 tools that were used, oldest first.
    #[schema(value_type = Vec<String>)]
    pub recently_used_tools: Vec<Arc<str>>,
    /// How many tools of the active step's sequence were used; as many as it has where it is finished.
    pub sequence_index: usize,
    /// What models used; for the user and the manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_token_usage: Option<TokenUsage>,
    /// When the session was used last.
    #[schema(value_type = String, format = DateTime)]
    pub last_accessed: Timestamp,
    /// The inactivity after which the session expires.
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
        let usage = progress.usage();
        let usage = TokenUsage {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.prompt_tokens.saturating_add(usage.completion_tokens),
        };
        Ok(Self {
            active_step: progress.active(&settings.steps).map(|step| step.name.clone()),
            recently_used_tools: progress.recently_used_tools().cloned().collect(),
            sequence_index: progress.sequence_index(),
            cumulative_token_usage: view.is_in_charge().then_some(usage),
            last_accessed,
            ttl_seconds: settings.ttl_seconds,
        })
    }
}

/// What models used, added up.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenUsage {
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}

/// Where the team is to be among its steps; what is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrchestrationPatch {
    /// The step; entering it starts its sequence. `null` is the default one.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<StepName>)]
    pub active_step: Option<Option<StepName>>,
    /// How many tools of the step's sequence were used.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub sequence_index: Option<usize>,
    /// The inactivity after which the session expires: seconds above 0, or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<Ttl>,
}

/// What is there, also where it is `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A tool that was used.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UsedTool {
    /// Its name.
    #[schema(value_type = ToolName)]
    pub tool: Arc<str>,
}

/// What a model used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportedUsage {
    /// Tokens of the prompt.
    #[serde(default, deserialize_with = "number::whole")]
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    #[serde(default, deserialize_with = "number::whole")]
    pub completion_tokens: u64,
}

/// Tools that somebody has.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// Their names.
    pub tools: Vec<String>,
}
