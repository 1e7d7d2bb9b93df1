//! The state of a team's steps.

use callboard_core::{
    command::{Command, KeptAnswer},
    error::Error as Refusal,
    session::SessionPatch,
    step::{Place, StepsChange, offer::offer},
};

use crate::{call::*, rights::ReadSession, write_options::WriteOptions};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_orchestration, update_orchestration))
        .routes(routes!(use_tool))
        .routes(routes!(advance_sequence))
        .routes(routes!(reset_orchestration))
        .routes(routes!(report_usage))
        .routes(routes!(allowed_tools))
}

/// Read the state of the steps
#[utoipa::path(get, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    responses((status = OK, description = "The state of the steps", body = api::Orchestration)))]
async fn read_orchestration(caller: Authorized<ReadSession>) -> Result<Answer<api::Orchestration>, CallError> {
    let last_accessed = caller.session.info().await?.last_activity;
    let body = caller.session.view(&caller.viewer(), |view| api::Orchestration::seen(&view, last_accessed)).await?;
    Ok(Answer::ok(body))
}

/// Change the active step, or the place in its sequence
#[utoipa::path(patch, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    request_body = Option<api::OrchestrationPatch>,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn update_orchestration(
    caller: Authorized<StepsChange>,
    RequestBody { body, options }: RequestBody<api::OrchestrationPatch>,
) -> Result<Answer<api::Orchestration>, CallError> {
    let api::OrchestrationPatch { active_step, sequence_index, ttl_seconds } = body;
    let place = Some(Place { active_step, sequence_index });
    change(&caller, options, SessionPatch { place, ttl_seconds, ..SessionPatch::default() }).await
}

/// Record the use of a tool
///
/// The tool is recorded, the sequence advances, and the active step is chosen, in one change. If another tool is due, the
/// answer is 409 and names that tool.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/tools", tag = "steps",
    request_body = api::UsedTool,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn use_tool(
    caller: Authorized<StepsChange>,
    RequestBody { body, options }: RequestBody<api::UsedTool>,
) -> Result<Answer<api::Orchestration>, CallError> {
    change(&caller, options, StepsChange::UseTool(body.tool)).await
}

/// Skip the tool that is due in the sequence of the active step
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/advance", tag = "steps",
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn advance_sequence(
    caller: Authorized<StepsChange>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, CallError> {
    change(&caller, options, StepsChange::Advance).await
}

/// Reset the steps
///
/// Used tools and counted tokens are cleared, and the default step is active.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/reset", tag = "steps",
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn reset_orchestration(
    caller: Authorized<StepsChange>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, CallError> {
    change(&caller, options, StepsChange::Reset).await
}

/// Add to the tokens that models used
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/usage", tag = "steps",
    request_body = Option<api::ReportedUsage>,
    responses((status = OK, description = "The state of the steps after the change", body = api::Orchestration)))]
async fn report_usage(
    caller: Authorized<StepsChange>,
    RequestBody { body, options }: RequestBody<api::ReportedUsage>,
) -> Result<Answer<api::Orchestration>, CallError> {
    change(&caller, options, StepsChange::Report(body)).await
}

/// Check which tools may be used now
///
/// If the tool that is due is not among them, the answer is 409 and names it.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/allowed-tools", tag = "steps",
    request_body = api::Tools,
    responses((status = OK, description = "The allowed tools, and the denied ones with the reason", body = api::Offer)))]
async fn allowed_tools(
    caller: Authorized<ReadSession>,
    RequestBody { body, .. }: RequestBody<api::Tools>,
) -> Result<Answer<api::Offer>, CallError> {
    let tools = body.tools;
    for (at, tool) in tools.iter().enumerate() {
        caller.session.check_name(&format!("/tools/{at}"), tool).await?;
    }
    let viewer = caller.viewer();
    let offered = caller.session.view(&viewer, |view| {
        if view.state.session.settings.steps.is_empty() {
            return Err(Refusal::NoSteps);
        }
        offer(view.state, tools.iter().map(String::as_str))
    });
    Ok(Answer::ok(offered.await?))
}

/// Makes a change, and gives the state after it.
async fn change(
    caller: &Authorized<StepsChange>,
    options: WriteOptions,
    change: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Orchestration>, CallError> {
    caller.change(options, change, |view, _| api::Orchestration::seen(&view, view.state.last_at)).await
}
