//! `GET /v1/sessions/{session}/runs`

use callboard_core::view::View;
use serde::Serialize;
use utoipa::ToSchema;

use super::RunBody;
use crate::{answer::Answer, caller::On, problem::Problem, rights::ReadRuns};

/// Runs by id.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunList {
    runs: Vec<RunBody>,
}

/// List runs
#[utoipa::path(get, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "list_runs",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The runs of the session", body = RunList)))]
pub(crate) async fn list(on: On<ReadRuns>) -> Result<Answer<RunList>, Problem> {
    let look = |view: View<'_>| Ok(view.state.runs.iter().map(|run| RunBody::seen(&view, run)).collect());
    Ok(Answer::ok(RunList { runs: on.session.view(&on.viewer(), look).await? }))
}
