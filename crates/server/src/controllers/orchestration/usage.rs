//! `POST /v1/sessions/{session}/orchestration/usage`

use callboard_core::{command::Command, number, run::Usage, step::StepsChange};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{OrchestrationBody, change};
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::GoThroughSteps};

/// What a model used.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReportedUsage)]
pub(crate) struct ReportBody {
    #[serde(default, deserialize_with = "number::whole")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "number::whole")]
    completion_tokens: u64,
}

/// Add what a model used
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/usage", tag = "steps", operation_id = "report_usage",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<ReportBody>,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
pub(crate) async fn usage(
    on: On<GoThroughSteps>,
    asked: Asked<ReportBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let ReportBody { prompt_tokens, completion_tokens } = asked.body;
    change(&on, asked.terms, Command::Steps(StepsChange::Report(Usage { prompt_tokens, completion_tokens }))).await
}
