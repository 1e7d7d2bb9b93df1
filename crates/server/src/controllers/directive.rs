//! Directives.

use callboard_core::{
    directive::{Directed, schema as directive},
    id::Seq,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    problem::Problem,
    rights::{Direct, ReadSchema},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(give)).routes(routes!(schema))
}

/// What a directive led to.
#[derive(Serialize, ToSchema)]
pub(crate) struct DirectiveAnswer {
    #[serde(flatten)]
    #[schema(value_type = DirectedShape)]
    directed: Directed,
    #[schema(value_type = u64)]
    head: Seq,
}

/// How the updates of a directive came out, in order, and what else it led to.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct DirectedShape {
    outcomes: Vec<shape::directive::OutcomeShape>,
    form: Option<shape::form::FormRequestShape>,
    #[schema(required = false)]
    unparsed: Vec<String>,
}

/// Apply a manager's directive
#[utoipa::path(post, path = "/v1/sessions/{session}/directives", tag = "directives", operation_id = "give_directive",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<shape::directive::DirectiveShape>,
    responses((status = OK, description = "How it came out", body = DirectiveAnswer)))]
async fn give(
    caller: Authorized<Direct>,
    request: RequestBody<Map<String, Value>>,
) -> Result<Answer<DirectiveAnswer>, Problem> {
    let receipt =
        caller.execute(request.options, callboard_core::directive::Direct(Value::Object(request.body))).await?;
    Ok(Answer::ok(DirectiveAnswer { directed: receipt.answer, head: receipt.head }).at(receipt.head))
}

/// Read the JSON Schema of directives, for the team as it is now
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    operation_id = "read_directive_schema",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
async fn schema(caller: Authorized<ReadSchema>) -> Result<Answer<Value>, Problem> {
    let state = caller.session.state().await?;
    Ok(Answer::ok(directive::schema(&state.team)))
}
