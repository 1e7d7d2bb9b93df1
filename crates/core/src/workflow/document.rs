//! The workflow as prompts and callers are shown it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Edge, Held, Node, NodeStatus, Workflow};
use crate::{
    id::{NodeId, Seq},
    session::Session,
    time::Timestamp,
};

/// A workflow as prompts and callers are shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Workflow))]
pub struct Document {
    /// What is known of it as a whole.
    pub workflow: About,
    /// Its nodes in order.
    pub nodes: Vec<Shown>,
    /// What relates its nodes. It follows from their order and their configuration.
    pub edges: Vec<Edge>,
}

/// What is known of a workflow as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AboutWorkflow))]
pub struct About {
    /// Its id: a UUID that was made with the session.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: Arc<str>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub name: Option<Arc<str>>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub description: Option<Arc<str>>,
    /// How often it was changed.
    pub version: u64,
    /// When it was made: with the session.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A node as prompts and callers are shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowNode))]
pub struct Shown {
    /// Its id, which is its own for ever.
    pub id: NodeId,
    /// Its place among the nodes, from 1 without gaps.
    pub position: u64,
    /// What kind of work it does.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub kind: Arc<str>,
    /// How it does it, with `[hidden:NAME]` in the place of each secret.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub config: Map<String, Value>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub description: Option<Arc<str>>,
    /// How its last execution went.
    pub status: NodeStatus,
}

/// Some of a workflow, written as JSON.
pub struct Snapshot {
    /// The JSON.
    pub json: String,
    /// The entries that have what it says.
    pub shows: Vec<Seq>,
    /// The nodes that are shown without their configuration.
    pub without_config: Vec<NodeId>,
    /// The nodes that are left out.
    pub left_out: BTreeSet<NodeId>,
}

impl Workflow {
    /// The workflow of `session` as JSON. As many nodes as `whole` says are shown whole, and so many more as `short` says
    /// without their configuration: first those that were changed last. Edges to what is left out are left out.
    pub fn snapshot(&self, session: &Session, whole: usize, short: usize) -> Snapshot {
        let Document { workflow, nodes, edges } = self.document(session);
        let mut newest: Vec<_> = self.nodes.iter().map(|held| (held.seq, held.node.id)).collect();
        newest.sort_unstable_by(|one, other| other.cmp(one));
        let ranks: BTreeMap<_, _> = newest.into_iter().enumerate().map(|(rank, (_, id))| (id, rank)).collect();
        let (mut shown, mut without_config, mut left_out) = (Vec::new(), Vec::new(), BTreeSet::new());
        for node in nodes {
            let (id, rank) = (node.id, ranks.get(&node.id).copied().unwrap_or_default());
            if rank >= whole.saturating_add(short) {
                left_out.insert(id);
                continue;
            }
            let mut node = serde_json::to_value(node).unwrap_or_default();
            if rank >= whole
                && let Some(fields) = node.as_object_mut()
            {
                fields.shift_remove("config");
                without_config.push(id);
            }
            shown.push(node);
        }
        let above = serde_json::json!({"workflow": workflow, "nodes": shown});
        let above = serde_json::to_string_pretty(&above).unwrap_or_default();
        let edges = edges.iter().filter(|edge| !left_out.contains(&edge.from) && !left_out.contains(&edge.to));
        let line = |Edge { from, to, kind }: &Edge| {
            format!(r#"    {{"from": "{from}", "to": "{to}", "kind": "{}"}}"#, kind.as_str())
        };
        let edges: Vec<_> = edges.map(line).collect();
        let edges = if edges.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", edges.join(",\n")) };
        let json = format!("{},\n  \"edges\": {edges}\n}}", above.trim_end_matches('}').trim_end());
        let nodes = self.nodes.iter().filter(|held| !left_out.contains(&held.node.id)).map(|held| held.seq);
        Snapshot { json, shows: self.seq.into_iter().chain(nodes).collect(), without_config, left_out }
    }

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

impl Held {
    fn shown(&self, place: usize) -> Shown {
        let Node { id, kind, config, description } = Node::clone(&self.node);
        Shown { id, position: place as u64 + 1, kind, config, description, status: self.status }
    }
}
