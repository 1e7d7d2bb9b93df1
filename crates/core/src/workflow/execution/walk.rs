//! The way through a workflow: which node is executed next. It is pure, and in memory only.

use super::super::{Workflow, work};
use crate::{error::Fault, id::NodeId};

use work::Goal;

/// A way through a workflow that is under way.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The nodes that may be executed, in their order.
    order: Vec<NodeId>,
    /// The place of the next node.
    at: usize,
    /// Whether it was gone to, and not just come to.
    jumped: bool,
    /// The nodes that are being repeated, the innermost last.
    loops: Vec<Loop>,
    /// The nodes that were executed.
    reached: std::collections::BTreeSet<NodeId>,
    /// The place at which it began.
    began: usize,
}

#[derive(Clone, Debug)]
struct Loop {
    node: NodeId,
    /// The places of the first node that is repeated, and of the one behind the last.
    first: usize,
    end: usize,
    round: usize,
    rounds: usize,
}

/// What is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This node is executed.
    Node(NodeId),
    /// The nodes behind this one are repeated once more: for its element with this index. Where it is not the first, the round
    /// before it came to its end.
    Round {
        /// The node that repeats them.
        node: NodeId,
        /// Which round begins, from 0.
        round: usize,
    },
    /// This node repeats nothing any more.
    Leave {
        /// The node that repeated others.
        node: NodeId,
        /// How many rounds there were, the last of which may have been left before its end.
        rounds: usize,
        /// Whether the last round came to its end.
        whole: bool,
    },
    /// All is done.
    Done,
}

impl Walk {
    /// A way through `workflow` from the node `from` on, or through these `nodes` alone.
    pub fn new(workflow: &Workflow, from: Option<NodeId>, nodes: Option<&[NodeId]>) -> Self {
        let all = workflow.nodes.iter().map(|held| held.node.id);
        let order: Vec<_> = all.filter(|id| nodes.is_none_or(|nodes| nodes.contains(id))).collect();
        let began = from.and_then(|from| order.iter().position(|id| *id == from)).unwrap_or_default();
        Self { order, at: began, jumped: false, loops: Vec::new(), reached: Default::default(), began }
    }

    /// Notes what stands in the way of executing the nodes on a way.
    pub(super) fn check(workflow: &Workflow, from: Option<NodeId>, nodes: Option<&[NodeId]>, faults: &mut Vec<Fault>) {
        let walk = Self::new(workflow, from, nodes);
        let at = if nodes.is_some() { "/nodes" } else { "" };
        if walk.order.is_empty() {
            let problem = "there is no node to execute: add one first".to_owned();
            faults.push(Fault { pointer: at.to_owned(), problem });
        }
        let mut bodies: Vec<(NodeId, usize)> = Vec::new();
        for (place, held) in workflow.nodes.iter().enumerate() {
            bodies.retain(|(_, end)| *end >= place);
            let node = &held.node;
            if !walk.order.contains(&node.id) {
                continue;
            }
            node.check_execution(at, faults);
            let Some(last) = node.repeats_through() else { continue };
            let end = workflow.nodes.iter().position(|held| held.node.id == last).unwrap_or_default();
            let mut fault = |problem| faults.push(Fault { pointer: at.to_owned(), problem });
            if end <= place {
                fault(format!("{}: /config/last: {last} does not stand behind it: move one of them", node.id));
            } else if let Some((outer, _)) = bodies.iter().find(|(_, outer_end)| end > *outer_end) {
                fault(format!("{}: /config/last: {last} stands behind the last node that {outer} repeats", node.id));
            } else {
                bodies.push((node.id, end));
            }
        }
    }

    /// What is next.
    pub fn step(&mut self) -> Next {
        if let Some(current) = self.loops.last_mut() {
            let ended = self.at == current.end && !self.jumped;
            if ended && current.round + 1 < current.rounds {
                current.round += 1;
                (self.at, self.jumped) = (current.first, false);
                return Next::Round { node: current.node, round: current.round };
            }
            if ended || !(current.first..current.end).contains(&self.at) {
                let (node, rounds) = (current.node, current.round + 1);
                self.loops.pop();
                return Next::Leave { node, rounds, whole: ended };
            }
        }
        match self.order.get(self.at) {
            Some(node) => {
                let node = *node;
                (self.at, self.jumped) = (self.at + 1, false);
                self.reached.insert(node);
                Next::Node(node)
            }
            None => Next::Done,
        }
    }

    /// Goes on elsewhere than at the node behind the last one. A node that is not on the way ends it.
    pub fn go_to(&mut self, goal: Goal) {
        let place = match goal {
            Goal::Node(id) => self.order.iter().position(|other| *other == id),
            Goal::End => None,
        };
        (self.at, self.jumped) = (place.unwrap_or(self.order.len()), true);
    }

    /// Repeats the nodes behind `node`, which was next, through `last`, so many times. Says whether there are any on the way.
    pub fn repeat(&mut self, node: NodeId, last: NodeId, rounds: usize) -> bool {
        let first = self.at;
        let end = self.order.iter().position(|id| *id == last).map(|place| place + 1);
        let Some(end) = end.filter(|end| *end > first) else { return false };
        if rounds == 0 {
            self.at = end;
            return false;
        }
        self.loops.push(Loop { node, first, end, round: 0, rounds });
        true
    }

    /// The nodes on the way that were passed over.
    pub fn skipped(&self) -> Vec<NodeId> {
        let behind = self.order.iter().skip(self.began);
        behind.filter(|id| !self.reached.contains(id)).copied().collect()
    }
}
