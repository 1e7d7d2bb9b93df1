//! What can happen to executions.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Execution, ExecutionLimits, ExecutionStatus, KEPT};
use crate::{
    entry::Header,
    fact::{Description, Fact, MeantFor, Sentence, text},
    id::{ExecutionId, NodeId},
    rights::Share,
    state::State,
    workflow::{NodeStatus, Workflow},
};

/// An execution began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub(super) execution: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nodes: Option<Vec<NodeId>>,
    pub(super) limits: ExecutionLimits,
}

/// A node was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStarted {
    pub(super) execution: ExecutionId,
    pub(super) id: NodeId,
}

/// An execution ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub(super) execution: ExecutionId,
    pub(super) status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Arc<str>>,
    /// The node that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<NodeId>,
    /// The nodes that were passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<NodeId>,
}

fn subject(execution: &ExecutionId) -> String {
    format!("execution:{execution}")
}

/// Changes the status of nodes that are there. What they gave before is no longer what their last execution gave.
fn leave(workflow: &mut Workflow, ids: impl IntoIterator<Item = NodeId>, status: NodeStatus) {
    for id in ids {
        if let Some(held) = workflow.nodes.iter_mut().find(|held| held.node.id == id) {
            (held.status, held.result) = (status, None);
        }
    }
}

impl Workflow {
    /// Changes the execution with this id, if it is the newest.
    fn change_execution(&mut self, id: &ExecutionId, change: impl FnOnce(&mut Execution)) {
        if let Some(execution) = self.executions.last_mut().filter(|execution| execution.id == *id) {
            change(Arc::make_mut(execution));
        }
    }

    /// Notes that a node gave its last result, and is not being executed any more.
    pub(in crate::workflow) fn note_result(&mut self, id: NodeId, status: NodeStatus) {
        if let Some(execution) = self.executions.last_mut().filter(|_| status != NodeStatus::Running)
            && execution.running.contains(&id)
        {
            Arc::make_mut(execution).running.remove(&id);
        }
    }
}

/// Implements what the facts of executions have in common: who sees the workflow sees them.
macro_rules! of_execution {
    ($texts:expr) => {
        const DESCRIPTION: Description = Description::of($texts);

        const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Workflow);

        fn subject(&self) -> String {
            subject(&self.execution)
        }
    };
}

impl Fact for Started {
    const TYPE: &'static str = "execution.started";

    const SENTENCE: Sentence = |it| format!("{} started the execution {} of the workflow", it.by, it.text("execution"));

    of_execution!(&[]);

    fn apply(self, state: &mut State, header: &Header) {
        let Self { execution, from, nodes, limits } = self;
        let executions = &mut Arc::make_mut(&mut state.workflow).executions;
        let started = Execution {
            id: execution,
            status: ExecutionStatus::Running,
            reason: None,
            from,
            nodes,
            running: BTreeSet::new(),
            failed: None,
            node_runs: 0,
            limits,
            by: header.by.clone(),
            started_at: header.at,
            finished_at: None,
        };
        executions.push(Arc::new(started));
        let more = executions.len().saturating_sub(KEPT);
        executions.drain(..more);
    }
}

impl Fact for NodeStarted {
    const TYPE: &'static str = "node.started";

    const SENTENCE: Sentence = |it| format!("{} was started", it.text("id"));

    of_execution!(&[]);

    fn apply(self, state: &mut State, _: &Header) {
        let workflow = Arc::make_mut(&mut state.workflow);
        leave(workflow, [self.id], NodeStatus::Running);
        workflow.change_execution(&self.execution, |execution| {
            execution.running.insert(self.id);
            execution.node_runs = execution.node_runs.saturating_add(1);
        });
    }
}

impl Fact for Finished {
    const TYPE: &'static str = "execution.finished";

    const SENTENCE: Sentence =
        |it| format!("the execution {} was {}{}", it.text("execution"), it.text("status"), it.about("reason"));

    of_execution!(&[text("reason")]);

    fn apply(self, state: &mut State, header: &Header) {
        let Self { execution, status, reason, failed, skipped } = self;
        let workflow = Arc::make_mut(&mut state.workflow);
        let mut left = Default::default();
        workflow.change_execution(&execution, |execution| {
            left = std::mem::take(&mut execution.running);
            (execution.status, execution.reason, execution.failed) = (status, reason, failed);
            execution.finished_at = Some(header.at);
        });
        leave(workflow, left, NodeStatus::Failed);
        leave(workflow, skipped, NodeStatus::Skipped);
    }
}
