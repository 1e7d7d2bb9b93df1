//! Executions: a workflow is executed, node by node, from its start to its end.
//!
//! What happens in one is in the journal: which node was started, what it gave, and how the execution ended. Whoever executes it
//! keeps the rest in memory, so that an execution whose server dies is interrupted, and not continued.

mod decide;
pub mod facts;
pub mod walk;

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use self::decide::at_rest;

use super::{PutResult, Workflow};
use crate::{
    entry::Actor,
    id::{ExecutionId, NodeId, words},
    number,
    time::Timestamp,
};

/// How many executions the state holds. Older ones are in the journal.
pub const KEPT: usize = 20;

/// An execution of the workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowExecution))]
pub struct Execution {
    /// Its id.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: ExecutionId,
    /// Where it is.
    pub status: ExecutionStatus,
    /// Why it ended as it did, where it was not completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The node from which on the workflow is executed. If absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<NodeId>,
    /// The nodes that are executed, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeId>>,
    /// The nodes that are being executed: a node, and those that repeat it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<NodeId>))]
    pub running: BTreeSet<NodeId>,
    /// The node that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<NodeId>,
    /// How many times a node was started.
    pub node_runs: u64,
    /// Its limits.
    pub limits: ExecutionLimits,
    /// Who started it: `user` or `agent:NAME`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub by: Actor,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

words! {
    /// Where an execution is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ExecutionStatus {
        /// It is under way.
        Running = "running",
        /// It came to the end.
        Completed = "completed",
        /// A node failed, or a limit was reached.
        Failed = "failed",
        /// Somebody ended it.
        Cancelled = "cancelled",
        /// Whoever executed it is gone.
        Interrupted = "interrupted",
    }
}

/// The limits of an execution. At a limit it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExecutionLimits {
    /// How many times nodes are started, at most: 1,000 by default, 1 to 10,000.
    #[serde(deserialize_with = "number::whole")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 10_000))]
    pub node_runs: u64,
    /// How many seconds a node may take: 300 by default, 1 to 3,600.
    #[serde(deserialize_with = "number::whole")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 3_600))]
    pub node_seconds: u64,
    /// How many seconds the whole may take: 3,600 by default, 1 to 86,400.
    #[serde(deserialize_with = "number::whole")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 86_400))]
    pub seconds: u64,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self { node_runs: 1000, node_seconds: 300, seconds: 3600 }
    }
}

/// What of the workflow is to be executed, and with what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunWorkflow, example = json!({"inputs": {"city": "Rome"}})))]
pub struct Execute {
    /// The node from which on it is executed. If absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<NodeId>,
    /// These nodes alone, in their order. If absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeId>>,
    /// Variables that are set first, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub inputs: Map<String, Value>,
    /// Its limits. If absent: the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ExecutionLimits>,
}

impl Execute {
    /// This node alone is to be executed.
    pub fn node(node: NodeId) -> Self {
        Self { nodes: Some(vec![node]), ..Self::default() }
    }
}

/// A node of an execution is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartNode {
    /// The execution.
    pub execution: ExecutionId,
    /// The node.
    pub node: NodeId,
}

/// A node of an execution gave a result: its last one, or one of a round where its status is `running`.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishNode {
    /// The execution.
    pub execution: ExecutionId,
    /// The result.
    pub result: PutResult,
}

/// An execution has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishExecution {
    /// The execution.
    pub execution: ExecutionId,
    /// How.
    pub status: ExecutionStatus,
    /// Why, where it was not completed.
    pub reason: Option<Arc<str>>,
    /// The node that failed, if one did.
    pub failed: Option<NodeId>,
    /// The nodes that were passed over.
    pub skipped: Vec<NodeId>,
}

/// An execution is to be ended before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelExecution(pub ExecutionId);

impl Workflow {
    /// The execution that is under way, if there is one.
    pub fn at_work(&self) -> Option<&Execution> {
        self.executions.last().filter(|execution| execution.is_running()).map(|execution| &**execution)
    }

    /// The execution with this id.
    pub fn execution(&self, id: &ExecutionId) -> Option<&Execution> {
        self.executions.iter().find(|execution| execution.id == *id).map(|execution| &**execution)
    }
}

impl Execution {
    /// Whether it is under way.
    pub fn is_running(&self) -> bool {
        self.status == ExecutionStatus::Running
    }
}

#[cfg(test)]
mod tests;
