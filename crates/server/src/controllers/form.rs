//! Forms.

use callboard_api as api;
use callboard_core::id::SetName;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{Answer, Authorized, CallError, rights::AnswerForm},
    params::Name,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(answer))
}

/// Answer a form
///
/// A run that waits for it goes on.
#[utoipa::path(post, path = "/v1/sessions/{session}/forms/{name}", tag = "forms", operation_id = "answer_form",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::SetName, Path, description = "The name of the form: that of its context set")),
    request_body = api::FormAnswers,
    responses((status = OK, description = "The context set of the form, with the answers", body = api::ContextSet)))]
async fn answer(
    caller: Authorized<AnswerForm>,
    Name(name): Name<SetName>,
    request: RequestBody<api::FormAnswers>,
) -> Result<Answer<api::ContextSet>, CallError> {
    caller.answer_form(name, request.body, request.options).await
}
