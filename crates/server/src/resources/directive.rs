//! Directives.

use callboard_core::directive::{self, Direct, schema as directive_schema};
use serde_json::{Map, Value};

use crate::{call::*, rights::ReadSchema};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(give_directive)).routes(routes!(read_directive_schema))
}

/// Apply a directive of the manager
///
/// It sends a message, changes context sets, asks the user for something or ends the work. Each update of a context set
/// is applied or rejected by itself. A directive may be an object with fields or, as a fallback, a text.
#[utoipa::path(post, path = "/v1/sessions/{session}/directives", tag = "directives",
    request_body = Option<api::Directive>,
    responses((status = OK, description = "The outcome of each update, and what else the directive led to", body = api::DirectiveAnswer)))]
async fn give_directive(
    caller: Authorized<Direct>,
    RequestBody { body, options }: RequestBody<Map<String, Value>>,
) -> Result<Answer<api::DirectiveAnswer>, CallError> {
    let receipt = caller.execute(options, directive::Direct(Value::Object(body))).await?;
    Ok(Answer::ok(api::DirectiveAnswer { directed: receipt.answer, head: receipt.head }).at(receipt.head))
}

/// Read the JSON Schema of directives
///
/// It names the agents of the present team. Give it to a model as the schema of its structured output.
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    params(api::SchemaQuery),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
async fn read_directive_schema(
    caller: Authorized<ReadSchema>,
    Query(query): Query<api::SchemaQuery>,
) -> Result<Answer<Value>, CallError> {
    let state = caller.session.state().await?;
    Ok(Answer::ok(query.meant_for.form(directive_schema::schema(&state.team))))
}
