//! Where a team is among its steps.

use std::sync::Arc;

use callboard_core::{
    command::{Command, KeptAnswer},
    error::Error as Refusal,
    id::StepName,
    number,
    run::Usage,
    session::{SessionPatch, Ttl},
    step::{
        Place, Progress, StepsChange,
        offer::{Offer, offer},
    },
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    problem::Problem,
    rights::{GoThroughSteps, ReadSteps},
    shape,
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

/// Where a team is among its steps.
#[derive(Serialize, ToSchema)]
#[schema(as = Orchestration)]
pub(crate) struct OrchestrationBody {
    /// The step that is active; `null` where none is.
    #[schema(value_type = Option<String>)]
    active_step: Option<StepName>,
    /// The last 256 tools that were used, oldest first.
    #[schema(value_type = Vec<String>)]
    recently_used_tools: Vec<Arc<str>>,
    /// How many tools of the active step's sequence were used; as many as it has where it is finished.
    sequence_index: usize,
    /// What models used; for the user and the manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    cumulative_token_usage: Option<UsageBody>,
    #[schema(value_type = String, format = DateTime)]
    last_accessed: Timestamp,
    #[schema(value_type = shape::session::TtlShape)]
    ttl_seconds: Ttl,
}

/// What models used, added up.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenUsage)]
struct UsageBody {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl OrchestrationBody {
    fn seen(view: &View<'_>, last_accessed: Timestamp) -> Result<Self, Refusal> {
        let settings = &view.state.session.settings;
        if settings.steps.is_empty() {
            return Err(Refusal::NoSteps);
        }
        let progress: &Progress = &view.state.steps;
        let usage = progress.usage();
        let usage = UsageBody {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.prompt_tokens.saturating_add(usage.completion_tokens),
        };
        Ok(Self {
            active_step: progress.active(&settings.steps).map(|step| step.name.clone()),
            recently_used_tools: progress.recently_used_tools().cloned().collect(),
            sequence_index: progress.sequence_index(),
            cumulative_token_usage: view.is_in_charge().then_some(usage),
            last_accessed,
            ttl_seconds: settings.ttl_seconds,
        })
    }
}

/// Makes a change and gives the state after it.
async fn change(
    caller: &Authorized<GoThroughSteps>,
    options: WriteOptions,
    change: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let receipt = caller.execute(options, change).await?;
    let look = |view: View<'_>| OrchestrationBody::seen(&view, view.state.last_at);
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

/// Say where the team is among its steps
#[utoipa::path(get, path = "/v1/sessions/{session}/orchestration", tag = "steps", operation_id = "read_orchestration",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "Where it is", body = OrchestrationBody)))]
async fn read(caller: Authorized<ReadSteps>) -> Result<Answer<OrchestrationBody>, Problem> {
    let last_accessed = caller.session.info().await?.last_activity;
    let body = caller.session.view(&caller.viewer(), |view| OrchestrationBody::seen(&view, last_accessed)).await?;
    Ok(Answer::ok(body))
}

/// Where the team is to be among its steps; what is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OrchestrationPatch)]
pub(crate) struct PatchBody {
    /// The step; entering it starts its sequence. `null` is the default one.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<shape::text::Label>)]
    active_step: Option<Option<StepName>>,
    /// How many tools of the step's sequence were used.
    #[serde(default, deserialize_with = "number::whole_or_none")]
    #[schema(value_type = Option<u64>)]
    sequence_index: Option<usize>,
    /// The inactivity after which the session expires: seconds above 0, or `never`.
    #[schema(value_type = Option<shape::session::TtlShape>)]
    ttl_seconds: Option<Ttl>,
}

/// Set where the team is among its steps
#[utoipa::path(patch, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    operation_id = "update_orchestration",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<PatchBody>,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
async fn update(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<PatchBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let PatchBody { active_step, sequence_index, ttl_seconds } = request.body;
    let place = StepsChange::Set(Place { active_step, sequence_index });
    let lifetime = SessionPatch { ttl_seconds, ..SessionPatch::default() };
    change(&caller, request.options, (place, lifetime)).await
}

/// What is there, also where it is `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A tool that was used.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UsedTool)]
pub(crate) struct ToolBody {
    #[schema(value_type = shape::text::ToolName)]
    tool: Arc<str>,
}

/// Take in that a tool was used
///
/// Noting it, advancing the sequence and choosing the step are one change. One that is not the due one is refused with
/// 409, which names the one that is.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/tools", tag = "steps", operation_id = "use_tool",
    params(("session" = String, Path, description = "The session")),
    request_body = ToolBody,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
async fn tools(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<ToolBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    change(&caller, request.options, StepsChange::UseTool(request.body.tool)).await
}

/// Go on in the sequence of the active step without using the tool that is due
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/advance", tag = "steps", operation_id = "advance_sequence",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
async fn advance(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let Empty {} = request.body;
    change(&caller, request.options, StepsChange::Advance).await
}

/// Begin anew: nothing used, nothing counted, in the default step
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/reset", tag = "steps", operation_id = "reset_orchestration",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
async fn reset(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<Empty>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let Empty {} = request.body;
    change(&caller, request.options, StepsChange::Reset).await
}

/// What a model used.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReportedUsage)]
pub(crate) struct ReportBody {
    #[serde(default, deserialize_with = "number::whole")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "number::whole")]
    completion_tokens: u64,
}

/// Add what a model used
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/usage", tag = "steps", operation_id = "report_usage",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<ReportBody>,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
async fn usage(
    caller: Authorized<GoThroughSteps>,
    request: RequestBody<ReportBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let ReportBody { prompt_tokens, completion_tokens } = request.body;
    change(&caller, request.options, StepsChange::Report(Usage { prompt_tokens, completion_tokens })).await
}

/// Tools that somebody has.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Tools)]
pub(crate) struct ToolsBody {
    tools: Vec<String>,
}

/// Which of the tools may be used now.
#[derive(ToSchema)]
#[schema(as = Offer)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct OfferShape {
    allowed: Vec<String>,
    denied: Vec<DeniedShape>,
}

/// A tool that may not be used now.
#[derive(Serialize, ToSchema)]
#[schema(as = DeniedTool)]
struct DeniedShape {
    tool: String,
    reason: String,
}

/// Say which of some tools may be used now
///
/// Where the tool that is due is not among them, the answer is 409, which names it.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/allowed-tools", tag = "steps",
    operation_id = "allowed_tools",
    params(("session" = String, Path, description = "The session")),
    request_body = ToolsBody,
    responses((status = OK, description = "Which may be used, and why others may not", body = OfferShape)))]
async fn allowed_tools(
    caller: Authorized<ReadSteps>,
    request: RequestBody<ToolsBody>,
) -> Result<Answer<Offer>, Problem> {
    let tools = request.body.tools;
    let viewer = caller.viewer();
    let offered = caller.session.view(&viewer, |view| {
        if view.state.session.settings.steps.is_empty() {
            return Err(Refusal::NoSteps);
        }
        offer(view.state, tools.iter().map(String::as_str))
    });
    Ok(Answer::ok(offered.await?))
}
