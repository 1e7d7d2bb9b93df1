//! What can happen to the workflow and its nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{HeldNode, Node, NodeStatus, Workflow, seal::SealedPart, sight::visible_node};
use crate::{
    audience::Audience,
    entry::Header,
    fact::{
        Description, Earlier, Fact, MeantFor, Repeats, Sentence, TextField, erase_json, json, json_text, sealed, text,
    },
    id::NodeId,
    rights::Share,
    state::State,
    text::Text,
    view::View,
};

/// What entries of the workflow as a whole are about.
pub const SUBJECT: &str = "workflow";

/// What the workflow is called was changed, or the workflow was replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    pub(super) version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Arc<str>>,
    /// All nodes in their new order; absent where the order stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<Vec<NodeId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Arc<str>>,
}

/// A node was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeCreated(pub(super) Placed);

/// A node was changed or moved. The entry carries the whole node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeUpdated(pub(super) Placed);

/// A node and its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Placed {
    pub(super) version: u64,
    pub(super) position: u64,
    pub(super) node: Arc<Node>,
    /// What was sealed of its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<SealedPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Arc<str>>,
}

/// A node was deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeDeleted {
    pub(super) version: u64,
    pub(super) id: NodeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Arc<str>>,
}

/// A node was executed, and this is what it gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecorded {
    /// The node.
    pub id: NodeId,
    /// What happened to it.
    pub status: NodeStatus,
    /// What it gave, with `[hidden]` in the place of each secret; absent where it is long.
    #[serde(default, deserialize_with = "crate::json::given", skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The JSON text of a long result, which stands beside the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_result: Option<Text>,
    /// What was sealed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<SealedPart>,
}

/// What entries of a node are about.
fn subject(id: NodeId) -> String {
    format!("node:{id}")
}

/// Changes the workflow, and notes that it was changed.
fn change(state: &mut State, version: u64, header: &Header, change: impl FnOnce(&mut Workflow)) {
    let workflow = Arc::make_mut(&mut state.workflow);
    (workflow.version, workflow.updated_at) = (version, Some(header.at));
    change(workflow);
}

impl Workflow {
    fn insert(&mut self, position: u64, held: HeldNode) {
        let place = usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX);
        self.last_number = self.last_number.max(held.node.id.0);
        self.nodes.insert(place.min(self.nodes.len()), held);
    }

    fn remove(&mut self, id: NodeId) -> Option<HeldNode> {
        self.place(id).map(|place| self.nodes.remove(place))
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "workflow.updated";

    const SENTENCE: Sentence = |it| format!("{} changed the workflow{}", it.by, it.about("reason"));

    const DESCRIPTION: Description = Description {
        earlier: Earlier::Replaced,
        repeats: Repeats::Unchanged,
        ..Description::of(&[text("name"), text("description"), text("reason")])
    };

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Workflow);

    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn apply(self, state: &mut State, header: &Header) {
        let Self { version, name, description, order, .. } = self;
        change(state, version, header, |workflow| {
            (workflow.name, workflow.description, workflow.seq) = (name, description, Some(header.seq));
            let place = |id| order.as_ref().and_then(|order| order.iter().position(|other| *other == id));
            // A stable sort: without an order all stay where they are.
            workflow.nodes.sort_by_key(|held| place(held.node.id).unwrap_or(usize::MAX));
        });
    }

    fn visible_to(view: &View<'_>, _: &str) -> Option<Audience> {
        view.may_see(Share::Workflow).then(|| view.state.audience_of(Share::Workflow))
    }
}

const PLACED: &[TextField] =
    &[text("node.type"), json("node.config"), text("node.description"), text("reason"), sealed("sealed.sha256")];

/// Implements what facts that place a node have in common.
macro_rules! of_placed_node {
    () => {
        const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Workflow);

        fn subject(&self) -> String {
            subject(self.0.node.id)
        }

        fn apply(self, state: &mut State, header: &Header) {
            let Placed { version, position, node, sealed, .. } = self.0;
            state.learn_of_node(sealed.as_ref(), header);
            change(state, version, header, |workflow| {
                let before = workflow.remove(node.id);
                let (status, result) = before.map(|held| (held.status, held.result)).unwrap_or_default();
                workflow.insert(position, HeldNode { node, seq: header.seq, status, result });
            });
        }

        fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
            visible_node(view, subject, "node:")
        }
    };
}

impl Fact for NodeCreated {
    const TYPE: &'static str = "node.created";

    const SENTENCE: Sentence = |it| format!("{} created {}", it.by, it.thing());

    const DESCRIPTION: Description = Description { earlier: Earlier::Replaced, ..Description::of(PLACED) };

    of_placed_node!();
}

impl Fact for NodeUpdated {
    const TYPE: &'static str = "node.updated";

    const SENTENCE: Sentence = |it| format!("{} changed {}{}", it.by, it.thing(), it.about("reason"));

    const DESCRIPTION: Description =
        Description { earlier: Earlier::Replaced, repeats: Repeats::Unchanged, ..Description::of(PLACED) };

    of_placed_node!();
}

impl Fact for NodeDeleted {
    const TYPE: &'static str = "node.deleted";

    const SENTENCE: Sentence = |it| format!("{} deleted {}{}", it.by, it.thing(), it.about("reason"));

    const DESCRIPTION: Description = Description { earlier: Earlier::Deleted, ..Description::of(&[text("reason")]) };

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Workflow);

    fn subject(&self) -> String {
        subject(self.id)
    }

    fn apply(self, state: &mut State, header: &Header) {
        change(state, self.version, header, |workflow| {
            workflow.remove(self.id);
            workflow.gone.insert(self.id);
        });
        state.forget_node(self.id, header);
    }
}

impl Fact for ResultRecorded {
    const TYPE: &'static str = "node.result_recorded";

    const SENTENCE: Sentence = |it| format!("{} ended with {}", it.thing(), it.text("status"));

    const DESCRIPTION: Description = Description {
        earlier: Earlier::Replaced,
        ..Description::of(&[json("result"), json_text("long_result"), sealed("sealed.sha256")])
    };

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Workflow);

    fn subject(&self) -> String {
        format!("result:{}", self.id)
    }

    fn erase(data: &mut Value) {
        erase_json(data, "result", "long_result");
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.learn_of_node(self.sealed.as_ref(), header);
        let workflow = Arc::make_mut(&mut state.workflow);
        if let Some(held) = workflow.nodes.iter_mut().find(|held| held.node.id == self.id) {
            (held.status, held.result) = (self.status, Some(header.seq));
        }
        workflow.note_result(self.id, self.status);
    }

    fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
        visible_node(view, subject, "result:")
    }
}
