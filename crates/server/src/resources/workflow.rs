//! The workflow, its nodes and their results.

use callboard_core::{
    error::Error as Refusal,
    id::{ExecutionId, NodeId},
    view::View,
    workflow::{
        CreateNode, DeleteNode, GivenResult, NodePatch, PatchNode, PatchWorkflow, PutResult, PutWorkflow,
        execution::{CancelExecution, Execute},
    },
};
use callboard_engine::NodeResult;
use serde_json::value::RawValue;

use crate::{call::*, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_workflow, put_workflow, patch_workflow))
        .routes(routes!(create_node))
        .routes(routes!(read_node, patch_node, delete_node))
        .routes(routes!(read_node_result, put_node_result))
        .routes(routes!(run_workflow))
        .routes(routes!(list_executions))
        .routes(routes!(read_execution))
        .routes(routes!(cancel_execution))
        .routes(routes!(run_node))
}

/// Read the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow", tag = "workflow",
    responses((status = OK, description = "The workflow as it is now, without results", body = api::Workflow)))]
async fn read_workflow(caller: Authorized<ReadSession>) -> Result<Answer<api::Workflow>, CallError> {
    let look = |view: View<'_>| Ok((view.workflow_document()?, view.state.head.seq));
    let (workflow, head) = caller.session.view(&caller.viewer(), look).await?;
    Ok(Answer::ok(workflow).at(head))
}

/// Replace the workflow
///
/// All nodes are replaced. Nodes that are left out are deleted; nodes with the id of an existing node keep its status
/// and its result. An invalid workflow is refused with a list of all its faults. With `expected_version`, only that
/// version is replaced: if the workflow has another version by now, the answer is 409.
#[utoipa::path(put, path = "/v1/sessions/{session}/workflow", tag = "workflow",
    request_body = api::PutWorkflow,
    responses((status = OK, description = "The workflow after the change", body = api::Workflow)))]
async fn put_workflow(
    caller: Authorized<PutWorkflow>,
    RequestBody { body, options }: RequestBody<api::PutWorkflow>,
) -> Result<Answer<api::Workflow>, CallError> {
    let api::PutWorkflow { workflow, nodes, reason, expected_version, .. } = body;
    let put = PutWorkflow { workflow, nodes, reason, expected_version };
    caller.change(options, put, |view, _| view.workflow_document()).await
}

/// Name or describe the workflow
#[utoipa::path(patch, path = "/v1/sessions/{session}/workflow", tag = "workflow",
    request_body = PatchWorkflow,
    responses((status = OK, description = "The name, the description and the version of the workflow after the change", body = api::AboutWorkflow)))]
async fn patch_workflow(
    caller: Authorized<PatchWorkflow>,
    RequestBody { body, options }: RequestBody<PatchWorkflow>,
) -> Result<Answer<api::AboutWorkflow>, CallError> {
    caller.change(options, body, |view, _| Ok(view.workflow_document()?.workflow)).await
}

/// Create a node
///
/// Callboard gives it an id that no node had before.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/nodes", tag = "workflow",
    request_body = CreateNode,
    responses((status = OK, description = "The node", body = api::ChangedWorkflowNode)))]
async fn create_node(
    caller: Authorized<CreateNode>,
    RequestBody { body, options }: RequestBody<CreateNode>,
) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
    caller.change(options, body, changed).await
}

/// Read a node
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow",
    params(InPath<NodeId>),
    responses((status = OK, description = "The node, without its result", body = api::WorkflowNode)))]
async fn read_node(
    caller: Authorized<ReadSession>,
    InPath(id): InPath<NodeId>,
) -> Result<Answer<api::WorkflowNode>, CallError> {
    let look = |view: View<'_>| Ok((view.node(id)?, view.state.head.seq));
    let (node, head) = caller.session.view(&caller.viewer(), look).await?;
    Ok(Answer::ok(node).at(head))
}

/// Change or move a node
#[utoipa::path(patch, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow",
    params(InPath<NodeId>),
    request_body = NodePatch,
    responses((status = OK, description = "The node after the change", body = api::ChangedWorkflowNode)))]
async fn patch_node(
    caller: Authorized<PatchNode>,
    InPath(id): InPath<NodeId>,
    RequestBody { body: patch, options }: RequestBody<NodePatch>,
) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
    caller.change(options, PatchNode { id, patch }, |view, _| changed(view, id)).await
}

/// Delete a node
///
/// Its variables are cleared, and it is removed from tasks of the plan. If other nodes refer to it, it is not deleted
/// and the answer is 409.
#[utoipa::path(delete, path = "/v1/sessions/{session}/workflow/nodes/{node}", tag = "workflow",
    params(InPath<NodeId>, api::WorkflowChangeQuery),
    responses((status = NO_CONTENT, description = "The node is deleted")))]
async fn delete_node(
    caller: Authorized<DeleteNode>,
    InPath(id): InPath<NodeId>,
    Query(query): Query<api::WorkflowChangeQuery>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    let api::WorkflowChangeQuery { reason, expected_version } = query;
    caller.execute(options, DeleteNode { id, reason, expected_version }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read the result of a node
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/nodes/{node}/result", tag = "workflow",
    params(InPath<NodeId>),
    responses((status = OK, description = "The result of the node's last execution", body = api::NodeResult)))]
