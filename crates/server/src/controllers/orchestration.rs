//! The state of a team's steps.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{GoThroughSteps, ReadSteps},
    },
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read, update))
        .routes(routes!(tools))
        .routes(routes!(advance))
        .routes(routes!(reset))
        .routes(routes!(usage))
        .routes(routes!(allowed_tools))
}

/// Read the state of the steps
#[utoipa::path(get, path = "/v1/sessions/{session}/orchestration", tag = "steps", operation_id = "read_orchestration",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The state of the steps", body = api::Orchestration)))]
async fn read(caller: Authorized<ReadSteps>) -> Result<Answer<api::Orchestration>, CallError> {
    caller.read_orchestration().await
}

/// Change the active step, or the place in its sequence
#[utoipa::path(patch, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    operation_id = "update_orchestration",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::OrchestrationPatch>,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn update(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::OrchestrationPatch>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.update_orchestration(request.body, request.options).await
}

/// Record the use of a tool
///
/// The tool is recorded, the sequence advances, and the active step is chosen, in one change. If another tool is due, the
/// answer is 409 and names that tool.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/tools", tag = "steps", operation_id = "use_tool",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::UsedTool,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn tools(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::UsedTool>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.use_tool(request.body, request.options).await
}

/// Skip the tool that is due in the sequence of the active step
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/advance", tag = "steps", operation_id = "advance_sequence",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn advance(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.advance_sequence(request.options).await
}

/// Reset the steps
///
/// Used tools and counted tokens are cleared, and the default step is active.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/reset", tag = "steps", operation_id = "reset_orchestration",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn reset(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.reset_orchestration(request.options).await
}

/// Add to the tokens that models used
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/usage", tag = "steps", operation_id = "report_usage",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::ReportedUsage>,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn usage(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::ReportedUsage>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.report_usage(request.body, request.options).await
}

/// Check which tools may be used now
///
/// If the tool that is due is not among them, the answer is 409 and names it.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/allowed-tools", tag = "steps",
    operation_id = "allowed_tools",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::Tools,
    responses((status = OK, description = "The allowed tools, and the denied ones with the reason", body = api::Offer)))]
async fn allowed_tools(
    caller: Authorized<ReadSteps>,
    request: RequestBody<api::Tools>,
) -> Result<Answer<api::Offer>, CallError> {
    caller.allowed_tools(request.body).await
}
