//! Callboard's own tools, for those who drive models themselves.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{
        Answer, Authorized, CallError,
        rights::{CallTools, ReadTools},
    },
    params::{Query, ToolName},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(call))
}

/// List the tools of Callboard's own that an agent may use
#[utoipa::path(get, path = "/v1/sessions/{session}/tools", tag = "tools", operation_id = "list_tools",
    params(("session" = api::SessionId, Path, description = "The session"), api::ToolsQuery),
    responses((status = OK, description = "The tools, in the form that the API of the model takes", body = api::ToolList)))]
async fn list(
    caller: Authorized<ReadTools>,
    Query(query): Query<api::ToolsQuery>,
) -> Result<Answer<api::ToolList>, CallError> {
    caller.list_tools(query).await
}

/// Call a tool of Callboard's own as an agent
#[utoipa::path(post, path = "/v1/sessions/{session}/tools/{tool}", tag = "tools", operation_id = "call_tool",
    params(("session" = api::SessionId, Path, description = "The session"), ("tool" = String, Path, description = "The tool")),
    request_body = api::ToolCallBody,
    responses((status = OK, description = "What the model is told", body = api::ToolCallResult)))]
async fn call(
    caller: Authorized<CallTools>,
    ToolName(name): ToolName,
    request: RequestBody<api::ToolCallBody>,
) -> Result<Answer<api::ToolCallResult>, CallError> {
    caller.call_tool(&name, request.body, request.options).await
}
