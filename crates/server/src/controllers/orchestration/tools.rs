//! `POST /v1/sessions/{session}/orchestration/tools`

use std::sync::Arc;

use callboard_core::{command::Command, step::StepsChange};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{OrchestrationBody, change};
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::GoThroughSteps, shape};

/// A tool that was used.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UsedTool)]
pub(crate) struct ToolBody {
    #[schema(value_type = shape::text::ToolName)]
    tool: Arc<str>,
}

/// Take in that a tool was used
///
/// Noting it, advancing the sequence and choosing the step are one change. One that is not the due one is refused with
/// 409, which names the one that is.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/tools", tag = "steps", operation_id = "use_tool",
    params(("session" = String, Path, description = "The session")),
    request_body = ToolBody,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
pub(crate) async fn tools(
    on: On<GoThroughSteps>,
    asked: Asked<ToolBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    change(&on, asked.terms, Command::Steps(StepsChange::UseTool(asked.body.tool))).await
}
