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
    params::Query,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(give)).routes(routes!(schema))
}

/// Apply a directive of the manager
///
/// It sends a message, changes context sets, asks the user for something or ends the work. Each update of a context set
/// is applied or rejected by itself. A directive may be an object with fields or, as a fallback, a text.
#[utoipa::path(post, path = "/v1/sessions/{session}/directives", tag = "directives", operation_id = "give_directive",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::Directive>,
    responses((status = OK, description = "The outcome of each update, and what else the directive led to", body = api::DirectiveAnswer)))]
async fn give(
    caller: Authorized<Direct>,
    request: RequestBody<Map<String, Value>>,
) -> Result<Answer<api::DirectiveAnswer>, CallError> {
    caller.give_directive(request.body, request.options).await
}

/// Read the JSON Schema of directives
///
/// It names the agents of the present team. Give it to a model as the schema of its structured output.
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    operation_id = "read_directive_schema",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::SchemaQuery),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
async fn schema(
    caller: Authorized<ReadSchema>,
    Query(query): Query<api::SchemaQuery>,
) -> Result<Answer<Value>, CallError> {
    caller.directive_schema(query).await
}
