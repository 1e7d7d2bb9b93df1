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

/// List Callboard's own tools that an agent may use
#[utoipa::path(get, path = "/v1/sessions/{session}/tools", tag = "tools", operation_id = "list_tools",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::ToolsQuery),
    responses((status = OK, description = "The tools, in the format of the model's API", body = api::ToolList)))]
async fn list(
    caller: Authorized<ReadTools>,
    Query(query): Query<api::ToolsQuery>,
) -> Result<Answer<api::ToolList>, CallError> {
    caller.list_tools(query).await
}

/// Call one of Callboard's own tools as an agent
#[utoipa::path(post, path = "/v1/sessions/{session}/tools/{tool}", tag = "tools", operation_id = "call_tool",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("tool" = String, Path, description = "The name of the tool, such as `read_messages`")),
    request_body = api::ToolCallBody,
    responses((status = OK, description = "The result, as the model is to read it", body = api::ToolCallResult)))]
async fn call(
    caller: Authorized<CallTools>,
    ToolName(name): ToolName,
    request: RequestBody<api::ToolCallBody>,
) -> Result<Answer<api::ToolCallResult>, CallError> {
    caller.call_tool(&name, request.body, request.options).await
}
