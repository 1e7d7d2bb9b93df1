//! `GET /v1/sessions/{session}/runs/{run}`

use callboard_core::id::RunId;

use super::RunBody;
use crate::{answer::Answer, caller::On, params::Name, problem::Problem, rights::ReadRuns};

/// Read a run
#[utoipa::path(get, path = "/v1/sessions/{session}/runs/{run}", tag = "runs", operation_id = "read_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run", body = RunBody)))]
pub(crate) async fn read(on: On<ReadRuns>, Name(run): Name<RunId>) -> Result<Answer<RunBody>, Problem> {
    let body = on.session.view(&on.viewer(), |view| Ok(RunBody::seen(&view, view.state.runs.get(&run)?))).await?;
    Ok(Answer::ok(body))
}
