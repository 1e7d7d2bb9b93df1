//! What nodes refer to in their configuration, and the edges that follow from it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Workflow;
use crate::{
    id::{NodeId, VariableName},
    json::pointer_token,
};

/// A relation between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowEdge))]
pub struct Edge {
    /// The node at which it begins.
    pub from: NodeId,
    /// The node that it leads to.
    pub to: NodeId,
    /// The kind of relation.
    pub kind: EdgeKind,
}

/// How a node relates to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowEdgeKind))]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The other comes right after it.
    Next,
    /// It reads a variable of the other.
    Reads,
    /// It names the other, to go on there.
    Route,
}

impl EdgeKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Reads => "reads",
            Self::Route => "route",
        }
    }
}

/// A place in a configuration that refers to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// Where, as a JSON pointer within the configuration.
    pub(super) pointer: String,
    /// To which node.
    pub(super) to: NodeId,
    /// How.
    pub(super) kind: EdgeKind,
}

/// What a configuration refers to. A text that is the id of a node is a route to it. One that is the name of a variable
/// of a node, or has it in double braces, reads it.
pub(super) fn references(config: &Map<String, Value>) -> Vec<Reference> {
    let mut found = Vec::new();
    search(config, "", &mut found);
    found
}

fn search(fields: &Map<String, Value>, at: &str, found: &mut Vec<Reference>) {
    for (name, value) in fields {
        look(value, format!("{at}/{}", pointer_token(name)), found);
    }
}

fn look(value: &Value, at: String, found: &mut Vec<Reference>) {
    match value {
        Value::String(text) => {
            let refers = |(kind, to)| Reference { pointer: at.clone(), to, kind };
            found.extend(in_text(text).into_iter().map(refers));
        }
        Value::Array(all) => all.iter().enumerate().for_each(|(n, value)| look(value, format!("{at}/{n}"), found)),
        Value::Object(fields) => search(fields, &at, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn in_text(text: &str) -> BTreeSet<(EdgeKind, NodeId)> {
    if let Ok(id) = text.trim().parse() {
        return [(EdgeKind::Route, id)].into();
    }
    let inner = text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0));
    let words = inner.flat_map(|inner| inner.split(|c: char| !is_plain(c) && c != '.'));
    // `node4.example.com` is no variable.
    let bare = Some(text.trim()).filter(|text| text.matches('.').count() == 1);
    words.chain(bare).filter_map(read_in).map(|node| (EdgeKind::Reads, node)).collect()
}

/// The node whose variable `text` names: `node7.emails`, also with a way into its value behind it.
fn read_in(text: &str) -> Option<NodeId> {
    let (_, name) = text.split_once('.')?;
    let is_name =
        name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| is_plain(c) || c == '.');
    let variable: VariableName = text.parse().ok().filter(|_| is_name)?;
    variable.node().map(NodeId)
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "_[]-".contains(c)
}

impl Workflow {
    /// What relates its nodes, in their order.
    pub fn edges(&self) -> Vec<Edge> {
        let there: BTreeSet<_> = self.nodes.iter().map(|held| held.node.id).collect();
        let mut edges = Vec::new();
        for (place, held) in self.nodes.iter().enumerate() {
            let next = self.nodes.get(place + 1).map(|next| (EdgeKind::Next, next.node.id));
            let named = references(&held.node.config).into_iter().map(|reference| (reference.kind, reference.to));
            let all: BTreeSet<_> = next.into_iter().chain(named).filter(|(_, to)| there.contains(to)).collect();
            edges.extend(all.into_iter().map(|(kind, to)| Edge { from: held.node.id, to, kind }));
        }
        edges
    }
}
