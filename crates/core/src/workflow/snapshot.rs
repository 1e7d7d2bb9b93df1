//! Snapshots of a workflow: as much of it as there is room for, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Document, Edge, Workflow};
use crate::{
    id::{NodeId, Seq},
    json::value_of,
    session::Session,
};

/// A workflow, written as JSON node by node, from which snapshots are put together.
pub struct SnapshotPieces {
    about: String,
    /// The entry that says what the workflow is called.
    seq: Option<Seq>,
    nodes: Vec<NodePiece>,
    edges: Vec<(Edge, String)>,
}

/// A node as it stands in a snapshot.
struct NodePiece {
    id: NodeId,
    seq: Seq,
    /// How many nodes were changed later.
    rank: usize,
    whole: String,
    /// Without its configuration.
    short: String,
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
    /// The workflow of `session` in pieces.
    pub fn pieces(&self, session: &Session) -> SnapshotPieces {
        let Document { workflow, nodes, edges } = self.document(session);
        let mut newest: Vec<_> = self.nodes.iter().map(|held| (held.seq, held.node.id)).collect();
        newest.sort_unstable_by(|one, other| other.cmp(one));
        let ranks: BTreeMap<_, _> = newest.into_iter().zip(0..).map(|((seq, id), rank)| (id, (seq, rank))).collect();
        let piece = |node: super::Shown| {
            let (seq, rank) = ranks.get(&node.id).copied().unwrap_or_default();
            let mut value = value_of(&node);
            let whole = indented(&value, 4);
            if let Some(fields) = value.as_object_mut() {
                fields.shift_remove("config");
            }
            NodePiece { id: node.id, seq, rank, whole, short: indented(&value, 4) }
        };
        let line = |edge: Edge| {
            let Edge { from, to, kind } = &edge;
            let line = format!(r#"{{"from": "{from}", "to": "{to}", "kind": "{}"}}"#, kind.as_str());
            (edge, line)
        };
        let (nodes, edges) = (nodes.into_iter().map(piece).collect(), edges.into_iter().map(line).collect());
        SnapshotPieces { about: indented(&workflow, 2), seq: self.seq, nodes, edges }
    }
}

impl SnapshotPieces {
    /// As many nodes as `whole` says are shown whole, and so many more as `short` says without their configuration: first
    /// those that were changed last. Edges of nodes that are left out are left out.
    pub fn snapshot(&self, whole: usize, short: usize) -> Snapshot {
        let (mut shown, mut shows) = (Vec::new(), Vec::from_iter(self.seq));
        let (mut without_config, mut left_out) = (Vec::new(), BTreeSet::new());
        for node in &self.nodes {
            if node.rank >= whole.saturating_add(short) {
                left_out.insert(node.id);
                continue;
            }
            shows.push(node.seq);
            if node.rank < whole {
                shown.push(node.whole.as_str());
            } else {
                without_config.push(node.id);
                shown.push(node.short.as_str());
            }
        }
        let is_shown = |edge: &Edge| !left_out.contains(&edge.from) && !left_out.contains(&edge.to);
        let edges = self.edges.iter().filter(|(edge, _)| is_shown(edge)).map(|(_, line)| line.as_str()).collect();
        let (nodes, edges) = (list(shown), list(edges));
        let json = format!("{{\n  \"workflow\": {},\n  \"nodes\": {nodes},\n  \"edges\": {edges}\n}}", self.about);
        Snapshot { json, shows, without_config, left_out }
    }
}

/// JSON of which all lines but the first are moved to the right. A text in JSON has no line end.
fn indented(value: &impl Serialize, blanks: usize) -> String {
    format!("{:#}", value_of(value)).replace('\n', &format!("\n{:blanks$}", ""))
}

/// A list as a field of the outermost object.
fn list(items: Vec<&str>) -> String {
    if items.is_empty() { "[]".to_owned() } else { format!("[\n    {}\n  ]", items.join(",\n    ")) }
}
