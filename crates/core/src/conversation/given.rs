//! Messages as people have them: in Callboard's own form, or as the message objects of OpenAI or Anthropic.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AsGiven, MessageShape, NewContent, NewMessage, Role, ToolCall, blocks, reasoning};
use crate::{
    error::{Error, Fault},
    id::{MessageId, ThreadId},
    time::Timestamp,
};

/// A message to add: in Callboard's own form, or a message object of OpenAI or Anthropic as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewMessage))]
#[serde(deny_unknown_fields)]
pub struct GivenMessage {
    /// Its id. If absent, one is derived from the entry.
    #[serde(default, alias = "messageId", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The thread it is added to. Optional, since the path names it.
    #[serde(default, alias = "threadId", skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The role of its author.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::SaidRole))]
    pub role: GivenRole,
    /// What it says: a text, or a list of parts or blocks, each an object with a `type`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<NewContent>))]
    pub content: Option<Option<NewContent>>,
    /// When it was written. If absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Data to attach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<std::collections::BTreeMap<String, Value>>))]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<GivenCall>>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// In OpenAI's shape: the name of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In OpenAI's shape: why the model did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// In OpenAI's shape: what the model says of its sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Value>>,
    /// In OpenAI's shape: the answer as sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<std::collections::BTreeMap<String, Value>>))]
    pub audio: Option<Map<String, Value>>,
    /// What the model thought, as servers with OpenAI's shape give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// The same, as a text; or in Callboard's own form, as blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Value>))]
    pub reasoning: Option<GivenReasoning>,
    /// The same, in pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<Vec<Value>>,
}

/// The role of a message's author, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GivenRole {
    /// The user.
    #[serde(alias = "user")]
    User,
    /// An agent.
    #[serde(alias = "assistant", alias = "ai", alias = "ASSISTANT")]
    Ai,
    /// The program around the agents.
    #[serde(alias = "system")]
    System,
    /// The same, in newer requests to OpenAI.
    #[serde(rename = "developer")]
    Developer,
    /// A tool.
    #[serde(alias = "tool")]
    Tool,
}

/// What a model thought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "reasoning is a text or a list of blocks, each an object with a type")]
pub enum GivenReasoning {
    /// As a text.
    Text(String),
    /// In blocks.
    Blocks(Vec<Map<String, Value>>),
}

/// A call of a tool: with its name and arguments, or as OpenAI's `{"id", "type": "function", "function"}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewToolCall))]
#[serde(deny_unknown_fields)]
pub struct GivenCall {
    /// Its id, to which the result refers.
    pub id: String,
    /// In OpenAI's shape: `function`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments: an object, or the text of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Value>))]
    pub arguments: Option<Value>,
    /// In OpenAI's shape: the tool and the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<GivenFunction>,
}

/// The tool that is called, and its arguments, in OpenAI's shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewFunction))]
#[serde(deny_unknown_fields)]
pub struct GivenFunction {
    /// The tool.
    pub name: String,
    /// The arguments as the text of a JSON object.
    #[serde(default)]
    pub arguments: String,
}

/// Reads messages that were given in any shape. A message object of Anthropic may be several messages: results of tools
/// are messages of their own.
pub fn read(given: Vec<GivenMessage>) -> Result<Vec<NewMessage>, Error> {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    for (at, given) in given.into_iter().enumerate() {
        match given.read(&format!("/messages/{at}")) {
            Ok(read) => messages.extend(read),
            Err(fault) => faults.push(fault),
        }
    }
    Error::of(faults, Vec::new())?;
    Ok(messages)
}

/// Reads the calls of an answer, which `/tool_calls` holds.
pub fn read_calls(given: Vec<GivenCall>) -> Result<Vec<ToolCall>, Error> {
    let read = given.into_iter().enumerate().map(|(at, call)| call.read(&format!("/tool_calls/{at}")));
    read.collect::<Result<_, _>>().map_err(|Fault { pointer, problem }| Error::invalid(pointer, problem))
}

