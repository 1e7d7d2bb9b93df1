//! Changing the workflow, node by node.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Change, CreateNode, DeleteNode, Node, PatchNode, PatchWorkflow, Workflow,
    facts::{NodeCreated, NodeDeleted, NodeUpdated, Placed, Updated},
    references::references,
    seal::{in_config, sealed},
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{ConflictKind, Error, Fault},
    id::{NodeId, is_control},
    input::InputVisitor,
    json, plan, rights,
    text::INLINE_BYTES,
    variable::ClearVariable,
};

/// How large all nodes may be together. The state holds them.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// How many nodes there may be.
pub(super) const MAX_NODES: usize = 1000;

/// How many characters the type of a node has at most.
const TYPE_CHARS: usize = 100;

impl KeptAnswer for NodeId {
    const NAME: &'static str = "node";
}

/// Makes a node.
impl Command for CreateNode {
    type Answer = NodeId;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<NodeId, Undecided> {
        let version = self.change.begin(decision)?;
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
        decision.record(NodeCreated(Placed { version, position, node, sealed, reason: self.change.reason.clone() }));
        decision.state.workflow.check_size()?;
        Ok(id)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/type"), &self.kind);
        visitor.variable(&in_config(None), None, &mut self.config);
        visitor.text_if_any(&mut self.description);
        visitor.text_if_any(&mut self.change.reason);
    }
}

/// Changes a node. Where nothing changes, nothing is recorded.
impl Command for PatchNode {
    type Answer = ();

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let version = self.change.begin(decision)?;
        let Self { id, kind, config, description, position, .. } = self;
        if kind.is_none() && config.is_none() && description.is_none() && position.is_none() {
            let problem = "say what is to change: type, config, description or position";
            return Err(Error::invalid("", problem).into());
        }
        let workflow = decision.state.workflow.clone();
        let before = workflow.shown(*id).ok_or_else(|| Error::not_found("node", id))?;
        let mut faults = Vec::new();
        let position = position.unwrap_or(before.position);
        check_position(position, workflow.nodes.len(), &mut faults);
        let description = match description {
            Some(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            None => before.description,
        };
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
            decision.record(NodeUpdated(Placed {
                version,
                position,
                node,
                sealed,
                reason: self.change.reason.clone(),
            }));
            decision.state.workflow.check_size()?;
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        if let Some(kind) = &self.kind {
            visitor.name(format_args!("/type"), kind);
        }
        if let Some(config) = &mut self.config {
            visitor.variable(&in_config(Some(self.id)), None, config);
        }
        visitor.text_if_any(&mut self.description);
        visitor.text_if_any(&mut self.change.reason);
    }
}

/// Deletes a node. One that others refer to is not deleted.
impl Command for DeleteNode {
    type Answer = ();

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let version = self.change.begin(decision)?;
        let workflow = decision.state.workflow.clone();
        workflow.get(self.id).ok_or_else(|| Error::not_found("node", self.id))?;
        let others = workflow.nodes.iter().filter(|held| held.node.id != self.id);
        let referring = others.flat_map(|held| {
            let here = references(&held.node.config).into_iter().filter(|reference| reference.to == self.id);
            here.map(|reference| format!("{} at /config{}", held.node.id, reference.pointer))
        });
        let referring: Vec<_> = referring.collect();
        if !referring.is_empty() {
            return Err(Error::Conflict {
                kind: ConflictKind::NodeInUse,
                what: format!("other nodes refer to {}: {}", self.id, referring.join(", ")),
                hint: "change these nodes first, or replace the whole workflow",
            }
            .into());
        }
        delete(decision, &[self.id], version, self.change.reason.as_ref())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.change.reason);
    }
}

/// Names or describes the workflow. Where nothing changes, nothing is recorded.
impl Command for PatchWorkflow {
    type Answer = ();

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let version = self.change.begin(decision)?;
        if self.name.is_none() && self.description.is_none() {
            return Err(Error::invalid("", "say what is to change: name, description or both").into());
        }
        let workflow = decision.state.workflow.clone();
        let (name, description) = (or(&self.name, &workflow.name), or(&self.description, &workflow.description));
        let mut faults = Vec::new();
        check_about(name.as_deref(), description.as_deref(), "", &mut faults);
        refuse(faults)?;
        if (&name, &description) != (&workflow.name, &workflow.description) {
            let reason = self.change.reason.clone();
            decision.record(Updated { version, name, description, order: None, reason });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.name);
        visitor.text_if_any(&mut self.description);
        visitor.text_if_any(&mut self.change.reason);
    }
}

