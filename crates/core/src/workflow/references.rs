//! What nodes refer to in their configuration, and the edges that follow from it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Workflow,
    expression::names,
    work::{Said, texts},
};
use crate::id::{NodeId, VariableName, words};

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

words! {
    /// How a node relates to another.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WorkflowEdgeKind))]
    #[serde(rename_all = "snake_case")]
    pub enum EdgeKind {
        /// The other comes right after it.
        Next = "next",
        /// It reads a variable of the other.
        Reads = "reads",
        /// It names the other, to go on there.
        Route = "route",
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

/// What the configuration of a node of this type refers to. A text that is the id of a node is a route to it. One that is the
/// name of a variable of a node, or has it or the node itself (`node4`) in double braces, reads it; and so does an expression with
/// its name in it.
pub(super) fn references(kind: &str, config: &Map<String, Value>) -> Vec<Reference> {
    let refers = |Said { pointer, text, is_expression }: Said<'_>| {
        let found = if is_expression { in_expression(text) } else { in_text(text) };
        found.into_iter().map(move |(kind, to)| Reference { pointer: pointer.clone(), to, kind })
    };
    texts(kind, config).into_iter().flat_map(refers).collect()
}

fn in_expression(text: &str) -> BTreeSet<(EdgeKind, NodeId)> {
    names(text).iter().filter_map(|name| NodeId::of_variables(name)).map(|node| (EdgeKind::Reads, node)).collect()
}

fn in_text(text: &str) -> BTreeSet<(EdgeKind, NodeId)> {
    if let Ok(id) = text.trim().parse() {
        return [(EdgeKind::Route, id)].into();
    }
    let inner = text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0));
    let words = inner.flat_map(|inner| inner.split(|c: char| !is_plain(c) && c != '.'));
    // `node4.example.com` is no variable.
    let bare = Some(text.trim()).filter(|text| text.matches('.').count() == 1);
    let whole = |word: &str| NodeId::of_variables(word.split('[').next().unwrap_or_default());
    let read = words.filter_map(|word| read_in(word).or_else(|| whole(word))).chain(bare.and_then(read_in));
    read.map(|node| (EdgeKind::Reads, node)).collect()
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
            let named = references(&held.node.kind, &held.node.config)
                .into_iter()
                .map(|reference| (reference.kind, reference.to));
            let all: BTreeSet<_> = next.into_iter().chain(named).filter(|(_, to)| there.contains(to)).collect();
            edges.extend(all.into_iter().map(|(kind, to)| Edge { from: held.node.id, to, kind }));
        }
        edges
    }

    /// The nodes whose results may be what pages say: those that work in the browser, and those that read what these found.
    pub fn with_page_text(&self) -> BTreeSet<NodeId> {
        let nodes = self.nodes.iter().map(|held| &held.node);
        let mut found: BTreeSet<_> =
            nodes.filter(|node| node.kind.starts_with("browser_")).map(|node| node.id).collect();
        let reads: Vec<_> = self.edges().into_iter().filter(|edge| edge.kind == EdgeKind::Reads).collect();
        loop {
            let more = reads.iter().filter(|edge| found.contains(&edge.to) && !found.contains(&edge.from));
            let more: Vec<_> = more.map(|edge| edge.from).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }
}
