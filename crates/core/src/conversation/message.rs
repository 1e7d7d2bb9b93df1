//! Messages, as they are given and as they are kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    count::Tokens,
    id::{AgentName, MessageId, ThreadId},
    text::{Text, Values},
    time::Timestamp,
};

/// A message, as its entry holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id, unique in its thread.
    pub message_id: MessageId,
    /// The thread it is in.
    pub thread_id: ThreadId,
    /// In which role it was said.
    pub role: Role,
    /// The agent that said it, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What it says.
    pub content: Content,
    /// When it was said, as its author has it.
    pub timestamp: Timestamp,
    /// What its author keeps with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the answer to it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Arc<str>>,
    /// The size of its content and its tool calls.
    pub tokens: Tokens,
}

/// In which role a message is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    /// By the user.
    #[serde(alias = "user")]
    User,
    /// By an agent.
    #[serde(alias = "assistant", alias = "ai", alias = "ASSISTANT")]
    Ai,
    /// By the program around the agents.
    #[serde(alias = "system")]
    System,
    /// By a tool: the result of a call.
    #[serde(alias = "tool")]
    Tool,
}

/// What a message says: a text, or OpenAI-style parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(Text),
    /// Parts, each an object with a `type`.
    Parts(Vec<Map<String, Value>>),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Its id, to which the result refers.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: an object, or the text of one.
    #[serde(default)]
    pub arguments: Value,
}

/// A message that is to be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// Its id; where it is absent, one is derived from the entry.
    #[serde(default)]
    pub message_id: Option<MessageId>,
    /// The thread, which must be the one it is added to.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// In which role it is said.
    pub role: Role,
    /// What it says.
    #[serde(default)]
    pub content: Option<NewContent>,
    /// When it was said; now, where it is absent.
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// What is kept with it.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// What the answer to it is to be held against.
    #[serde(default, skip)]
    pub expected_output: Option<Arc<str>>,
}

/// What a message that is to be added says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "content is a string or a list of parts, each an object with a type")]
pub enum NewContent {
    /// A text of any length.
    Text(Arc<str>),
    /// Parts, each an object with a `type`.
    Parts(Vec<Map<String, Value>>),
}

impl NewMessage {
    /// A message that says `text`.
    pub fn text(role: Role, text: impl Into<Arc<str>>) -> Self {
        Self {
            message_id: None,
            thread_id: None,
            role,
            content: Some(NewContent::Text(text.into())),
            timestamp: None,
            metadata: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            expected_output: None,
        }
    }
}

impl NewMessage {
    /// The texts whose tokens are the size of the message.
    pub fn counted(&self) -> Vec<Arc<str>> {
        let mut texts = match &self.content {
            Some(NewContent::Text(text)) => vec![text.clone()],
            Some(NewContent::Parts(parts)) => parts.iter().map(|part| part_text(part).into()).collect(),
            None => Vec::new(),
        };
        texts.extend(self.tool_calls.iter().flat_map(|call| [call.name.as_str().into(), call.arguments_text().into()]));
        texts
    }
}

impl NewContent {
    pub(super) fn parts(&self) -> &[Map<String, Value>] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }
}

impl Content {
    /// What it says in text; what is not text is named. Where it is stored beside the journal, the hash to read first.
    pub fn in_text(&self, values: &Values) -> Result<Arc<str>, crate::entry::Hash> {
        match self {
            Self::Text(text) => text.whole(values).cloned(),
            Self::Parts(parts) => Ok(parts.iter().map(part_text).collect::<Vec<_>>().join("\n").into()),
        }
    }
}

impl ToolCall {
    /// The arguments as the text of a JSON object.
    pub fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            arguments => arguments.to_string(),
        }
    }
}

/// What a part says in text. One that is not text is named, and not shown.
fn part_text(part: &Map<String, Value>) -> String {
    match part.get("text") {
        Some(Value::String(text)) => text.clone(),
        _ => format!("[{} not shown]", part.get("type").and_then(Value::as_str).unwrap_or("part")),
    }
}
