//! Prompts.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{Answer, Authorized, CallError, rights::BuildPrompt},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(build))
}

/// Build an agent's prompt
///
/// With `record` it is recorded as a turn: do that when a model is about to be asked with it, and send the answer to
/// `POST …/turns/{turn}`.
///
/// It has at most `budget` tokens. If not even the required parts fit, the answer is 422 and names each part with its size.
#[utoipa::path(post, path = "/v1/sessions/{session}/prompt", tag = "prompts", operation_id = "build_prompt",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::PromptBody>,
    responses((status = OK, description = "The prompt", body = api::Prompt)))]
async fn build(
    caller: Authorized<BuildPrompt>,
    request: RequestBody<api::PromptBody>,
) -> Result<Answer<api::Prompt>, CallError> {
    caller.build_prompt(request.body, request.options).await
}
