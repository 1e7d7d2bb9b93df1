//! Runs.

use std::sync::Arc;

use callboard_core::{
    command::{Command, KeptAnswer},
    conversation::ToolCall,
    id::{AgentName, RunId, SetName},
    run::{CancelRun, Due, Kind, Limits, NewRun, PauseRun, ResumeRun, Run, Status, Used, Wait},
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    params::Name,
    problem::Problem,
    rights::{BringResults, ReadRuns, StartRun, SteerRun},
    shape,
    write_options::WriteOptions,
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

/// A run, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunBody {
    #[schema(value_type = String)]
    id: RunId,
    /// `team`.
    #[schema(value_type = String)]
    kind: Kind,
    /// `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    status: Status,
    /// Why it is held or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The form that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    form: Option<SetName>,
    /// The agent whose tools it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    agent: Option<AgentName>,
    /// The calls of tools whose results it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<shape::message::ToolCallShape>, required = false)]
    tool_calls: Vec<ToolCall>,
    /// How many turns were requested.
    turns: u64,
    #[schema(value_type = shape::session::LimitsShape)]
    limits: Limits,
    /// What it has used altogether.
    #[schema(value_type = UsedShape)]
    used: Used,
    /// Who drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    node: Option<Arc<str>>,
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
}

#[derive(ToSchema)]
#[schema(as = Used)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct UsedShape {
    turns: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    milliseconds: u64,
}

impl RunBody {
    /// What a viewer sees of a run. A worker with whom runs are shared sees its course, not what is said in it.
    fn seen(view: &View<'_>, run: &Run) -> Self {
        let whole = view.is_in_charge();
        let (form, agent, tool_calls) = match view.due(run) {
            Some(Due::Wait(Wait::User { form })) => (form, None, Vec::new()),
            Some(Due::Wait(Wait::Tools { agent, calls })) => (None, Some(agent), calls),
            _ => (None, None, Vec::new()),
        };
        Self {
            id: run.id.clone(),
            kind: run.kind,
            status: run.status(),
            reason: view.reason(run),
            form,
            agent,
            tool_calls,
            turns: run.turns,
            limits: run.limits.clone(),
            used: run.used_in_all,
            node: run.node.clone().filter(|_| whole),
            started_at: run.started_at,
        }
    }
}

/// Runs by id.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunList {
    runs: Vec<RunBody>,
}

/// List runs
#[utoipa::path(get, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "list_runs",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The runs of the session", body = RunList)))]
async fn list(caller: Authorized<ReadRuns>) -> Result<Answer<RunList>, Problem> {
    let look = |view: View<'_>| Ok(view.state.runs.iter().map(|run| RunBody::seen(&view, run)).collect());
    Ok(Answer::ok(RunList { runs: caller.session.view(&caller.viewer(), look).await? }))
}

/// What is to be done.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewRun)]
pub(crate) struct NewRunBody {
    #[schema(value_type = KindShape)]
    kind: Kind,
    /// It becomes a message of the user's in `main`.
    #[schema(value_type = shape::text::Saying)]
    input: Arc<str>,
    /// As the session says, where they are left out.
    #[schema(value_type = Option<shape::session::LimitsShape>)]
    limits: Option<Limits>,
}

#[derive(ToSchema)]
#[schema(as = RunKind, rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum KindShape {
    Team,
}

/// Start a run
#[utoipa::path(post, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "start_run",
    params(("session" = String, Path, description = "The session")),
    request_body = NewRunBody,
    responses((status = CREATED, description = "The run", body = RunBody)))]
async fn start(caller: Authorized<StartRun>, request: RequestBody<NewRunBody>) -> Result<Answer<RunBody>, Problem> {
    let NewRunBody { kind, input, limits } = request.body;
    let receipt = caller.execute(request.options, NewRun { kind, input, limits }).await?;
    let run = receipt.answer;
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    caller.app.drivers.drive(caller.session.clone(), run);
    Ok(Answer::created(body).at(receipt.head))
}

/// Read a run
#[utoipa::path(get, path = "/v1/sessions/{session}/runs/{run}", tag = "runs", operation_id = "read_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run", body = RunBody)))]
async fn read(caller: Authorized<ReadRuns>, Name(run): Name<RunId>) -> Result<Answer<RunBody>, Problem> {
    let body =
        caller.session.view(&caller.viewer(), |view| Ok(RunBody::seen(&view, view.state.runs.get(&run)?))).await?;
    Ok(Answer::ok(body))
}

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
async fn pause(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Pause>,
) -> Result<Answer<RunBody>, Problem> {
    let reason = request.body.reason.unwrap_or_else(|| format!("{} asked for it", caller.actor));
    if reason.chars().count() > 1000 {
        return Err(Problem::invalid("/reason", "use at most 1,000 characters"));
    }
    steer(&caller, request.options, run.clone(), PauseRun { run, reason }).await
}

/// Let a held run go on, with its limits anew
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/resume", tag = "runs", operation_id = "resume_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = RunBody)))]
async fn resume(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<RunBody>, Problem> {
    let Empty {} = request.body;
    let answer = steer(&caller, request.options, run.clone(), ResumeRun(run.clone())).await?;
    caller.app.drivers.drive(caller.session.clone(), run);
    Ok(answer)
}

/// End a run before it is done
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = RunBody)))]
async fn cancel(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<RunBody>, Problem> {
    let Empty {} = request.body;
    steer(&caller, request.options, run.clone(), CancelRun(run)).await
}

async fn steer(
    caller: &Authorized<SteerRun>,
    options: WriteOptions,
    run: RunId,
    command: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<RunBody>, Problem> {
    let receipt = caller.execute(options, command).await?;
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

/// What tools gave.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolResults {
    results: Vec<ToolResult>,
}

/// What one call of a tool gave.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ToolResult {
    /// The `id` of the call.
    tool_call_id: String,
    /// What it gave, as the model is to read it.
    content: String,
}

/// Bring the results of tool calls that a run waits for
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/tool-results", tag = "runs",
    operation_id = "bring_tool_results",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    request_body = ToolResults,
    responses((status = OK, description = "The run after it", body = RunBody)))]
async fn bring(
    caller: Authorized<BringResults>,
    Name(run): Name<RunId>,
    request: RequestBody<ToolResults>,
) -> Result<Answer<RunBody>, Problem> {
    let results = request.body.results.into_iter().map(|result| (result.tool_call_id, result.content)).collect();
    let receipt =
        caller.execute(request.options, callboard_core::run::ToolResults { run: run.clone(), results }).await?;
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
