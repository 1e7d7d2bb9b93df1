//! Recall: what in a session answers a question.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{Answer, Authorized, CallError, rights::Recall},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(recall))
}

/// Find what answers a question
///
/// It searches all that was ever said and still stands, as far as the caller may see it: messages with the results of tools,
/// also those that compression or a budget left out of prompts, context sets, the plan, variables,
/// context files and documents. Nothing of
/// an answer depends on what is hidden. All that was written before the call is searched, else the answer says how far it is
/// `behind`.
#[utoipa::path(post, path = "/v1/sessions/{session}/recall", tag = "recall", operation_id = "recall",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::RecallBody,
    responses((status = OK, description = "The passages, the best first", body = api::Recalled)))]
async fn recall(
    caller: Authorized<Recall>,
    request: RequestBody<api::RecallBody>,
) -> Result<Answer<api::Recalled>, CallError> {
    caller.recall(request.body).await
}
