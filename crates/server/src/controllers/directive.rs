//! Directives.

use callboard_api as api;
use callboard_core::directive::{self, schema as directive_schema};
use serde_json::{Map, Value};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    problem::Problem,
    rights::{Direct, ReadSchema},
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
) -> Result<Answer<api::DirectiveAnswer>, Problem> {
    caller.give_directive(request).await
}

/// Read the JSON Schema of directives, for the team as it is now
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    operation_id = "read_directive_schema",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
async fn schema(caller: Authorized<ReadSchema>) -> Result<Answer<Value>, Problem> {
    caller.directive_schema().await
}

impl Authorized<Direct> {
    /// Apply a manager's directive
    pub(crate) async fn give_directive(
        &self,
        request: RequestBody<Map<String, Value>>,
    ) -> Result<Answer<api::DirectiveAnswer>, Problem> {
        let receipt = self.execute(request.options, directive::Direct(Value::Object(request.body))).await?;
        Ok(Answer::ok(api::DirectiveAnswer { directed: receipt.answer, head: receipt.head }).at(receipt.head))
    }
}

impl Authorized<ReadSchema> {
    /// Read the JSON Schema of directives, for the team as it is now
    pub(crate) async fn directive_schema(&self) -> Result<Answer<Value>, Problem> {
        let state = self.session.state().await?;
        Ok(Answer::ok(directive_schema::schema(&state.team)))
    }
}
