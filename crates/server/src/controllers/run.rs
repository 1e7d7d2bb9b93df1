//! Runs.

use callboard_api as api;
use callboard_core::{
    command::{Command, KeptAnswer},
    id::RunId,
    run::{CancelRun, NewRun, PauseRun, ResumeRun, Run, ToolResults},
    view::View,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, Created},
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    params::Name,
    problem::Problem,
    rights::{BringResults, ReadRuns, StartRun, SteerRun},
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

/// List runs
#[utoipa::path(get, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "list_runs",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The runs of the session, the newest first, at most 100", body = api::RunList)))]
async fn list(caller: Authorized<ReadRuns>) -> Result<Answer<api::RunList>, Problem> {
    caller.list_runs().await
}

/// Start a run
#[utoipa::path(post, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "start_run",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::NewRun,
    responses((status = CREATED, description = "The run", body = api::Run)))]
async fn start(caller: Authorized<StartRun>, request: RequestBody<api::NewRun>) -> Result<Created<api::Run>, Problem> {
    caller.start_run(request).await.map(Created)
}

/// Read a run
#[utoipa::path(get, path = "/v1/sessions/{session}/runs/{run}", tag = "runs", operation_id = "read_run",
    params(("session" = api::SessionId, Path, description = "The session"), ("run" = api::RunId, Path, description = "The run")),
    responses((status = OK, description = "The run", body = api::Run)))]
async fn read(caller: Authorized<ReadRuns>, Name(run): Name<RunId>) -> Result<Answer<api::Run>, Problem> {
    caller.read_run(run).await
}

/// Hold a run. A turn that is under way is finished
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/pause", tag = "runs", operation_id = "pause_run",
    params(("session" = api::SessionId, Path, description = "The session"), ("run" = api::RunId, Path, description = "The run")),
    request_body = Option<api::Pause>,
    responses((status = OK, description = "The run after it", body = api::Run)))]
async fn pause(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<api::Pause>,
) -> Result<Answer<api::Run>, Problem> {
    caller.pause_run(run, request).await
}

/// Let a held run go on, with its limits anew
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/resume", tag = "runs", operation_id = "resume_run",
    params(("session" = api::SessionId, Path, description = "The session"), ("run" = api::RunId, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = api::Run)))]
async fn resume(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Run>, Problem> {
    caller.resume_run(run, request).await
}

/// End a run before it is done
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("session" = api::SessionId, Path, description = "The session"), ("run" = api::RunId, Path, description = "The run")),
    responses((status = OK, description = "The run after it", body = api::Run)))]
async fn cancel(
    caller: Authorized<SteerRun>,
    Name(run): Name<RunId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Run>, Problem> {
    caller.cancel_run(run, request).await
}

async fn steer(
    caller: &Authorized<SteerRun>,
    options: WriteOptions,
    run: RunId,
    command: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Run>, Problem> {
    let receipt = caller.execute(options, command).await?;
    let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

/// Bring the results of tool calls that a run waits for
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/tool-results", tag = "runs",
    operation_id = "bring_tool_results",
    params(("session" = api::SessionId, Path, description = "The session"), ("run" = api::RunId, Path, description = "The run")),
    request_body = api::ToolResults,
    responses((status = OK, description = "The run after it", body = api::Run)))]
async fn bring(
    caller: Authorized<BringResults>,
    Name(run): Name<RunId>,
    request: RequestBody<api::ToolResults>,
) -> Result<Answer<api::Run>, Problem> {
    caller.bring_tool_results(run, request).await
}

impl Authorized<ReadRuns> {
    /// List runs
    pub(crate) async fn list_runs(&self) -> Result<Answer<api::RunList>, Problem> {
        let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
        Ok(Answer::ok(api::RunList { runs: self.session.view_runs(&self.viewer(), look).await? }))
    }

    /// Read a run
    pub(crate) async fn read_run(&self, run: RunId) -> Result<Answer<api::Run>, Problem> {
        let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
        Ok(Answer::ok(self.session.view_run(&self.viewer(), &run, look).await?))
    }
}

impl Authorized<StartRun> {
    /// Start a run
    pub(crate) async fn start_run(&self, request: RequestBody<api::NewRun>) -> Result<Answer<api::Run>, Problem> {
        let api::NewRun { kind, input, limits } = request.body;
        let receipt = self.execute(request.options, NewRun { kind, input, limits }).await?;
        let run = receipt.answer;
        let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        self.app.drivers.drive(self.session.clone(), run);
        Ok(Answer::ok(body).at(receipt.head))
    }
}

impl Authorized<SteerRun> {
    /// Hold a run. A turn that is under way is finished
    pub(crate) async fn pause_run(
        &self,
        run: RunId,
        request: RequestBody<api::Pause>,
    ) -> Result<Answer<api::Run>, Problem> {
        let reason = request.body.reason.unwrap_or_else(|| format!("{} asked for it", self.actor));
        if reason.chars().count() > 1000 {
            return Err(Problem::invalid("/reason", "use at most 1,000 characters"));
        }
        steer(self, request.options, run.clone(), PauseRun { run, reason }).await
    }

    /// Let a held run go on, with its limits anew
    pub(crate) async fn resume_run(
        &self,
        run: RunId,
        request: RequestBody<Empty>,
    ) -> Result<Answer<api::Run>, Problem> {
        let Empty {} = request.body;
        let answer = steer(self, request.options, run.clone(), ResumeRun(run.clone())).await?;
        self.app.drivers.drive(self.session.clone(), run);
        Ok(answer)
    }

    /// End a run before it is done
    pub(crate) async fn cancel_run(
        &self,
        run: RunId,
        request: RequestBody<Empty>,
    ) -> Result<Answer<api::Run>, Problem> {
        let Empty {} = request.body;
        steer(self, request.options, run.clone(), CancelRun(run)).await
    }
}

impl Authorized<BringResults> {
    /// Bring the results of tool calls that a run waits for
    pub(crate) async fn bring_tool_results(
        &self,
        run: RunId,
        request: RequestBody<api::ToolResults>,
    ) -> Result<Answer<api::Run>, Problem> {
        let results = request.body.results.into_iter().map(|result| (result.tool_call_id, result.content)).collect();
        let receipt = self.execute(request.options, ToolResults { run: run.clone(), results }).await?;
        let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
}
