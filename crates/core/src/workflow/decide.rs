//! Changing the workflow, node by node.

use std::sync::Arc;

use super::{
    CreateNode, DeleteNode, Node, NodePatch, PatchNode, PatchWorkflow,
    check::{check_about, check_position, object, refuse},
    execution::at_rest,
    facts::{NodeCreated, NodeDeleted, NodeUpdated, Placed, Updated},
    references::references,
    seal::{in_config, sealed},
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{ConflictKind, Error},
    id::NodeId,
    input::InputVisitor,
    plan,
    rights::Right,
    text::INLINE_BYTES,
    variable::ClearVariables,
};

impl KeptAnswer for NodeId {
    const NAME: &'static str = "node";
}

/// Makes a node.
impl Command for CreateNode {
    type Answer = NodeId;

    const RIGHT: Right = Right::manager("change the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<NodeId, Undecided> {
        let version = begin(decision, self.reason.as_ref(), self.expected_version)?;
        let workflow = decision.state.workflow.clone();
        let mut faults = Vec::new();
        let position = self.position.unwrap_or(workflow.nodes.len() as u64 + 1);
        check_position(position, workflow.nodes.len() + 1, &mut faults);
        let id = NodeId(workflow.last_number.saturating_add(1));
        let description = self.description.clone().filter(|text| !text.trim().is_empty());
        let config = object(&self.config, "", &mut faults);
        let node = Node { id, kind: self.kind.trim().into(), config, description };
        node.check("", |id| workflow.get(id).is_some() || id == node.id, &mut faults);
        refuse(faults)?;
        let sealed = sealed(decision, in_config(None), &self.config, None, "/config")?;
        let node = Arc::new(node);
        decision.record(NodeCreated(Placed { version, position, node, sealed, reason: self.reason.clone() }));
        decision.state.workflow.check_size()?;
        Ok(id)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/type"), &self.kind);
        visitor.keys(format_args!("/config"), &self.config);
        visitor.variable(&in_config(None), None, &mut self.config);
        visitor.text_if_any(&mut self.description);
        visitor.text_if_any(&mut self.reason);
    }
}

/// Changes a node. Where nothing changes, nothing is recorded.
impl Command for PatchNode {
    type Answer = ();

    const RIGHT: Right = Right::manager("change the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { id, patch } = self;
        let NodePatch { kind, config, description, position, reason, expected_version } = patch;
        let version = begin(decision, reason.as_ref(), *expected_version)?;
        if kind.is_none() && config.is_none() && description.is_none() && position.is_none() {
            let problem = "say what is to change: type, config, description or position";
            return Err(Error::invalid("", problem).into());
        }
        let workflow = decision.state.workflow.clone();
        let before = workflow.shown(*id).ok_or_else(|| Error::not_found("node", id))?;
        let mut faults = Vec::new();
        let position = position.unwrap_or(before.position);
        check_position(position, workflow.nodes.len(), &mut faults);
        let description = or(description, &before.description);
        let new_config = config.as_ref().map(|config| object(config, "", &mut faults));
        let kind = kind.as_ref().map_or(before.kind, |kind| kind.trim().into());
        let node = Node { id: *id, kind, config: new_config.unwrap_or_else(|| before.config.clone()), description };
        node.check("", |id| workflow.get(id).is_some(), &mut faults);
        refuse(faults)?;
        let sealed = match config {
            Some(config) => sealed(decision, in_config(Some(*id)), config, Some(&before.config.into()), "/config")?,
            None => None,
        };
        let is_same = workflow.get(*id).is_some_and(|held| *held.node == node) && position == before.position;
        if !is_same || sealed.is_some() {
            let node = Arc::new(node);
            decision.record(NodeUpdated(Placed { version, position, node, sealed, reason: reason.clone() }));
            decision.state.workflow.check_size()?;
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        let NodePatch { kind, config, description, reason, .. } = &mut self.patch;
        if let Some(kind) = kind {
            visitor.name(format_args!("/type"), kind);
        }
        if let Some(config) = config {
            visitor.keys(format_args!("/config"), config);
            visitor.variable(&in_config(Some(self.id)), None, config);
        }
        visitor.text_if_any(description);
        visitor.text_if_any(reason);
    }
}

/// Deletes a node. One that others refer to is not deleted.
impl Command for DeleteNode {
    type Answer = ();

