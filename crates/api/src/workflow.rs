//! The workflow, its nodes and their results.

use std::sync::Arc;

use callboard_core::{
    id::NodeId,
    number,
    time::Timestamp,
    workflow::{NodeStatus, Shown, execution::Execution},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use utoipa::{IntoParams, ToSchema};

use crate::query;

/// A workflow that replaces the present one. It has the form of the answer of `GET`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutWorkflow {
    /// Its name and description. If absent: as before. Fields that Callboard sets are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WorkflowName>)]
    pub workflow: Option<Value>,
    /// All its nodes. Fields that Callboard sets are ignored.
    #[schema(value_type = Vec<WholeWorkflowNode>)]
    pub nodes: Value,
    /// Ignored: edges follow from the nodes.
    #[serde(default, skip_serializing)]
    pub edges: Option<Value>,
    /// The reason for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The version to replace. If absent: any version.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// The name and the description in a whole workflow.
#[derive(Clone, Debug, ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct WorkflowName {
    /// Its name: at most 200 characters in one line.
    #[schema(value_type = Option<callboard_core::schema::Line>)]
    name: Option<String>,
    /// Its purpose.
    description: Option<String>,
}

/// A node of a whole workflow.
#[derive(Clone, Debug, ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct WholeWorkflowNode {
    /// Its id. If absent: one that no node had before.
    id: Option<NodeId>,
    /// Its place, from 1; no two nodes share one. If absent: its place in the list.
    #[schema(minimum = 1)]
    position: Option<u64>,
    /// The kind of its work.
    #[schema(value_type = callboard_core::schema::Label, max_length = 100)]
    r#type: String,
    /// Its configuration.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
    /// Its purpose.
    description: Option<String>,
}

/// Why the workflow is changed, and which version of it.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WorkflowChangeQuery {
    /// The reason for the change.
    #[param(value_type = Option<String>)]
    pub reason: Option<Arc<str>>,
    /// The version of the workflow to change. If absent: any.
    #[serde(default, deserialize_with = "query::number")]
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

/// The result of a node's last execution.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeResult {
    /// The node.
    pub node: NodeId,
    /// What happened to it.
    pub status: NodeStatus,
    /// The result. `[hidden]` stands in the place of each secret.
    #[schema(value_type = Value)]
    pub result: Box<RawValue>,
    /// When it was recorded.
    pub at: Timestamp,
}

/// The newest executions of the workflow of a session.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutionList {
    /// The executions, the newest first.
    pub executions: Vec<Execution>,
}
