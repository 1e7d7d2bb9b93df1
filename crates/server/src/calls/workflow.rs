//! The workflow, its nodes and their results.

use callboard_api as api;
use callboard_core::{
    id::{ExecutionId, NodeId, Seq},
    view::View,
    workflow::{
        Change, CreateNode, DeleteNode, PatchNode, PatchWorkflow, PutResult, PutWorkflow,
        execution::{CancelExecution, Execute},
    },
};
use callboard_engine::NodeResult;
use serde_json::value::RawValue;

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{ChangeWorkflow, ExecuteWorkflow, ReadWorkflow},
};

impl Authorized<ReadWorkflow> {
    /// Read the workflow
    pub(crate) async fn read_workflow(&self) -> Result<Answer<api::Workflow>, CallError> {
        let look = |view: View<'_>| Ok((view.workflow_document()?, view.state.head.seq));
        let (workflow, head) = self.session.view(&self.viewer(), look).await?;
        Ok(Answer::ok(workflow).at(head))
    }

    /// Read a node
    pub(crate) async fn read_node(&self, id: NodeId) -> Result<Answer<api::WorkflowNode>, CallError> {
        let look = |view: View<'_>| Ok((view.node(id)?, view.state.head.seq));
        let (node, head) = self.session.view(&self.viewer(), look).await?;
        Ok(Answer::ok(node).at(head))
    }

    /// Read the result of a node
    pub(crate) async fn read_node_result(&self, id: NodeId) -> Result<Answer<api::NodeResult>, CallError> {
        Ok(Answer::ok(node_result(id, self.session.node_result(&self.viewer(), id).await?)?))
    }
}

impl Authorized<ReadWorkflow> {
    /// List executions of the workflow
    pub(crate) async fn list_executions(&self) -> Result<Answer<api::ExecutionList>, CallError> {
        let look = |view: View<'_>| Ok((view.executions()?, view.state.head.seq));
        let (executions, head) = self.session.view(&self.viewer(), look).await?;
        Ok(Answer::ok(api::ExecutionList { executions }).at(head))
    }

    /// Read an execution of the workflow
    pub(crate) async fn read_execution(&self, id: ExecutionId) -> Result<Answer<api::WorkflowExecution>, CallError> {
        let look = |view: View<'_>| Ok((view.execution(&id)?, view.state.head.seq));
        let (execution, head) = self.session.view(&self.viewer(), look).await?;
        Ok(Answer::ok(execution).at(head))
    }
}

impl Authorized<ExecuteWorkflow> {
    /// Execute the workflow
    pub(crate) async fn run_workflow(
        &self,
        body: api::RunWorkflow,
        options: WriteOptions,
    ) -> Result<Answer<api::WorkflowExecution>, CallError> {
        let api::RunWorkflow { from, nodes, inputs, limits } = body;
        let execute = Execute { from, nodes, inputs, limits: limits.unwrap_or_default() };
        self.app.drivers.keep();
        let receipt = self.app.executions.start(&self.session, self.execute(options, execute)).await?;
        self.execution(&receipt.answer, receipt.head).await
    }

    /// Execute one node alone, and wait for its result
    pub(crate) async fn run_node(
        &self,
        id: NodeId,
        options: WriteOptions,
    ) -> Result<Answer<api::NodeResult>, CallError> {
        self.session.view(&self.viewer(), |view| view.node(id)).await?;
        self.app.drivers.keep();
        let run = async |_: bool| {
            let begin = self.session.execute(self.actor.clone(), Execute::node(id));
            node_result(id, self.app.executions.node(&self.session, id, begin).await?)
        };
        Ok(Answer::ok(self.idempotent(&options, run).await?))
    }

    /// Cancel an execution of the workflow
    pub(crate) async fn cancel_execution(
        &self,
        id: ExecutionId,
        options: WriteOptions,
    ) -> Result<Answer<api::WorkflowExecution>, CallError> {
        let head = self.execute(options, CancelExecution(id.clone())).await?.head;
        self.execution(&id, head).await
    }

