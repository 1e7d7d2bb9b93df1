//! The workflow, its nodes and their results.

use axum::http::StatusCode;
use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ChangeWorkflow, ReadWorkflow},
    },
    params::{Query, WorkflowNode},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read, put, patch))
        .routes(routes!(create_node))
        .routes(routes!(read_node, patch_node, delete_node))
        .routes(routes!(read_result, put_result))
}

/// Read the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow", tag = "workflow", operation_id = "read_workflow",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The workflow as it is now, without results", body = api::Workflow)))]
async fn read(caller: Authorized<ReadWorkflow>) -> Result<Answer<api::Workflow>, CallError> {
    caller.read_workflow().await
}

/// Replace the workflow
///
/// All nodes are replaced. Nodes that are left out are deleted; nodes with the id of an existing node keep its status
/// and its result. An invalid workflow is refused with a list of all its faults. With `expected_version`, only that
/// version is replaced: if the workflow has another version by now, the answer is 409.
#[utoipa::path(put, path = "/v1/sessions/{session}/workflow", tag = "workflow", operation_id = "put_workflow",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::PutWorkflow,
    responses((status = OK, description = "The workflow after the change", body = api::Workflow)))]
async fn put(
    caller: Authorized<ChangeWorkflow>,
    request: RequestBody<api::PutWorkflow>,
) -> Result<Answer<api::Workflow>, CallError> {
    caller.put_workflow(request.body, request.options).await
}

/// Name or describe the workflow
#[utoipa::path(patch, path = "/v1/sessions/{session}/workflow", tag = "workflow", operation_id = "patch_workflow",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::WorkflowPatch,
    responses((status = OK, description = "The name, the description and the version of the workflow after the change", body = api::AboutWorkflow)))]
async fn patch(
    caller: Authorized<ChangeWorkflow>,
    request: RequestBody<api::WorkflowPatch>,
) -> Result<Answer<api::AboutWorkflow>, CallError> {
    caller.patch_workflow(request.body, request.options).await
}

/// Create a node
///
/// Callboard gives it an id that no node had before.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/nodes", tag = "workflow", operation_id = "create_node",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::NewWorkflowNode,
    responses((status = OK, description = "The node", body = api::ChangedWorkflowNode)))]
async fn create_node(
    caller: Authorized<ChangeWorkflow>,
    request: RequestBody<api::NewWorkflowNode>,
) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
    caller.create_node(request.body, request.options).await
}

/// Read a node
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow", operation_id = "read_node",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node")),
    responses((status = OK, description = "The node, without its result", body = api::WorkflowNode)))]
async fn read_node(
    caller: Authorized<ReadWorkflow>,
    WorkflowNode(node): WorkflowNode,
) -> Result<Answer<api::WorkflowNode>, CallError> {
    caller.read_node(node).await
}

/// Change or move a node
#[utoipa::path(patch, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow",
    operation_id = "patch_node",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node")),
    request_body = api::WorkflowNodePatch,
    responses((status = OK, description = "The node after the change", body = api::ChangedWorkflowNode)))]
async fn patch_node(
    caller: Authorized<ChangeWorkflow>,
    WorkflowNode(node): WorkflowNode,
    request: RequestBody<api::WorkflowNodePatch>,
) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
    caller.patch_node(node, request.body, request.options).await
}

/// Delete a node
///
/// Its variables are cleared, and it is removed from tasks of the plan. If other nodes refer to it, it is not deleted
/// and the answer is 409.
#[utoipa::path(delete, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow",
    operation_id = "delete_node",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node"), api::WorkflowChangeQuery),
    responses((status = NO_CONTENT, description = "The node is deleted")))]
async fn delete_node(
    caller: Authorized<ChangeWorkflow>,
    WorkflowNode(node): WorkflowNode,
    Query(query): Query<api::WorkflowChangeQuery>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.delete_node(node, query, request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// Read the result of a node
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/nodes/{node}/result", tag = "workflow",
    operation_id = "read_node_result",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node")),
    responses((status = OK, description = "The result of the node's last execution", body = api::NodeResult)))]
async fn read_result(
    caller: Authorized<ReadWorkflow>,
    WorkflowNode(node): WorkflowNode,
) -> Result<Answer<api::NodeResult>, CallError> {
    caller.read_node_result(node).await
}

/// Record the result of a node
///
/// Stores the result, the status of the node, and the variables that the node set: all of them or nothing.
#[utoipa::path(put, path = "/v1/sessions/{session}/workflow/nodes/{node}/result", tag = "workflow",
    operation_id = "put_node_result",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node")),
    request_body = api::PutNodeResult,
    responses((status = NO_CONTENT, description = "The result is recorded")))]
async fn put_result(
    caller: Authorized<ChangeWorkflow>,
    WorkflowNode(node): WorkflowNode,
    request: RequestBody<api::PutNodeResult>,
) -> Result<StatusCode, CallError> {
    caller.put_node_result(node, request.body, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
