//! Where a team is among its steps.

use callboard_api as api;
use callboard_core::{
    command::{Command, KeptAnswer},
    error::Error as Refusal,
    run::Usage,
    session::SessionPatch,
    step::{
        Place, StepsChange,
        offer::{Offer, offer},
    },
    view::View,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    problem::Problem,
    rights::{GoThroughSteps, ReadSteps},
    write_options::WriteOptions,
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

/// Makes a change and gives the state after it.
async fn change(
    caller: &Authorized<GoThroughSteps>,
    options: WriteOptions,
    change: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Orchestration>, Problem> {
    let receipt = caller.execute(options, change).await?;
    let look = |view: View<'_>| api::Orchestration::seen(&view, view.state.last_at);
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

/// Say where the team is among its steps
#[utoipa::path(get, path = "/v1/sessions/{session}/orchestration", tag = "steps", operation_id = "read_orchestration",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "Where it is", body = api::Orchestration)))]
async fn read(caller: Authorized<ReadSteps>) -> Result<Answer<api::Orchestration>, Problem> {
    caller.read_orchestration().await
}

/// Set where the team is among its steps
#[utoipa::path(patch, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    operation_id = "update_orchestration",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::OrchestrationPatch>,
    responses((status = OK, description = "The state after it", body = api::Orchestration)))]
async fn update(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::OrchestrationPatch>,
) -> Result<Answer<api::Orchestration>, Problem> {
    caller.update_orchestration(request).await
}

/// Take in that a tool was used
///
/// Noting it, advancing the sequence and choosing the step are one change. One that is not the due one is refused with
/// 409, which names the one that is.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/tools", tag = "steps", operation_id = "use_tool",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::UsedTool,
    responses((status = OK, description = "The state after it", body = api::Orchestration)))]
async fn tools(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::UsedTool>,
) -> Result<Answer<api::Orchestration>, Problem> {
    caller.use_tool(request).await
}

/// Go on in the sequence of the active step without using the tool that is due
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/advance", tag = "steps", operation_id = "advance_sequence",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = api::Orchestration)))]
async fn advance(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, Problem> {
    caller.advance_sequence(request).await
}

/// Begin anew: nothing used, nothing counted, in the default step
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/reset", tag = "steps", operation_id = "reset_orchestration",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = api::Orchestration)))]
async fn reset(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Orchestration>, Problem> {
    caller.reset_orchestration(request).await
}

/// Add what a model used
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/usage", tag = "steps", operation_id = "report_usage",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::ReportedUsage>,
    responses((status = OK, description = "The state after it", body = api::Orchestration)))]
async fn usage(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<api::ReportedUsage>,
) -> Result<Answer<api::Orchestration>, Problem> {
    caller.report_usage(request).await
}

/// Say which of some tools may be used now
///
/// Where the tool that is due is not among them, the answer is 409, which names it.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/allowed-tools", tag = "steps",
    operation_id = "allowed_tools",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::Tools,
    responses((status = OK, description = "Which may be used, and why others may not", body = api::Offer)))]
async fn allowed_tools(
    caller: Authorized<ReadSteps>,
    request: RequestBody<api::Tools>,
) -> Result<Answer<Offer>, Problem> {
    caller.allowed_tools(request).await
}

impl Authorized<ReadSteps> {
    /// Say where the team is among its steps
    pub(crate) async fn read_orchestration(&self) -> Result<Answer<api::Orchestration>, Problem> {
        let last_accessed = self.session.info().await?.last_activity;
        let body = self.session.view(&self.viewer(), |view| api::Orchestration::seen(&view, last_accessed)).await?;
        Ok(Answer::ok(body))
    }

    /// Say which of some tools may be used now
    pub(crate) async fn allowed_tools(&self, request: RequestBody<api::Tools>) -> Result<Answer<Offer>, Problem> {
        let tools = request.body.tools;
        let viewer = self.viewer();
        let offered = self.session.view(&viewer, |view| {
            if view.state.session.settings.steps.is_empty() {
                return Err(Refusal::NoSteps);
            }
            offer(view.state, tools.iter().map(String::as_str))
        });
        Ok(Answer::ok(offered.await?))
    }
}

impl Authorized<GoThroughSteps> {
    /// Set where the team is among its steps
    pub(crate) async fn update_orchestration(
        &self,
        request: RequestBody<api::OrchestrationPatch>,
    ) -> Result<Answer<api::Orchestration>, Problem> {
        let api::OrchestrationPatch { active_step, sequence_index, ttl_seconds } = request.body;
        let place = StepsChange::Set(Place { active_step, sequence_index });
        let lifetime = SessionPatch { ttl_seconds, ..SessionPatch::default() };
        change(self, request.options, (place, lifetime)).await
    }

    /// Take in that a tool was used
    pub(crate) async fn use_tool(
        &self,
        request: RequestBody<api::UsedTool>,
    ) -> Result<Answer<api::Orchestration>, Problem> {
        change(self, request.options, StepsChange::UseTool(request.body.tool)).await
    }

    /// Go on in the sequence of the active step without using the tool that is due
    pub(crate) async fn advance_sequence(
        &self,
        request: RequestBody<Empty>,
    ) -> Result<Answer<api::Orchestration>, Problem> {
        let Empty {} = request.body;
        change(self, request.options, StepsChange::Advance).await
    }

    /// Begin anew: nothing used, nothing counted, in the default step
    pub(crate) async fn reset_orchestration(
        &self,
        request: RequestBody<Empty>,
    ) -> Result<Answer<api::Orchestration>, Problem> {
        let Empty {} = request.body;
        change(self, request.options, StepsChange::Reset).await
    }

    /// Add what a model used
    pub(crate) async fn report_usage(
        &self,
        request: RequestBody<api::ReportedUsage>,
    ) -> Result<Answer<api::Orchestration>, Problem> {
        let api::ReportedUsage { prompt_tokens, completion_tokens } = request.body;
        change(self, request.options, StepsChange::Report(Usage { prompt_tokens, completion_tokens })).await
    }
}
