//! `GET /v1/sessions/{session}/orchestration`

use super::OrchestrationBody;
use crate::{answer::Answer, caller::On, problem::Problem, rights::ReadSteps};

/// Say where the team is among its steps
#[utoipa::path(get, path = "/v1/sessions/{session}/orchestration", tag = "steps", operation_id = "read_orchestration",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "Where it is", body = OrchestrationBody)))]
pub(crate) async fn read(on: On<ReadSteps>) -> Result<Answer<OrchestrationBody>, Problem> {
    let last_accessed = on.session.info().await?.last_activity;
    let body = on.session.view(&on.viewer(), |view| OrchestrationBody::seen(&view, last_accessed)).await?;
    Ok(Answer::ok(body))
}
