//! Turns: which models were asked, with which prompts, and what they answered.

use std::sync::Arc;

use callboard_core::{
    conversation::{MessageReceipt, given::GivenCall},
    count::GivenUsage,
    directive::Directed,
    id::{AgentName, Seq, ThreadId},
    run::view::TurnView,
    schema::Saying,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::{
    Directive, Prompt,
    query::{list_or_null, number},
};

/// What a model answered to a recorded prompt, or why it did not.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Here are the notes.", "usage": {"prompt_tokens": 812, "completion_tokens": 96}}))]
pub struct TurnAnswer {
    /// What it said.
    #[schema(value_type = Option<Saying>)]
    pub text: Option<Arc<str>>,
    /// What it thought before, in blocks: Anthropic's `thinking` and `redacted_thinking` as they are, or the fields of other servers, such
    /// as `{"type": "reasoning_content", "reasoning_content": "…"}`. The next prompts have them until its loop of tool calls ends.
    #[serde(default, deserialize_with = "list_or_null")]
    #[schema(value_type = Option<Vec<std::collections::BTreeMap<String, Value>>>)]
    pub reasoning: Vec<Map<String, Value>>,
    /// The tools that it calls, also as OpenAI writes them. An id that two calls have is made two.
    #[serde(default, deserialize_with = "list_or_null")]
    #[schema(value_type = Option<Vec<GivenCall>>)]
    pub tool_calls: Vec<GivenCall>,
    /// What its provider gave, as it is, in the place of `text`, `reasoning` and `tool_calls`: a chat completion of OpenAI or the message in
    /// it, a message of Anthropic, a response of OpenAI's Responses API or the items in it. Its `usage` counts where none is given.
    pub message: Option<Value>,
    /// What a manager said as a directive, in the place of `text`, `message` and the others. Its message is added to the
    /// thread `agent:NAME` of the worker that it is for, or else to the turn's thread, and then the directive is applied.
    #[schema(value_type = Option<Directive>)]
    pub directive: Option<Value>,
    /// The tokens that its provider counted, in its own fields.
    pub usage: Option<GivenUsage>,
    /// Why there is no answer. It excludes `text`, `tool_calls`, `message` and `directive`.
    pub error: Option<String>,
}

/// What an answer changed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TurnAnswered {
    /// The messages that were added to the turn's thread: one, or several where the answer has several, or none where the turn
    /// failed. The message of a directive may be in a worker's thread; it may have none.
    pub messages: Vec<MessageReceipt>,
    /// What came of the directive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<Directed>,
    /// The number of the newest entry of the journal once the answer was recorded.
    #[schema(value_type = u64)]
    pub head: Seq,
    /// `[0]` where the answer had halves of characters, such as `\ud83d`, in whose place stands U+FFFD now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<usize>,
}

/// A page of turns, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TurnList {
    /// The turns.
    pub turns: Vec<TurnView>,
    /// The cursor of the page with older turns; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The prompt of a turn, rendered again from the journal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SentPrompt {
    /// The agent whose model was asked.
    #[schema(value_type = String)]
    pub agent: AgentName,
    /// The thread in which the agent speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub thread: Option<ThreadId>,
    /// The model, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether it is byte for byte what was sent. It is not if words were erased since, if something in it became a secret
    /// since, or if this version of Callboard has another version of the layout.
    pub as_sent: bool,
    /// The prompt. `erased` names the entries in it whose words were erased since.
    #[serde(flatten)]
    pub prompt: Prompt,
}

/// Selects turns.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TurnsQuery {
    /// Only turns of this agent.
    pub agent: Option<AgentName>,
    /// The most turns to return. If absent: 100.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[param(pattern = "^(3[0-9]){1,20}$")]
    pub cursor: Option<String>,
}
