//! Directives.

use callboard_api as api;
use serde_json::{Map, Value};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{
        Answer, Authorized, CallError,
        rights::{Direct, ReadSchema},
    },
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(give)).routes(routes!(schema))
}

/// Apply a manager's directive
#[utoipa::path(post, path = "/v1/sessions/{session}/directives", tag = "directives", operation_id = "give_directive",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::Directive>,
    responses((status = OK, description = "How it came out", body = api::DirectiveAnswer)))]
async fn give(
    caller: Authorized<Direct>,
    request: RequestBody<Map<String, Value>>,
) -> Result<Answer<api::DirectiveAnswer>, CallError> {
    caller.give_directive(request.body, request.options).await
}

/// Read the JSON Schema of directives, for the team as it is now
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    operation_id = "read_directive_schema",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
async fn schema(caller: Authorized<ReadSchema>) -> Result<Answer<Value>, CallError> {
    caller.directive_schema().await
}
