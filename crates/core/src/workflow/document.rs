//! The workflow as prompts and callers are shown it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Edge, HeldNode, Node, NodeStatus, Workflow};
use crate::{id::NodeId, session::Session, time::Timestamp};

/// A workflow as prompts and callers are shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Workflow))]
pub struct Document {
    /// Its name, description and version.
    pub workflow: About,
    /// Its nodes in order.
    pub nodes: Vec<Shown>,
    /// The relations between its nodes. They follow from the order and the configuration of the nodes.
    pub edges: Vec<Edge>,
}

/// The name, the description and the version of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AboutWorkflow))]
pub struct About {
    /// Its id: a UUID, created together with the session.
    pub id: Arc<str>,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// How many times it was changed. This is its version.
    pub version: u64,
    /// When it was created: together with the session.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A node as prompts and callers are shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowNode))]
pub struct Shown {
    /// Its id. No other node ever gets it.
    pub id: NodeId,
    /// Its place among the nodes, from 1 without gaps.
    pub position: u64,
    /// The kind of its work.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// Its configuration, with `[hidden]` in the place of each secret.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub config: Map<String, Value>,
    /// Its purpose; null if nobody gave one.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, required))]
    pub description: Option<Arc<str>>,
    /// The status of its last execution.
    pub status: NodeStatus,
}

impl Workflow {
    /// The node with this id as it is shown.
    pub fn shown(&self, id: NodeId) -> Option<Shown> {
        let place = self.place(id)?;
        Some(self.nodes.get(place)?.shown(place))
    }

    /// The workflow of `session` as it is shown.
    pub fn document(&self, session: &Session) -> Document {
        let (id, created_at) = (session.workflow_id.clone(), session.created_at);
        let (name, description, version) = (self.name.clone(), self.description.clone(), self.version);
        let updated_at = self.updated_at.unwrap_or(created_at);
        let nodes = self.nodes.iter().enumerate().map(|(place, held)| held.shown(place)).collect();
        let workflow = About { id, name, description, version, created_at, updated_at };
        Document { workflow, nodes, edges: self.edges() }
    }
}

impl HeldNode {
    fn shown(&self, place: usize) -> Shown {
        let Node { id, kind, config, description } = Node::clone(&self.node);
        Shown { id, position: place as u64 + 1, kind, config, description, status: self.status }
    }
}
