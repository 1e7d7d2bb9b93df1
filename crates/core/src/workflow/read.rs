//! Reading a whole workflow that somebody wrote.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::check::{check_about, object};
use crate::{
    error::{Error, Fault},
    id::NodeId,
    reader::Reader,
};

/// What Callboard itself sets, and so ignores in what is sent.
const SET_OF_WORKFLOW: &[&str] = &["id", "version", "created_at", "updated_at"];

/// The same of a node.
const SET_OF_NODE: &[&str] = &["status"];

/// The highest number that a caller may give a node, so that there are always higher ones.
const MAX_NUMBER: u64 = 999_999_999;

/// The name and the description of a workflow.
pub(super) type AboutWorkflow = (Option<Arc<str>>, Option<Arc<str>>);

/// A node of a whole workflow.
pub(super) struct NewNode {
    /// Its place in what was sent, as a JSON pointer.
    pub(super) at: String,
    pub(super) id: Option<NodeId>,
    pub(super) position: u64,
    pub(super) kind: Arc<str>,
    pub(super) config: Map<String, Value>,
    pub(super) description: Option<Arc<str>>,
}

/// What is unique in a workflow, with its place.
#[derive(Default)]
struct Seen {
    ids: BTreeMap<NodeId, String>,
    positions: BTreeMap<u64, String>,
}

/// Reads what a workflow is called, where that is given, and its nodes in the order of their positions.
pub(super) fn read(about: Option<&Value>, nodes: &Value) -> Result<(Option<AboutWorkflow>, Vec<NewNode>), Error> {
    Reader::<Seen>::read(|reader| {
        let about = about.map(|about| reader.about(about, "/workflow"));
        let mut place = 0;
        let nodes = reader.list(nodes, "/nodes", |reader, value, at| {
            place += 1;
            reader.new_node(value, at, place)
        });
        let (about, mut nodes) = (about.map_or(Some(None), |about| about.map(Some))?, nodes?);
        nodes.sort_by_key(|node| node.position);
        Some((about, nodes))
    })
}

impl Reader<Seen> {
    fn about(&mut self, about: &Value, at: &str) -> Option<AboutWorkflow> {
        let about = self.object(about, at, "a workflow", &["name", "description"], SET_OF_WORKFLOW)?;
        let said = |text: Option<Arc<str>>| text.filter(|text| !text.trim().is_empty());
        let name = said(self.optional(&about, "name", Self::text));
        let description = said(self.optional(&about, "description", Self::text));
        let mut faults = Vec::new();
        check_about(name.as_deref(), description.as_deref(), at, &mut faults);
        self.note(faults);
        Some((name, description))
    }

    fn new_node(&mut self, node: &Value, at: &str, place: u64) -> Option<NewNode> {
        let known = ["id", "position", "type", "config", "description"];
        let node = self.object(node, at, "a node", &known, SET_OF_NODE)?;
        let id = self.optional(&node, "id", Self::node);
        if let Some(id) = id {
            if id.0 > MAX_NUMBER {
                self.fault(node.at("id"), format!("use a number up to {MAX_NUMBER}"));
            }
            if let Some(other) = self.seen.ids.insert(id, at.to_owned()) {
                self.fault(node.at("id"), format!("{other} has the id {id} too: give each node its own"));
            }
        }
        let given = self.optional(&node, "position", Self::number);
        let position = given.unwrap_or(place);
        if position == 0 {
            self.fault(node.at("position"), "use 1 or more".to_owned());
        } else if let Some(other) = self.seen.positions.insert(position, at.to_owned()) {
            let problem = format!("{other} is at position {position} too: give each node its own");
            self.fault(node.at("position"), problem);
        }
        let kind = self.required(&node, "type", Self::words);
        let config = self.optional(&node, "config", |reader, value, _| {
            let mut faults = Vec::new();
            let fields = object(value, at, &mut faults);
            reader.note(faults);
            Some(fields)
        });
        let description = self.optional(&node, "description", Self::text).filter(|text| !text.trim().is_empty());
        let (kind, config) = (kind?.trim().into(), config.unwrap_or_default());
        Some(NewNode { at: at.to_owned(), id, position, kind, config, description })
    }

    fn note(&mut self, faults: Vec<Fault>) {
        faults.into_iter().for_each(|fault| self.fault(fault.pointer, fault.problem));
    }
}