impl Change {
    /// The version that the change makes, if its author may make it.
    pub(super) fn begin(&self, decision: &DecisionBuilder<'_>) -> Result<u64, Error> {
        rights::in_charge(decision, "change the workflow")?;
        let version = decision.state.workflow.version;
        if self.reason.as_ref().is_some_and(|reason| reason.len() > INLINE_BYTES) {
            return Err(Error::invalid("/reason", format!("use at most {INLINE_BYTES} bytes")));
        }
        if let Some(expected) = self.expected_version.filter(|expected| *expected != version) {
            return Err(Error::Conflict {
                kind: ConflictKind::StaleWorkflow,
                what: format!("/expected_version: the workflow has version {version} by now, not {expected}"),
                hint: "read the workflow, and change that version",
            });
        }
        Ok(version.saturating_add(1))
    }
}

impl Node {
    /// What is wrong with the node at `at`, where `is_there` says which nodes it may refer to.
    pub(super) fn check(&self, at: &str, is_there: impl Fn(NodeId) -> bool, faults: &mut Vec<Fault>) {
        let mut fault = |name: &str, problem: String| faults.push(Fault { pointer: format!("{at}/{name}"), problem });
        if self.kind.is_empty() || self.kind.chars().count() > TYPE_CHARS || self.kind.chars().any(is_control) {
            fault("type", format!("use 1 to {TYPE_CHARS} characters in one line"));
        }
        if self.description.as_ref().is_some_and(|text| text.len() > INLINE_BYTES) {
            fault("description", format!("use at most {INLINE_BYTES} bytes"));
        }
        if json::size_bytes(&self.config) > INLINE_BYTES {
            fault("config", format!("use at most {INLINE_BYTES} bytes: what is larger belongs into a variable"));
        }
        for reference in references(&self.config).into_iter().filter(|reference| !is_there(reference.to)) {
            let problem = format!("there is no node {}: refer to one that is there", reference.to);
            fault(&format!("config{}", reference.pointer), problem);
        }
    }
}

impl Workflow {
    /// Refuses nodes that are too many or too large together.
    pub(super) fn check_size(&self) -> Result<(), Error> {
        if self.nodes.len() > MAX_NODES {
            return Err(Error::invalid("", format!("a workflow has at most {MAX_NODES} nodes")));
        }
        let size_bytes = self.nodes.iter().map(|held| json::size_bytes(&held.node)).sum();
        if size_bytes > MAX_BYTES {
            return Err(Error::TooLarge { what: "the workflow".to_owned(), size_bytes, max_bytes: MAX_BYTES });
        }
        Ok(())
    }
}

/// A configuration: an object that is not nested too deep.
pub(super) fn object(config: &Value, at: &str, faults: &mut Vec<Fault>) -> Map<String, Value> {
    let problem = match config {
        Value::Object(fields) if json::is_shallow(config) => return fields.clone(),
        Value::Object(_) => {
            format!("it is nested too deep: use at most {} levels of lists and objects", json::MAX_DEPTH)
        }
        _ => "use an object".to_owned(),
    };
    faults.push(Fault { pointer: format!("{at}/config"), problem });
    Map::new()
}

/// What is wrong with the name and the description of a workflow.
pub(super) fn check_about(name: Option<&str>, description: Option<&str>, at: &str, faults: &mut Vec<Fault>) {
    let mut fault = |name: &str, problem: String| faults.push(Fault { pointer: format!("{at}/{name}"), problem });
    if name.is_some_and(|name| name.chars().count() > 200 || name.chars().any(is_control)) {
        fault("name", "use at most 200 characters in one line".to_owned());
    }
    if description.is_some_and(|text| text.len() > INLINE_BYTES) {
        fault("description", format!("use at most {INLINE_BYTES} bytes"));
    }
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
            ClearVariable { name, reason: reason.clone() }.decide(decision)?;
        }
    }
    if let Some(plan) = decision.state.plan.clone().and_then(|held| held.plan.without(ids)) {
        let names = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        plan::decide::record(decision, plan, format!("deleted from the workflow: {names}").into());
    }
    Ok(())
}

pub(super) fn refuse(faults: Vec<Fault>) -> Result<(), Error> {
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

fn check_position(position: u64, last: usize, faults: &mut Vec<Fault>) {
    if position == 0 || position > last as u64 {
        faults.push(Fault { pointer: "/position".to_owned(), problem: format!("use 1 to {last}") });
    }
}

/// What is given, or what was there before where nothing is; nothing where it is blank.
fn or(given: &Option<Arc<str>>, before: &Option<Arc<str>>) -> Option<Arc<str>> {
    given.as_ref().or(before.as_ref()).cloned().filter(|text| !text.trim().is_empty())
}
