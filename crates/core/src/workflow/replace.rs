//! Replacing a whole workflow: what differs is recorded, node by node.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Node, PutWorkflow, Workflow,
    check::{MAX_BYTES, MAX_NODES, refuse},
    decide::{begin, delete},
    facts::{NodeCreated, NodeUpdated, Placed, Updated},
    read::{NewNode, read},
    result::items,
    seal::{in_config, sealed},
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{Error, Fault},
    id::NodeId,
    input::InputVisitor,
    json,
    rights::Right,
};

/// The version of the workflow that a change made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkflowVersion(pub u64);

impl KeptAnswer for WorkflowVersion {
    const NAME: &'static str = "workflow_version";
}

/// Replaces the workflow. It makes a version also where it says the same as before: its reason is new.
impl Command for PutWorkflow {
    type Answer = WorkflowVersion;

    const RIGHT: Right = Right::manager("change the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<WorkflowVersion, Undecided> {
        let version = begin(decision, self.reason.as_ref(), self.expected_version)?;
        let size_bytes = json::size_bytes(&self.nodes);
        if size_bytes > MAX_BYTES {
            return Err(Error::TooLarge { what: "the workflow".to_owned(), size_bytes, max_bytes: MAX_BYTES }.into());
        }
        let (about, new) = read(self.workflow.as_ref(), &self.nodes)?;
        if new.len() > MAX_NODES {
            return Err(Error::invalid("/nodes", format!("a workflow has at most {MAX_NODES} nodes")).into());
        }
        let before = decision.state.workflow.clone();
        refuse(gone(&new, &before))?;
        let nodes = numbered(new, &before);
        check(&nodes)?;
        let order: Vec<_> = nodes.iter().map(|new| new.node.id).collect();
        let gone = before.nodes.iter().map(|held| held.node.id).filter(|id| !order.contains(id));
        delete(decision, &gone.collect::<Vec<_>>(), version, None)?;
        for new in nodes {
            record(decision, &before, new, version)?;
        }
        let (name, description) = about.unwrap_or_else(|| (before.name.clone(), before.description.clone()));
        let reason = self.reason.clone();
        decision.record(Updated { version, name, description, order: Some(order), reason });
        decision.state.workflow.check_size()?;
        Ok(WorkflowVersion(version))
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.keys(format_args!("/nodes"), &self.nodes);
        for node in self.nodes.as_array_mut().into_iter().flatten() {
            let id = node.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
            if let Some(config) = node.get_mut("config") {
                visitor.variable(&in_config(id), None, config);
            }
        }
        visitor.json(&mut self.nodes);
        if let Some(about) = &mut self.workflow {
            visitor.keys(format_args!("/workflow"), about);
            visitor.json(about);
        }
        visitor.text_if_any(&mut self.reason);
    }

    fn items(&self) -> usize {
        1 + items([&self.nodes])
    }
}

/// A node with its id.
struct Numbered {
    /// Its place in what was sent, as a JSON pointer.
    at: String,
    node: Node,
    /// What the secrets in its configuration are called.
    secrets: String,
}

/// Nodes that are given the number of one that is gone.
fn gone(new: &[NewNode], before: &Workflow) -> Vec<Fault> {
    let gone = new.iter().filter_map(|node| Some((node, node.id?))).filter(|(_, id)| before.is_gone(id.0));
    let fault = |(node, id): (&NewNode, NodeId)| {
        let problem = format!("there is no {id} any more, and no other node gets its number: leave the id out");
        Fault { pointer: format!("{}/id", node.at), problem }
    };
    gone.map(fault).collect()
}

/// The nodes with their ids. One without an id gets a number that no node had.
fn numbered(new: Vec<NewNode>, before: &Workflow) -> Vec<Numbered> {
    let given = new.iter().filter_map(|node| node.id).map(|id| id.0).max();
    let mut last = before.last_number.max(given.unwrap_or_default());
    let number = |NewNode { at, id, kind, config, description, .. }: NewNode| {
        let secrets = in_config(id);
        let id = id.unwrap_or_else(|| {
            last = last.saturating_add(1);
            NodeId(last)
        });
        Numbered { at, node: Node { id, kind, config, description }, secrets }
    };
    new.into_iter().map(number).collect()
}

/// Refuses nodes that are not valid, or refer to nodes that are not among them.
fn check(nodes: &[Numbered]) -> Result<(), Error> {
    let there: BTreeSet<_> = nodes.iter().map(|new| new.node.id).collect();
    let mut faults = Vec::new();
    for Numbered { at, node, .. } in nodes {
        node.check(at, |id| there.contains(&id), &mut faults);
    }
    refuse(faults)
}

/// Records a node that is new or changed. Its place is told later, with that of all others.
fn record(decision: &mut DecisionBuilder<'_>, before: &Workflow, new: Numbered, version: u64) -> Result<(), Error> {
    let Numbered { at, node, secrets } = new;
    let held = before.get(node.id);
    let config = Value::from(node.config.clone());
    let config_before = held.map(|held| Value::from(held.node.config.clone()));
    let sealed = sealed(decision, secrets, &config, config_before.as_ref(), &format!("{at}/config"))?;
    let is_same = held.is_some_and(|held| *held.node == node) && sealed.is_none();
    let now = &decision.state.workflow;
    let position = now.shown(node.id).map_or(now.nodes.len() as u64 + 1, |shown| shown.position);
    let placed = Placed { version, position, node: Arc::new(node), sealed, reason: None };
    match held {
        Some(_) if is_same => {}
        Some(_) => decision.record(NodeUpdated(placed)),
        None => decision.record(NodeCreated(placed)),
    }
    Ok(())
}
