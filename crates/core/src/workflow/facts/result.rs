//! That a node was executed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    audience::Audience,
    entry::Header,
    fact::{Description, Earlier, Fact, MeantFor, Sentence, erase_json, json, json_text, sealed},
    id::NodeId,
    rights::Share,
    state::State,
    text::Text,
    view::View,
    workflow::{NodeStatus, seal::SealedPart, sight::visible_node},
};

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
    pub(in crate::workflow) sealed: Option<SealedPart>,
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
