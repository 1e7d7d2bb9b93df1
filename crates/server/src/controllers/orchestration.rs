//! Where a team is among its steps.

pub(super) mod advance;
pub(super) mod allowed_tools;
pub(super) mod read;
pub(super) mod reset;
pub(super) mod tools;
pub(super) mod update;
pub(super) mod usage;

use std::sync::Arc;

use callboard_core::{
    command::Command, error::Error as Refusal, id::StepName, session::Ttl, step::Progress, time::Timestamp, view::View,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{answer::Answer, caller::On, problem::Problem, rights::GoThroughSteps, shape, terms::Terms};

/// Where a team is among its steps.
#[derive(Serialize, ToSchema)]
#[schema(as = Orchestration)]
pub(crate) struct OrchestrationBody {
    /// The step that is active; `null` where none is.
    #[schema(value_type = Option<String>)]
    active_step: Option<StepName>,
    /// The last 256 tools that were used, oldest first.
    #[schema(value_type = Vec<String>)]
    recently_used_tools: Vec<Arc<str>>,
    /// How many tools of the active step's sequence were used; as many as it has where it is finished.
    sequence_index: usize,
    /// What models used; for the user and the manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    cumulative_token_usage: Option<UsageBody>,
    #[schema(value_type = String, format = DateTime)]
    last_accessed: Timestamp,
    #[schema(value_type = shape::session::TtlShape)]
    ttl_seconds: Ttl,
}

/// What models used, added up.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenUsage)]
struct UsageBody {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl OrchestrationBody {
    fn seen(view: &View<'_>, last_accessed: Timestamp) -> Result<Self, Refusal> {
        let settings = &view.state.session.settings;
        if settings.steps.is_empty() {
            return Err(Refusal::NoSteps);
        }
        let progress: &Progress = &view.state.steps;
        let usage = progress.usage();
        let usage = UsageBody {
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

/// Makes a change and gives the state after it.
async fn change(on: &On<GoThroughSteps>, terms: Terms, change: Command) -> Result<Answer<OrchestrationBody>, Problem> {
    let receipt = on.execute(terms, change).await?;
    let look = |view: View<'_>| OrchestrationBody::seen(&view, view.state.last_at);
    let body = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
