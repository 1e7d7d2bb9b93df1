//! Who sees the workflow: the user and the manager, and all agents where the session shares it.

use super::{Document, Shown, Workflow, execution::Execution};
use crate::{
    audience::Audience,
    error::Error,
    id::{ExecutionId, NodeId, Seq},
    rights::Share,
    view::View,
};

impl<'a> View<'a> {
    /// The workflow as it is now. A hidden one answers like one that is not there.
    pub fn workflow(&self) -> Result<&'a Workflow, Error> {
        let workflow = self.may_see(Share::Workflow).then_some(&*self.state.workflow);
        workflow.ok_or_else(|| Error::not_found("workflow", ""))
    }

    /// The same as prompts show it.
    pub fn workflow_document(&self) -> Result<Document, Error> {
        Ok(self.workflow()?.document(&self.state.session))
    }

    /// A node as it is shown. A hidden one answers like one that is not there.
    pub fn node(&self, id: NodeId) -> Result<Shown, Error> {
        let shown = self.workflow().ok().and_then(|workflow| workflow.shown(id));
        shown.ok_or_else(|| Error::not_found("node", id))
    }

    /// The entry that has the result of a node.
    pub fn node_result(&self, id: NodeId) -> Result<Seq, Error> {
        self.node(id)?;
        let held = self.state.workflow.get(id);
        held.and_then(|held| held.result).ok_or_else(|| Error::not_found("result of the node", id))
    }

    /// The newest executions, the newest first. Those of a hidden workflow answer like those of one that is not there.
    pub fn executions(&self) -> Result<Vec<Execution>, Error> {
        Ok(self.workflow()?.executions.iter().rev().map(|execution| Execution::clone(execution)).collect())
    }

    /// The execution with this id.
    pub fn execution(&self, id: &ExecutionId) -> Result<Execution, Error> {
        let found = self.workflow().ok().and_then(|workflow| workflow.execution(id));
        found.cloned().ok_or_else(|| Error::not_found("execution", id))
    }
}

/// Who may see the node that entries with this subject are about.
pub(super) fn visible_node(view: &View<'_>, subject: &str, kind: &str) -> Option<Audience> {
    let id = subject.strip_prefix(kind)?.parse().ok()?;
    view.node(id).ok().map(|_| view.state.audience_of(Share::Workflow))
}