    async fn execution(&self, id: &ExecutionId, head: Seq) -> Result<Answer<api::WorkflowExecution>, CallError> {
        let execution = self.session.view_at(&self.viewer(), head, |view| view.execution(id)).await?;
        Ok(Answer::ok(execution).at(head))
    }
}

impl Authorized<ChangeWorkflow> {
    /// Replace the workflow
    pub(crate) async fn put_workflow(
        &self,
        body: api::PutWorkflow,
        options: WriteOptions,
    ) -> Result<Answer<api::Workflow>, CallError> {
        let api::PutWorkflow { workflow, nodes, reason, expected_version, .. } = body;
        let change = Change { reason, expected_version };
        let head = self.execute(options, PutWorkflow { workflow, nodes, change }).await?.head;
        let workflow = self.session.view_at(&self.viewer(), head, |view| view.workflow_document()).await?;
        Ok(Answer::ok(workflow).at(head))
    }

    /// Name the workflow
    pub(crate) async fn patch_workflow(
        &self,
        body: api::WorkflowPatch,
        options: WriteOptions,
    ) -> Result<Answer<api::AboutWorkflow>, CallError> {
        let api::WorkflowPatch { name, description, reason, expected_version } = body;
        let change = Change { reason, expected_version };
        let head = self.execute(options, PatchWorkflow { name, description, change }).await?.head;
        let workflow = self.session.view_at(&self.viewer(), head, |view| view.workflow_document()).await?;
        Ok(Answer::ok(workflow.workflow).at(head))
    }

    /// Create a node
    pub(crate) async fn create_node(
        &self,
        body: api::NewWorkflowNode,
        options: WriteOptions,
    ) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
        let api::NewWorkflowNode { kind, config, description, position, reason, expected_version } = body;
        let change = Change { reason, expected_version };
        let node = CreateNode { kind, config: config.into(), description, position, change };
        let receipt = self.execute(options, node).await?;
        self.changed(receipt.answer, receipt.head).await
    }

    /// Change or move a node
    pub(crate) async fn patch_node(
        &self,
        id: NodeId,
        body: api::WorkflowNodePatch,
        options: WriteOptions,
    ) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
        let api::WorkflowNodePatch { kind, config, description, position, reason, expected_version } = body;
        let change = Change { reason, expected_version };
        let patch = PatchNode { id, kind, config: config.map(Into::into), description, position, change };
        let receipt = self.execute(options, patch).await?;
        self.changed(id, receipt.head).await
    }

    /// Delete a node
    pub(crate) async fn delete_node(
        &self,
        id: NodeId,
        query: api::WorkflowChangeQuery,
        options: WriteOptions,
    ) -> Result<(), CallError> {
        self.execute(options, DeleteNode { id, change: query.change() }).await?;
        Ok(())
    }

    /// Record the result of a node
    pub(crate) async fn put_node_result(
        &self,
        id: NodeId,
        body: api::PutNodeResult,
        options: WriteOptions,
    ) -> Result<(), CallError> {
        let api::PutNodeResult { status, result, variables } = body;
        self.execute(options, PutResult { id, status, result, variables }).await?;
        Ok(())
    }

    /// A node after a change that led to the entry `head`.
    async fn changed(&self, id: NodeId, head: Seq) -> Result<Answer<api::ChangedWorkflowNode>, CallError> {
        let look = |view: View<'_>| Ok((view.node(id)?, view.workflow()?.version));
        let (node, version) = self.session.view_at(&self.viewer(), head, look).await?;
        Ok(Answer::ok(api::ChangedWorkflowNode { node, version }).at(head))
    }
}

/// The result of a node as callers get it.
fn node_result(node: NodeId, result: NodeResult) -> Result<api::NodeResult, CallError> {
    let NodeResult { status, result, at } = result;
    let unreadable = |error: serde_json::Error| CallError::new("damaged", format!("the result of {node}: {error}"));
    let result = RawValue::from_string(result.to_string()).map_err(unreadable)?;
    Ok(api::NodeResult { node, status, result, at })
}
