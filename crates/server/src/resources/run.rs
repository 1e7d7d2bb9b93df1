//! Runs.

use callboard_core::{
    command::{Command, KeptAnswer},
    id::RunId,
    run::{CancelRun, NewRun, PauseRun, ResumeRun, Run, ToolResults},
    view::View,
};

use crate::{call::*, rights::ReadRuns, write_options::WriteOptions};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_runs, start_run))
        .routes(routes!(read_run))
        .routes(routes!(pause_run))
        .routes(routes!(resume_run))
        .routes(routes!(cancel_run))
        .routes(routes!(bring_tool_results))
}

/// List runs
#[utoipa::path(get, path = "/v1/sessions/{session}/runs", tag = "runs",
    responses((status = OK, description = "The newest 100 runs of the session, the newest first", body = api::RunList)))]
async fn list_runs(caller: Authorized<ReadRuns>) -> Result<Answer<api::RunList>, CallError> {
    let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
    Ok(Answer::ok(api::RunList { runs: caller.session.view_runs(&caller.viewer(), look).await? }))
}

/// Start a run of the team, or of the manager as a director
#[utoipa::path(post, path = "/v1/sessions/{session}/runs", tag = "runs",
    request_body = NewRun,
    responses((status = CREATED, description = "The run", body = api::Run)))]
async fn start_run(
    caller: Authorized<NewRun>,
    RequestBody { body, options }: RequestBody<NewRun>,
) -> Result<Answer<api::Run>, CallError> {
    let look = |view: View<'_>, run: RunId| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
    let answer = caller.change(options, body, look).await?;
    caller.app.drivers.drive(caller.session.clone(), answer.body.id.clone());
    Ok(answer.created())
}

/// Read a run
#[utoipa::path(get, path = "/v1/sessions/{session}/runs/{run}", tag = "runs",
    params(InPath<RunId>),
    responses((status = OK, description = "The run", body = api::Run)))]
async fn read_run(caller: Authorized<ReadRuns>, InPath(run): InPath<RunId>) -> Result<Answer<api::Run>, CallError> {
    let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
    Ok(Answer::ok(caller.session.view_run(&caller.viewer(), &run, look).await?))
}

/// Pause a run
///
/// A turn that was already requested is finished first.
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/pause", tag = "runs",
    params(InPath<RunId>),
    request_body = Option<api::Pause>,
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn pause_run(
    caller: Authorized<PauseRun>,
    InPath(run): InPath<RunId>,
    RequestBody { body, options }: RequestBody<api::Pause>,
) -> Result<Answer<api::Run>, CallError> {
    let reason = body.reason.unwrap_or_else(|| format!("{} asked for it", caller.actor));
    if reason.chars().count() > 1000 {
        return Err(CallError::invalid("/reason", "use at most 1,000 characters"));
    }
    steer(&caller, options, run.clone(), PauseRun { run, reason }).await
}

/// Resume a paused run
///
/// Its limits count from zero again.
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/resume", tag = "runs",
    params(InPath<RunId>),
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn resume_run(
    caller: Authorized<ResumeRun>,
    InPath(run): InPath<RunId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Run>, CallError> {
    let answer = steer(&caller, options, run.clone(), ResumeRun(run.clone())).await?;
    caller.app.drivers.drive(caller.session.clone(), run);
    Ok(answer)
}

/// Cancel a run
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/cancel", tag = "runs",
    params(InPath<RunId>),
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn cancel_run(
    caller: Authorized<CancelRun>,
    InPath(run): InPath<RunId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Run>, CallError> {
    steer(&caller, options, run.clone(), CancelRun(run)).await
}

/// Send the results of tool calls that a run waits for
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/tool-results", tag = "runs",
    params(InPath<RunId>),
    request_body = api::ToolResults,
    responses((status = OK, description = "The run after the change", body = api::Run)))]
async fn bring_tool_results(
    caller: Authorized<ToolResults>,
    InPath(run): InPath<RunId>,
    RequestBody { body, options }: RequestBody<api::ToolResults>,
) -> Result<Answer<api::Run>, CallError> {
    let results = body.results.into_iter().map(|result| (result.tool_call_id, result.content)).collect();
    steer(&caller, options, run.clone(), ToolResults::new(run, results)).await
}

async fn steer<R>(
    caller: &Authorized<R>,
    options: WriteOptions,
    run: RunId,
    command: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Run>, CallError> {
    caller.change(options, command, |view, _| Ok(api::Run::seen(&view, view.state.runs.get(&run)?))).await
}
