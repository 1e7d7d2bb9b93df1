//! Recall: what in a session answers a question.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{Answer, Authorized, CallError, rights::Recall},
    params::Query,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(recall)).routes(routes!(search))
}

/// Find what answers a question
///
/// It searches everything that was ever said, that was not deleted or replaced since, and that the caller may see:
/// messages with the results of tools, also those that compression or a budget left out of prompts, context sets, the
/// plan, variables, context files and documents. What is hidden from the caller does not change the answer. Everything
/// that was written before the call is searched; if that takes too long, the answer says how far it is `behind`.
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

/// Search for words
///
/// Finds texts that contain every word exactly as it is written, in capitals or not, the newest first.
#[utoipa::path(get, path = "/v1/sessions/{session}/search", tag = "recall", operation_id = "search",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::SearchQuery),
    responses((status = OK, description = "The texts that contain all of the words, the newest first", body = api::Recalled)))]
async fn search(
    caller: Authorized<Recall>,
    Query(query): Query<api::SearchQuery>,
) -> Result<Answer<api::Recalled>, CallError> {
    caller.search(query).await
}
