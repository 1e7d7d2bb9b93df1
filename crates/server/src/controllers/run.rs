//! Runs.

use callboard_api as api;
use callboard_core::id::RunId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Created,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{BringResults, ReadRuns, StartRun, SteerRun},
    },
    params::Name,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, start))
        .routes(routes!(read))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(cancel))
        .routes(routes!(bring))
}

/// List runs
#[utoipa::path(get, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "list_runs",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The newest 100 runs of the session, the newest first", body = api::RunList)))]
async fn list(caller: Authorized<ReadRuns>) -> Result<Answer<api::RunList>, CallError> {
    caller.list_runs().await
}

/// Start a run of the team, or of the manager as a director
#[utoipa::path(post, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "start_run",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::NewRun,
    responses((status = CREATED, description = "The run", body = api::Run)))]
async fn start(
    caller: Authorized<StartRun>,
    request: RequestBody<api::NewRun>,
) -> Result<Created<api::Run>, CallError> {
    caller.start_run(request.body, request.options).await.map(Created)
}

/// Read a run
#[utoipa::path(get, path = "/v1/sessions/{session}/runs/{run}", tag = "runs", operation_id = "read_run",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("run" = api::RunId, Path, description = "The id of the run")),
    responses((status = OK, description = "The run", body = api::Run)))]
async fn read(caller: Authorized<ReadRuns>, Name(run): Name<RunId>) -> Result<Answer<api::Run>, CallError> {
    caller.read_run(run).await
}

/// Pause a run
///
/// A turn that was already requested is finished first.
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/pause", tag = "runs", operation_id = "pause_run",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("run" = api::RunId, Path, description = "The id of the run")),
    request_body = Option<api::Pause>,
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn pause(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<api::Pause>,
) -> Result<Answer<api::Run>, CallError> {
    caller.pause_run(run, request.body, request.options).await
}

/// Resume a paused run
///
/// Its limits count from zero again.
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/resume", tag = "runs", operation_id = "resume_run",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("run" = api::RunId, Path, description = "The id of the run")),
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn resume(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Run>, CallError> {
    caller.resume_run(run, request.options).await
}

/// Cancel a run
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("run" = api::RunId, Path, description = "The id of the run")),
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn cancel(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Run>, CallError> {
    caller.cancel_run(run, request.options).await
}

/// Send the results of tool calls that a run waits for
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/tool-results", tag = "runs",
    operation_id = "bring_tool_results",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("run" = api::RunId, Path, description = "The id of the run")),
    request_body = api::ToolResults,
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn bring(
    caller: Authorized<BringResults>,
    Name(run): Name<RunId>,
    request: RequestBody<api::ToolResults>,
) -> Result<Answer<api::Run>, CallError> {
    caller.bring_tool_results(run, request.body, request.options).await
}