async fn read_node_result(
    caller: Authorized<ReadSession>,
    InPath(id): InPath<NodeId>,
) -> Result<Answer<api::NodeResult>, CallError> {
    Ok(Answer::ok(node_result(id, caller.session.node_result(&caller.viewer(), id).await?)?))
}

/// Record the result of a node
///
/// Stores the result, the status of the node, and the variables that the node set: all of them or nothing.
#[utoipa::path(put, path = "/v1/sessions/{session}/workflow/nodes/{node}/result", tag = "workflow",
    params(InPath<NodeId>),
    request_body = GivenResult,
    responses((status = NO_CONTENT, description = "The result is recorded")))]
async fn put_node_result(
    caller: Authorized<PutResult>,
    InPath(id): InPath<NodeId>,
    RequestBody { body: given, options }: RequestBody<GivenResult>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, PutResult { id, given }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Execute the workflow
///
/// All nodes, those from one on, or only the named ones. The answer comes at once; streams and `GET` tell what happens. One
/// execution at a time is under way in a session: meanwhile the workflow cannot be changed.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/run", tag = "workflow",
    request_body = Execute,
    responses((status = ACCEPTED, description = "The execution, which is under way", body = api::WorkflowExecution)))]
async fn run_workflow(
    caller: Authorized<Execute>,
    RequestBody { body, options }: RequestBody<Execute>,
) -> Result<Answer<api::WorkflowExecution>, CallError> {
    caller.app.drivers.keep();
    let receipt = caller.app.executions.start(&caller.session, caller.execute(options, body)).await?;
    let look = |view: View<'_>| view.execution(&receipt.answer);
    let execution = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(execution).at(receipt.head).accepted())
}

/// List executions of the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/executions", tag = "workflow",
    responses((status = OK, description = "The newest 20 executions, the newest first", body = api::ExecutionList)))]
async fn list_executions(caller: Authorized<ReadSession>) -> Result<Answer<api::ExecutionList>, CallError> {
    let look = |view: View<'_>| Ok((view.executions()?, view.state.head.seq));
    let (executions, head) = caller.session.view(&caller.viewer(), look).await?;
    Ok(Answer::ok(api::ExecutionList { executions }).at(head))
}

/// Read an execution of the workflow
#[utoipa::path(get, path = "/v1/sessions/{session}/workflow/executions/{execution}", tag = "workflow",
    params(InPath<ExecutionId>),
    responses((status = OK, description = "The execution", body = api::WorkflowExecution)))]
async fn read_execution(
    caller: Authorized<ReadSession>,
    InPath(id): InPath<ExecutionId>,
) -> Result<Answer<api::WorkflowExecution>, CallError> {
    let look = |view: View<'_>| Ok((view.execution(&id)?, view.state.head.seq));
    let (execution, head) = caller.session.view(&caller.viewer(), look).await?;
    Ok(Answer::ok(execution).at(head))
}

/// Cancel an execution of the workflow
///
/// A node that is under way may have done some of its work. An execution that has ended is refused with 409.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/executions/{execution}/cancel", tag = "workflow",
    params(InPath<ExecutionId>),
    responses((status = OK, description = "The execution after the change", body = api::WorkflowExecution)))]
async fn cancel_execution(
    caller: Authorized<CancelExecution>,
    InPath(id): InPath<ExecutionId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::WorkflowExecution>, CallError> {
    caller.change(options, CancelExecution(id.clone()), |view, _| view.execution(&id)).await
}

/// Execute one node alone
///
/// The answer comes when the node is done. A node that failed says why in its result.
#[utoipa::path(post, path = "/v1/sessions/{session}/workflow/nodes/{node}/run", tag = "workflow",
    params(InPath<NodeId>),
    responses((status = OK, description = "The result of the node", body = api::NodeResult)))]
async fn run_node(
    caller: Authorized<Execute>,
    InPath(id): InPath<NodeId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::NodeResult>, CallError> {
    caller.session.view(&caller.viewer(), |view| view.node(id)).await?;
    caller.app.drivers.keep();
    let run = async |_: bool| {
        let begin = caller.session.execute(caller.actor.clone(), Execute::node(id));
        node_result(id, caller.app.executions.node(&caller.session, id, begin).await?)
    };
    Ok(Answer::ok(caller.idempotent(&options, run).await?))
}

/// A node after a change.
fn changed(view: View<'_>, id: NodeId) -> Result<api::ChangedWorkflowNode, Refusal> {
    Ok(api::ChangedWorkflowNode { node: view.node(id)?, version: view.workflow()?.version })
}

/// The result of a node as callers get it.
fn node_result(node: NodeId, result: NodeResult) -> Result<api::NodeResult, CallError> {
    let NodeResult { status, result, at } = result;
    let unreadable = |error: serde_json::Error| CallError::new("damaged", format!("the result of {node}: {error}"));
    let result = RawValue::from_string(result.to_string()).map_err(unreadable)?;
    Ok(api::NodeResult { node, status, result, at })
}
