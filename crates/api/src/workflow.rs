//! The workflow, its nodes and their results.

use std::sync::Arc;

use callboard_core::{
    id::NodeId,
    number,
    time::Timestamp,
    workflow::{Change, NodeStatus, Shown},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use utoipa::{IntoParams, ToSchema};

use crate::query;

/// A workflow in the place of the one that is there. What `GET` answers can be given back.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutWorkflow {
    /// What it is called; as before where it is left out. What Callboard itself sets in it is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WorkflowName>)]
    pub workflow: Option<Value>,
    /// All its nodes. What Callboard itself sets in them is ignored.
    #[schema(value_type = Vec<WholeWorkflowNode>)]
    pub nodes: Value,
    /// Ignored: edges follow from the nodes.
    #[serde(default, skip_serializing)]
    pub edges: Option<Value>,
    /// Why it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version that it is to replace; any where it is left out.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// What a workflow is called, in a whole workflow.
#[derive(Clone, Debug, ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct WorkflowName {
    /// What people call it: at most 200 characters in one line.
    #[schema(value_type = Option<callboard_core::schema::Line>)]
    name: Option<String>,
    /// What it is for.
    description: Option<String>,
}

/// A node of a whole workflow.
#[derive(Clone, Debug, ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct WholeWorkflowNode {
    /// Its id; a number that no node had where it is left out.
    id: Option<NodeId>,
    /// Its place, from 1; its place in the list where it is left out. Each has its own.
    #[schema(minimum = 1)]
    position: Option<u64>,
    /// What kind of work it does.
    #[schema(value_type = callboard_core::schema::Label, max_length = 100)]
    r#type: String,
    /// How it does it.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
    /// What it is for.
    description: Option<String>,
}

/// A change of what the workflow as a whole is called. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowPatch {
    /// What people call it: at most 200 characters in one line. A blank text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<callboard_core::schema::Line>)]
    pub name: Option<Arc<str>>,
    /// What it is for. A blank text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Arc<str>>,
    /// Why it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version that is to be changed; any where it is left out.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A new node.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWorkflowNode {
    /// What kind of work it does: 1 to 100 characters in one line.
    #[serde(rename = "type")]
    #[schema(value_type = callboard_core::schema::Label, max_length = 100)]
    pub kind: Arc<str>,
    /// How it does it. A text in it that is the id of a node, or that names a variable of one, refers to that node, which
    /// must be there.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub config: Map<String, Value>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Arc<str>>,
    /// Its place among the nodes, from 1; the last where it is left out. The nodes from there on move back by one.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub position: Option<u64>,
    /// Why it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow that is to be changed; any where it is left out.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A change of a node. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowNodePatch {
    /// What kind of work it does now.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<callboard_core::schema::Label>, max_length = 100)]
    pub kind: Option<Arc<str>>,
    /// How it does it now: it replaces the whole of what there was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map<String, Value>>,
    /// What it is for now. A blank text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Arc<str>>,
    /// Its place among the nodes now, from 1. The nodes between its old and its new place move by one.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub position: Option<u64>,
    /// Why it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow that is to be changed; any where it is left out.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// Why the workflow is changed, and which version of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WorkflowChangeQuery {
    /// Why it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow that is to be changed; any where it is left out.
    #[serde(default, deserialize_with = "query::number", skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0)]
    pub expected_version: Option<u64>,
}

/// A node after it was made or changed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangedWorkflowNode {
    /// The node.
    #[serde(flatten)]
    pub node: Shown,
    /// The version of the workflow.
    pub version: u64,
}

/// What the execution of a node gave.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutNodeResult {
    /// How it went: any but `not_run`.
    pub status: NodeStatus,
    /// What it gave: any JSON of at most 16 MiB that is nested at most 64 levels deep.
    #[serde(default)]
    pub result: Value,
    /// The variables that it set, by their names: `emails` of node 7 is `node7.emails`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub variables: Map<String, Value>,
}

/// What the last execution of a node gave.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeResult {
    /// The node.
    pub node: NodeId,
    /// How it went.
    pub status: NodeStatus,
    /// What it gave. In the place of each secret stands `[hidden:NAME]`.
    #[schema(value_type = Value)]
    pub result: Box<RawValue>,
    /// When it was recorded.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl WorkflowChangeQuery {
    /// The same for a command.
    pub fn change(self) -> Change {
        Change { reason: self.reason, expected_version: self.expected_version }
    }
}
