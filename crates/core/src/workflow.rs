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
pub mod work;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    id::{NodeId, Seq, VariableName, words},
    number,
    time::Timestamp,
};

use self::execution::Execution;

pub(crate) use self::work::CONFIG_WORDS;
pub use self::{
    document::{About, Document, Shown},
    references::{Edge, EdgeKind},
    replace::WorkflowVersion,
    snapshot::{Snapshot, SnapshotPieces},
};

/// Values by the names of their variables, with `[hidden]` in the place of each secret.
pub type Values = BTreeMap<VariableName, Value>;

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

words! {
    /// The status of a node's last execution.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum NodeStatus {
        /// It was never executed.
        #[default]
        NotRun = "not_run",
        /// It is being executed.
        Running = "running",
        /// It did what it should.
        Success = "success",
        /// It did not.
        Failed = "failed",
        /// It was passed over.
        Skipped = "skipped",
    }
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

/// A new node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewWorkflowNode))]
#[serde(deny_unknown_fields)]
pub struct CreateNode {
    /// The kind of its work: 1 to 100 characters in one line.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Label, max_length = 100))]
    pub kind: Arc<str>,
    /// Its configuration. A text in it that is the id of a node, or names a variable of a node, refers to that node,
    /// which must exist.
    #[serde(default = "no_config")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub config: Value,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// Its place among the nodes, from 1. The nodes from there on move back by one. If absent: the last place.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub position: Option<u64>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow to change. If absent: any.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

fn no_config() -> Value {
    Value::Object(Map::new())
}

/// The command to change a node.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchNode {
    /// The node.
    pub id: NodeId,
    /// What changes in it.
    pub patch: NodePatch,
}

/// A change of a node. Absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowNodePatch))]
#[serde(deny_unknown_fields)]
pub struct NodePatch {
    /// The kind of its work.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Label>, max_length = 100))]
    pub kind: Option<Arc<str>>,
    /// Its configuration, which replaces the old one as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub config: Option<Value>,
    /// Its purpose. A blank text removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// Its new place among the nodes, from 1. The nodes between its old and its new place move by one.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub position: Option<u64>,
    /// The reason for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow to change. If absent: any.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A node is to be deleted, with its variables. The nodes behind it move up by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteNode {
    /// The node.
    pub id: NodeId,
    /// The reason for the change.
    pub reason: Option<Arc<str>>,
    /// The version to change. If absent: any version.
    pub expected_version: Option<u64>,
}

/// A change of the name or the description of a workflow. Absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowPatch))]
#[serde(deny_unknown_fields)]
pub struct PatchWorkflow {
    /// Its name: at most 200 characters in one line. A blank text removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Line>))]
    pub name: Option<Arc<str>>,
    /// Its purpose. A blank text removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// The reason for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The version to change. If absent: any version.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A workflow in the place of the one that is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PutWorkflow {
    /// Its `name` and `description`, as JSON; as before where it is left out.
    pub workflow: Option<Value>,
    /// All its nodes, as JSON: what is wrong with them is told all at once. What Callboard itself sets is ignored.
    pub nodes: Value,
    /// The reason for the change.
    pub reason: Option<Arc<str>>,
    /// The version to replace. If absent: any version.
    pub expected_version: Option<u64>,
}

/// The command to record the result of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct PutResult {
    /// The node.
    pub id: NodeId,
    /// Its result.
    pub given: GivenResult,
}

/// The result of executing a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PutNodeResult))]
#[serde(deny_unknown_fields)]
pub struct GivenResult {
    /// The status: any but `not_run`.
    pub status: NodeStatus,
    /// The result: any JSON of at most 16 MiB that is nested at most 64 levels deep.
    #[serde(default)]
    pub result: Value,
    /// The variables that it set, by name: `emails` of node 7 becomes `node7.emails`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub variables: Map<String, Value>,
}

#[cfg(test)]
mod tests;
