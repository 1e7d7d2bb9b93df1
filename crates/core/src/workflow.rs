//! The workflow: the nodes that a team builds, in the order in which they are executed.
//!
//! The state has the nodes with their configuration. What executing a node gave is kept apart: the state only says which
//! entry has it. Nodes of the types that [`work`] has can be [executed](execution).

mod check;
mod decide;
mod document;
pub mod execution;
pub mod expression;
pub mod facts;
mod read;
mod references;
mod replace;
mod result;
pub(crate) mod seal;
mod sight;
mod snapshot;
mod template;
mod values;
pub mod work;

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    id::{NodeId, Seq},
    time::Timestamp,
};

use self::execution::Execution;

pub(crate) use self::work::CONFIG_WORDS;
pub use self::{
    document::{About, Document, Shown},
    references::{Edge, EdgeKind},
    replace::WorkflowVersion,
    snapshot::{Snapshot, SnapshotPieces},
    values::Values,
};

/// The workflow as the state holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    /// How many times it was changed. This is its version.
    pub version: u64,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// When it was last changed; never, where it is as it was made with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// The highest number that a node ever had. No new node gets one of those.
    pub last_number: u64,
    /// The nodes that were deleted. No other gets the id of one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gone: BTreeSet<NodeId>,
    /// The entry that says what it is called, if it is called anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Its nodes in order.
    pub nodes: Vec<HeldNode>,
    /// Its newest executions, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Arc<Execution>>,
}

/// A node as its author wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its id. No other node ever gets it.
    pub id: NodeId,
    /// The kind of its work.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// Its configuration, with `[hidden]` in the place of each secret.
    pub config: Map<String, Value>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
}

/// A node as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldNode {
    /// The node.
    pub node: Arc<Node>,
    /// The entry that has it as it is now.
    pub seq: Seq,
    /// The status of its last execution.
    pub status: NodeStatus,
    /// The entry that has the result of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Seq>,
}

/// The status of a node's last execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// It was never executed.
    #[default]
    NotRun,
    /// It is being executed.
    Running,
    /// It did what it should.
    Success,
    /// It did not.
    Failed,
    /// It was passed over.
    Skipped,
}

impl Workflow {
    /// Whether this is the number of a node that was deleted.
    pub(crate) fn is_gone(&self, number: u64) -> bool {
        self.gone.contains(&NodeId(number))
    }

    /// The node with this id.
    pub fn get(&self, id: NodeId) -> Option<&HeldNode> {
        self.nodes.iter().find(|held| held.node.id == id)
    }

    /// The index of the node with this id.
    fn place(&self, id: NodeId) -> Option<usize> {
        self.nodes.iter().position(|held| held.node.id == id)
    }
}

impl NodeStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::NotRun, Self::Running, Self::Success, Self::Failed, Self::Skipped];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotRun => "not_run",
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// What all changes of the workflow have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Why, if its author says so.
    pub reason: Option<Arc<str>>,
    /// The version to change. If absent: any version.
    pub expected_version: Option<u64>,
}

/// A new node. The nodes at its position and behind it move back by one.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateNode {
    /// The kind of its work.
    pub kind: Arc<str>,
    /// How it does it: an object.
    pub config: Value,
    /// Its purpose.
    pub description: Option<Arc<str>>,
    /// Its place among the nodes, from 1; the last where it is left out.
    pub position: Option<u64>,
    /// Why, and which version is changed.
    pub change: Change,
}

/// A change of a node. Absent fields stay as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchNode {
    /// The node.
    pub id: NodeId,
    /// The kind of its work.
    pub kind: Option<Arc<str>>,
    /// How it does it now: an object that replaces the whole of what there was.
    pub config: Option<Value>,
    /// Its purpose. A blank text removes it.
    pub description: Option<Arc<str>>,
    /// Its new place among the nodes, from 1. The nodes between its old and its new place move by one.
    pub position: Option<u64>,
    /// Why, and which version is changed.
    pub change: Change,
}

/// A node is to be deleted, with its variables. The nodes behind it move up by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteNode {
    /// The node.
    pub id: NodeId,
    /// Why, and which version is changed.
    pub change: Change,
}

/// What the workflow as a whole is called. Absent fields stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchWorkflow {
    /// What people call it now. A blank text takes it away.
    pub name: Option<Arc<str>>,
    /// Its purpose. A blank text removes it.
    pub description: Option<Arc<str>>,
    /// Why, and which version is changed.
    pub change: Change,
}

/// A workflow in the place of the one that is there.
#[derive(Clone, Debug, PartialEq)]
pub struct PutWorkflow {
    /// Its `name` and `description`, as JSON; as before where it is left out.
    pub workflow: Option<Value>,
    /// All its nodes, as JSON: what is wrong with them is told all at once. What Callboard itself sets is ignored.
    pub nodes: Value,
    /// Why, and which version is replaced.
    pub change: Change,
}

/// The result of executing a node.
#[derive(Clone, Debug, PartialEq)]
pub struct PutResult {
    /// The node.
    pub id: NodeId,
    /// What happened to it.
    pub status: NodeStatus,
    /// What it gave: any JSON.
    pub result: Value,
    /// The variables that it set, by their names; `emails` of node 7 is `node7.emails`.
    pub variables: Map<String, Value>,
}

#[cfg(test)]
mod tests;
