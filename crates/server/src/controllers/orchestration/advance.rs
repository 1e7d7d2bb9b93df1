//! `POST /v1/sessions/{session}/orchestration/advance`

use callboard_core::{command::Command, step::StepsChange};

use super::{OrchestrationBody, change};
use crate::{
    answer::Answer,
    body::{Asked, Nothing},
    caller::On,
    problem::Problem,
    rights::GoThroughSteps,
};

/// Go on in the sequence of the active step without using the tool that is due
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/advance", tag = "steps", operation_id = "advance_sequence",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
pub(crate) async fn advance(
    on: On<GoThroughSteps>,
    asked: Asked<Nothing>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let Nothing {} = asked.body;
    change(&on, asked.terms, Command::Steps(StepsChange::Advance)).await
}