impl GivenMessage {
    /// The messages that it is; `pointer` says where it was given.
    fn read(self, pointer: &str) -> Result<Vec<NewMessage>, Fault> {
        let mut fields = Map::new();
        let mut keep = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        keep("role", (self.role == GivenRole::Developer).then(|| "developer".into()));
        keep("name", self.name.map(Value::from));
        keep("refusal", self.refusal.map(Value::from));
        keep("annotations", self.annotations.map(Value::from));
        keep("audio", self.audio.map(Value::from));
        let calls = self.tool_calls.unwrap_or_default();
        let (is_null, content) = (self.content == Some(None), self.content.flatten());
        // Where a message calls tools, what is null is usual; elsewhere a text is.
        let is_empty = matches!(&content, Some(NewContent::Text(text)) if text.is_empty());
        if is_null && calls.is_empty() {
            fields.insert("content".to_owned(), Value::Null);
        } else if is_empty && calls.iter().any(|call| call.function.is_some()) {
            fields.insert("content".to_owned(), "".into());
        }
        let texts = [
            ("reasoning_content", self.reasoning_content.map(Value::from)),
            ("reasoning_details", self.reasoning_details.map(Value::from)),
        ];
        let texts = texts.into_iter().filter_map(|(name, value)| Some(reasoning::of_openai(name, value?)));
        let reasoning = texts.chain(match self.reasoning {
            Some(GivenReasoning::Text(text)) => vec![reasoning::of_openai("reasoning", text.into())],
            Some(GivenReasoning::Blocks(blocks)) => blocks,
            None => Vec::new(),
        });
        let read = |(at, call): (usize, GivenCall)| call.read(&format!("{pointer}/tool_calls/{at}"));
        let message = NewMessage {
            message_id: self.message_id,
            thread_id: self.thread_id,
            timestamp: self.timestamp,
            metadata: self.metadata,
            reasoning: reasoning.collect(),
            tool_calls: calls.into_iter().enumerate().map(read).collect::<Result<_, _>>()?,
            tool_call_id: self.tool_call_id,
            as_given: (!fields.is_empty()).then(|| AsGiven { shape: MessageShape::OpenAi, joined: false, fields }),
            content,
            ..NewMessage::text(self.role.into(), "")
        };
        match &message.content {
            Some(NewContent::Parts(parts)) if parts.iter().any(blocks::is_special) => blocks::read(message, pointer),
            _ => Ok(vec![message]),
        }
    }
}

impl GivenCall {
    fn read(self, pointer: &str) -> Result<ToolCall, Fault> {
        let fault =
            |field: &str, problem: &str| Fault { pointer: format!("{pointer}/{field}"), problem: problem.to_owned() };
        if self.kind.as_deref().is_some_and(|kind| kind != "function") {
            return Err(fault("type", "only calls of the type `function` can be kept"));
        }
        match (self.name, self.arguments, self.function) {
            (Some(name), arguments, None) => {
                Ok(ToolCall { id: self.id, name, arguments: arguments.unwrap_or_default() })
            }
            (None, None, Some(function)) => {
                Ok(ToolCall { id: self.id, name: function.name, arguments: function.arguments.into() })
            }
            (None, _, None) => Err(fault("name", "say which tool is called, in `name` or in `function`")),
            (_, _, Some(_)) => Err(fault("function", "use either `function`, or `name` and `arguments`")),
        }
    }
}

impl From<GivenRole> for Role {
    fn from(role: GivenRole) -> Self {
        match role {
            GivenRole::User => Self::User,
            GivenRole::Ai => Self::Ai,
            GivenRole::System | GivenRole::Developer => Self::System,
            GivenRole::Tool => Self::Tool,
        }
    }
}

impl From<Role> for GivenRole {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Ai => Self::Ai,
            Role::System => Self::System,
            Role::Tool => Self::Tool,
        }
    }
}

impl From<NewMessage> for GivenMessage {
    fn from(message: NewMessage) -> Self {
        let call = |call: ToolCall| {
            let ToolCall { id, name, arguments } = call;
            GivenCall { id, name: Some(name), arguments: Some(arguments), ..GivenCall::default() }
        };
        let NewMessage { tool_calls, reasoning, .. } = message;
        Self {
            message_id: message.message_id,
            thread_id: message.thread_id,
            role: message.role.into(),
            content: message.content.map(Some),
            timestamp: message.timestamp,
            metadata: message.metadata,
            tool_calls: (!tool_calls.is_empty()).then(|| tool_calls.into_iter().map(call).collect()),
            tool_call_id: message.tool_call_id,
            name: None,
            refusal: None,
            annotations: None,
            audio: None,
            reasoning_content: None,
            reasoning: (!reasoning.is_empty()).then_some(GivenReasoning::Blocks(reasoning)),
            reasoning_details: None,
        }
    }
}

/// What is there, although it may be null.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<NewContent>>, D::Error> {
    Option::<NewContent>::deserialize(deserializer).map(Some)
}
