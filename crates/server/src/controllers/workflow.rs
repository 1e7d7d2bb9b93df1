//! The workflow, its nodes and their results.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::id::ExecutionId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Accepted,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ChangeWorkflow, ExecuteWorkflow, ReadWorkflow},
    },
    params::{Name, Query, WorkflowNode},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read, put, patch))
        .routes(routes!(create_node))
        .routes(routes!(read_node, patch_node, delete_node))
        .routes(routes!(read_result, put_result))
        .routes(routes!(run))
        .routes(routes!(list_executions))
        .routes(routes!(read_execution))
        .routes(routes!(cancel_execution))
        .routes(routes!(run_node))
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

/// Execute the workflow
///
/// All nodes, those from one on, or only the named ones. The answer comes at once; streams and `GET` tell what happens. One
/// execution at a time is under way in a session: meanwhile the workflow cannot be changed.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/run", tag = "workflow", operation_id = "run_workflow",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::RunWorkflow,
    responses((status = ACCEPTED, description = "The execution, which is under way", body = api::WorkflowExecution)))]
async fn run(
    caller: Authorized<ExecuteWorkflow>,
    request: RequestBody<api::RunWorkflow>,
) -> Result<Accepted<api::WorkflowExecution>, CallError> {
    caller.run_workflow(request.body, request.options).await.map(Accepted)
}

/// List executions of the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/executions", tag = "workflow",
    operation_id = "list_executions",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The newest 20 executions, the newest first", body = api::ExecutionList)))]
async fn list_executions(caller: Authorized<ReadWorkflow>) -> Result<Answer<api::ExecutionList>, CallError> {
    caller.list_executions().await
}

/// Read an execution of the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/executions/{execution}", tag = "workflow",
    operation_id = "read_execution",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("execution" = String, Path, description = "The id of the execution: one of the newest 20")),
    responses((status = OK, description = "The execution", body = api::WorkflowExecution)))]
async fn read_execution(
    caller: Authorized<ReadWorkflow>,
    Name(execution): Name<ExecutionId>,
) -> Result<Answer<api::WorkflowExecution>, CallError> {
    caller.read_execution(execution).await
}

/// Cancel an execution of the workflow
///
/// A node that is under way may have done some of its work. An execution that has ended is refused with 409.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/executions/{execution}/cancel", tag = "workflow",
    operation_id = "cancel_execution",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("execution" = String, Path, description = "The id of the execution")),
    responses((status = OK, description = "The execution after the change", body = api::WorkflowExecution)))]
async fn cancel_execution(
    caller: Authorized<ExecuteWorkflow>,
    Name(execution): Name<ExecutionId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::WorkflowExecution>, CallError> {
    caller.cancel_execution(execution, request.options).await
}

/// Execute one node alone
///
/// The answer comes when the node is done. A node that failed says why in its result.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/nodes/{node}/run", tag = "workflow",
    operation_id = "run_node",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("node" = api::NodeId, Path, description = "The id of the node")),
    responses((status = OK, description = "The result of the node", body = api::NodeResult)))]
async fn run_node(
    caller: Authorized<ExecuteWorkflow>,
    WorkflowNode(node): WorkflowNode,
    request: RequestBody<Empty>,
) -> Result<Answer<api::NodeResult>, CallError> {
    caller.run_node(node, request.options).await
}
