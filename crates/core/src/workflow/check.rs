//! What is wrong with nodes and workflows.

use serde_json::{Map, Value};

use super::{Node, Workflow, references::references};
use crate::{
    error::{Error, Fault},
    id::{NodeId, is_control},
    json,
    text::INLINE_BYTES,
};

/// How large all nodes may be together. The state holds them.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// How many nodes there may be.
pub(super) const MAX_NODES: usize = 1000;

/// How many characters the type of a node has at most.
const TYPE_CHARS: usize = 100;

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
        for reference in references(&self.kind, &self.config).into_iter().filter(|reference| !is_there(reference.to)) {
            let problem = format!("there is no node {}: refer to one that is there", reference.to);
            fault(&format!("config{}", reference.pointer), problem);
        }
        self.check_config(&format!("{at}/config"), faults);
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

/// Refuses what has faults.
pub(super) fn refuse(faults: Vec<Fault>) -> Result<(), Error> {
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

/// What is wrong with a place among so many nodes.
pub(super) fn check_position(position: u64, last: usize, faults: &mut Vec<Fault>) {
    if position == 0 || position > last as u64 {
        faults.push(Fault { pointer: "/position".to_owned(), problem: format!("use 1 to {last}") });
    }
}
