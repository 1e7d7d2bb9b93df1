//! `POST /v1/sessions/{session}/orchestration/reset`

use callboard_core::{command::Command, step::StepsChange};

use super::{OrchestrationBody, change};
use crate::{
    answer::Answer,
    body::{Asked, Nothing},
    caller::On,
    problem::Problem,
    rights::GoThroughSteps,
};

/// Begin anew: nothing used, nothing counted, in the default step
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/reset", tag = "steps", operation_id = "reset_orchestration",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
pub(crate) async fn reset(on: On<GoThroughSteps>, asked: Asked<Nothing>) -> Result<Answer<OrchestrationBody>, Problem> {
    let Nothing {} = asked.body;
    change(&on, asked.terms, Command::Steps(StepsChange::Reset)).await
}