    const RIGHT: Right = Right::manager("change the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let version = begin(decision, self.reason.as_ref(), self.expected_version)?;
        let workflow = decision.state.workflow.clone();
        workflow.get(self.id).ok_or_else(|| Error::not_found("node", self.id))?;
        let others = workflow.nodes.iter().filter(|held| held.node.id != self.id);
        let referring = others.flat_map(|held| {
            let here =
                references(&held.node.kind, &held.node.config).into_iter().filter(|reference| reference.to == self.id);
            here.map(|reference| format!("{} at /config{}", held.node.id, reference.pointer))
        });
        let referring: Vec<_> = referring.collect();
        if !referring.is_empty() {
            let what = format!("other nodes refer to {}: {}", self.id, referring.join(", "));
            let hint = "change these nodes first, or replace the whole workflow";
            return Err(Error::conflict(ConflictKind::NodeInUse, what, hint).into());
        }
        delete(decision, &[self.id], version, self.reason.as_ref())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.reason);
    }
}

/// Names or describes the workflow. Where nothing changes, nothing is recorded.
impl Command for PatchWorkflow {
    type Answer = ();

    const RIGHT: Right = Right::manager("change the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let version = begin(decision, self.reason.as_ref(), self.expected_version)?;
        if self.name.is_none() && self.description.is_none() {
            return Err(Error::invalid("", "say what is to change: name, description or both").into());
        }
        let workflow = decision.state.workflow.clone();
        let (name, description) = (or(&self.name, &workflow.name), or(&self.description, &workflow.description));
        let mut faults = Vec::new();
        check_about(name.as_deref(), description.as_deref(), "", &mut faults);
        refuse(faults)?;
        if (&name, &description) != (&workflow.name, &workflow.description) {
            let reason = self.reason.clone();
            decision.record(Updated { version, name, description, order: None, reason });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.name);
        visitor.text_if_any(&mut self.description);
        visitor.text_if_any(&mut self.reason);
    }
}

/// The version that a change makes, if its author may make it.
pub(super) fn begin(
    decision: &DecisionBuilder<'_>,
    reason: Option<&Arc<str>>,
    expected_version: Option<u64>,
) -> Result<u64, Error> {
    at_rest(decision.state.workflow.at_work())?;
    let version = decision.state.workflow.version;
    if reason.is_some_and(|reason| reason.len() > INLINE_BYTES) {
        return Err(Error::invalid("/reason", format!("use at most {INLINE_BYTES} bytes")));
    }
    if let Some(expected) = expected_version.filter(|expected| *expected != version) {
        let what = format!("/expected_version: the workflow has version {version} by now, not {expected}");
        return Err(Error::conflict(ConflictKind::StaleWorkflow, what, "read the workflow, and change that version"));
    }
    Ok(version.saturating_add(1))
}

/// Deletes nodes and what belongs to them: their variables, and their names in the tasks of the plan.
pub(super) fn delete(
    decision: &mut DecisionBuilder<'_>,
    ids: &[NodeId],
    version: u64,
    reason: Option<&Arc<str>>,
) -> Result<(), Undecided> {
    for id in ids {
        decision.record(NodeDeleted { version, id: *id, reason: reason.cloned() });
        let reason: Arc<str> = format!("{id} was deleted").into();
        let names = decision.state.variables.iter().map(|variable| &variable.name);
        let own: Vec<_> = names.filter(|name| name.node() == Some(id.0)).cloned().collect();
        for name in own {
            ClearVariables { name: Some(name), reason: reason.clone() }.perform(decision)?;
        }
    }
    if let Some(plan) = decision.state.plan.clone().and_then(|held| held.plan.without(ids)) {
        let names = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        plan::decide::record(decision, plan, format!("deleted from the workflow: {names}").into());
    }
    Ok(())
}

/// What is given, or what was there before where nothing is; nothing where it is blank.
fn or(given: &Option<Arc<str>>, before: &Option<Arc<str>>) -> Option<Arc<str>> {
    given.as_ref().or(before.as_ref()).cloned().filter(|text| !text.trim().is_empty())
}
