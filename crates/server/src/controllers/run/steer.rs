//! `POST /v1/sessions/{session}/runs/{run}/{pause,resume,cancel}`

use callboard_core::{command::Command, id::RunId, view::View};
use serde::Deserialize;
use utoipa::ToSchema;

use super::RunBody;
use crate::{
    answer::Answer,
    body::{Asked, Nothing},
    caller::On,
    params::Name,
    problem::Problem,
    rights::SteerRun,
    terms::Terms,
};

/// Why a run is held.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pause {
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

/// Hold a run. A turn that is under way is finished
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/pause", tag = "runs", operation_id = "pause_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    request_body = Option<Pause>,
    responses((status = OK, description = "The run after it", body = RunBody)))]
pub(crate) async fn pause(
    on: On<SteerRun>,
    Name(run): Name<RunId>,
    asked: Asked<Pause>,
) -> Result<Answer<RunBody>, Problem> {
    let reason = asked.body.reason.unwrap_or_else(|| format!("{} asked for it", on.actor));
    if reason.chars().count() > 1000 {
        return Err(Problem::invalid("/reason", "use at most 1,000 characters"));
    }
    steer(&on, asked.terms, run.clone(), Command::PauseRun(run, reason)).await
}

/// Let a held run go on, with its limits anew
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/resume", tag = "runs", operation_id = "resume_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = RunBody)))]
pub(crate) async fn resume(
    on: On<SteerRun>,
    Name(run): Name<RunId>,
    asked: Asked<Nothing>,
) -> Result<Answer<RunBody>, Problem> {
    let Nothing {} = asked.body;
    let answer = steer(&on, asked.terms, run.clone(), Command::ResumeRun(run.clone())).await?;
    on.app.drivers.drive(on.session.clone(), run);
    Ok(answer)
}

/// End a run before it is done
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = RunBody)))]
pub(crate) async fn cancel(
    on: On<SteerRun>,
    Name(run): Name<RunId>,
    asked: Asked<Nothing>,
) -> Result<Answer<RunBody>, Problem> {
    let Nothing {} = asked.body;
    steer(&on, asked.terms, run.clone(), Command::CancelRun(run)).await
}

async fn steer(on: &On<SteerRun>, terms: Terms, run: RunId, command: Command) -> Result<Answer<RunBody>, Problem> {
    let receipt = on.execute(terms, command).await?;
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
