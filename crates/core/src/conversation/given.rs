//! Messages as people have them: in Callboard's own form, or as the message objects of OpenAI or Anthropic.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{AsGiven, MessageShape, NewContent, NewMessage, Role, ToolCall, blocks, reasoning};
use crate::{
    entry::Hash,
    error::{Error, Fault},
    id::{MessageId, ThreadId},
    json,
    time::GivenTime,
};

/// A message to add: in Callboard's own form, or as an SDK gives it: a message object of OpenAI or Anthropic, a whole answer of
/// Anthropic, or an item of OpenAI's Responses API. A field that is null is as if it were absent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewMessage))]
#[serde(deny_unknown_fields)]
pub struct GivenMessage {
    /// Its id. If absent, one is derived from the entry.
    #[serde(alias = "messageId")]
    pub message_id: Option<MessageId>,
    /// The thread it is added to. Optional, since the path names it.
    #[serde(alias = "threadId")]
    pub thread_id: Option<ThreadId>,
    /// The role of its author. Only items of the Responses API may have none.
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::role::schema::SaidRole>))]
    pub role: Option<GivenRole>,
    /// What it says: a text, or a list of parts or blocks, each an object with a `type`.
    #[serde(default, deserialize_with = "json::given")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<NewContent>))]
    pub content: Option<Option<NewContent>>,
    /// When it was written. If absent: now.
    pub timestamp: Option<GivenTime>,
    /// Data to attach.
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    pub tool_calls: Option<Vec<GivenCall>>,
    /// The call that it is the result of.
    pub tool_call_id: Option<String>,
    /// In OpenAI's shape: the name of its author.
    pub name: Option<String>,
    /// In OpenAI's shape: why the model did not answer.
    pub refusal: Option<String>,
    /// In OpenAI's shape: what the model says of its sources.
    pub annotations: Option<Vec<Value>>,
    /// In OpenAI's shape: the answer as sound.
    pub audio: Option<Map<String, Value>>,
    /// What the model thought, as servers with OpenAI's shape give it.
    pub reasoning_content: Option<String>,
    /// The same, as a text; or in Callboard's own form, as blocks.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Value>))]
    pub reasoning: Option<GivenReasoning>,
    /// The same, in pieces.
    pub reasoning_details: Option<Vec<Value>>,
    /// What the model thought, in blocks of Anthropic, as LiteLLM gives them.
    pub thinking_blocks: Option<Vec<Map<String, Value>>>,
    /// What a router says of the provider behind it.
    pub provider_specific_fields: Option<Value>,
    /// The tools that Groq executed itself.
    pub executed_tools: Option<Vec<Value>>,
    /// In Mistral's shape: whether the answer goes on with it.
    pub prefix: Option<bool>,
    /// In OpenAI's shape: the answer in the form that was asked for.
    pub parsed: Option<Value>,
    /// In OpenAI's old shape: the one function that is called. Its id is its name.
    pub function_call: Option<GivenFunction>,
    /// In a whole answer of Anthropic and a message of the Responses API: `message`. Other items of that API have others:
    /// `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, `web_search_call` and
    /// `compaction`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The id that its provider gave it.
    pub id: Option<String>,
    /// In an item of the Responses API: how far it is.
    pub status: Option<String>,
    /// In a message of the Responses API: to which phase of the answer it belongs.
    pub phase: Option<String>,
    /// In an item of the Responses API: the id of the call.
    pub call_id: Option<String>,
    /// In an item of the Responses API: the namespace of the tool. The call is kept as one of `NAMESPACE__NAME`.
    pub namespace: Option<String>,
    /// In an item of the Responses API: the arguments of the call, as text.
    pub arguments: Option<String>,
    /// In an item of the Responses API: the text that a tool is called with that takes no arguments.
    pub input: Option<String>,
    /// In an item of the Responses API: the result of the call.
    pub output: Option<NewContent>,
    /// In an item of the Responses API: what was searched on the web.
    pub action: Option<Value>,
    /// In an item of the Responses API: what the model says of what it thought.
    pub summary: Option<Vec<Value>>,
    /// In an item of the Responses API: what the model thought, for it alone.
    pub encrypted_content: Option<String>,
    /// In a whole answer of Anthropic: the model.
    pub model: Option<String>,
    /// In a whole answer of Anthropic: why it ended.
    pub stop_reason: Option<String>,
    /// In a whole answer of Anthropic: at which text it ended.
    pub stop_sequence: Option<String>,
    /// In a whole answer of Anthropic: more about why it ended.
    pub stop_details: Option<Value>,
    /// In a whole answer of Anthropic: what it used.
    pub usage: Option<Value>,
    /// In a whole answer of Anthropic: where it executed code.
    pub container: Option<Value>,
    /// In a whole answer of Anthropic: what it cleared of its context.
    pub context_management: Option<Value>,
}

/// The role of a message's author, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "reasoning is a text or a list of blocks, each an object with a type")]
pub enum GivenReasoning {
    /// As a text.
    Text(String),
    /// In blocks.
    Blocks(Vec<Map<String, Value>>),
}

/// A call of a tool: with its name and arguments, or as OpenAI's `{"id", "type": "function", "function"}` or `{"id", "type":
/// "custom", "custom"}`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewToolCall))]
#[serde(deny_unknown_fields)]
pub struct GivenCall {
    /// Its id, to which the result refers.
    #[serde(deserialize_with = "text_or_none")]
    pub id: String,
    /// In OpenAI's shape: `function` or `custom`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The tool.
    pub name: Option<String>,
    /// The arguments: an object, or the text of one.
    pub arguments: Option<Value>,
    /// In OpenAI's shape: the tool and the arguments.
    pub function: Option<GivenFunction>,
    /// In OpenAI's shape: a tool that takes a text instead of arguments, and the text.
    pub custom: Option<GivenCustom>,
    /// Its place among the calls, as pieces of a stream have it.
    #[serde(default, deserialize_with = "crate::number::whole_or_none")]
    pub index: Option<u64>,
    /// What Gemini wants back with the call: the signature of what it thought.
    pub extra_content: Option<Value>,
    /// What a router says of the provider behind it.
    pub provider_specific_fields: Option<Value>,
}

/// A tool that is called with a text, in OpenAI's shape.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewCustomCall))]
#[serde(deny_unknown_fields)]
pub struct GivenCustom {
    /// The tool.
    pub name: String,
    /// The text.
    #[serde(default, deserialize_with = "text_or_none")]
    pub input: String,
}

/// The tool that is called, and its arguments, in OpenAI's shape.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewFunction))]
#[serde(deny_unknown_fields)]
pub struct GivenFunction {
    /// The tool.
    pub name: String,
    /// The arguments as the text of a JSON object.
    #[serde(default, deserialize_with = "text_or_none")]
    pub arguments: String,
}

/// The calls of an answer.
pub struct ReadCalls {
    /// The calls.
    pub calls: Vec<ToolCall>,
    /// What came beside them that the model thought, in blocks.
    pub reasoning: Vec<Map<String, Value>>,
}

/// Reads the calls of an answer, which `/tool_calls` holds.
pub fn read_calls(given: Vec<GivenCall>) -> Result<ReadCalls, Error> {
    let reasoning = beside(&given);
    let read = given.into_iter().enumerate().map(|(at, call)| call.read(&format!("/tool_calls/{at}")));
    let calls = read.collect::<Result<_, _>>();
    let calls = calls.map_err(|Fault { pointer, problem }| Error::invalid(pointer, problem))?;
    Ok(ReadCalls { calls, reasoning })
}

/// What came beside calls that their model thought, in blocks.
fn beside(calls: &[GivenCall]) -> Vec<Map<String, Value>> {
    let beside = calls.iter().enumerate().filter_map(|(at, call)| Some((at, call.extra_content.clone()?)));
    beside.map(|(at, content)| reasoning::of_call(at, content)).collect()
}

impl GivenMessage {
    /// The type of the item of the Responses API that it is, but for a message.
    pub(super) fn item(&self) -> Option<&str> {
        self.kind.as_deref().filter(|kind| *kind != "message")
    }

    /// What only a whole answer has, and no message of a request.
    fn take_answer(&mut self) -> Map<String, Value> {
        json::object([
            ("id", self.id.take().map(Value::from)),
            ("type", self.kind.take().map(Value::from)),
            ("status", self.status.take().map(Value::from)),
            ("phase", self.phase.take().map(Value::from)),
            ("model", self.model.take().map(Value::from)),
            ("stop_reason", self.stop_reason.take().map(Value::from)),
            ("stop_sequence", self.stop_sequence.take().map(Value::from)),
            ("stop_details", self.stop_details.take()),
            ("usage", self.usage.take()),
            ("container", self.container.take()),
            ("context_management", self.context_management.take()),
        ])
    }

    /// The fields that only items of the Responses API have: the first that is there.
    fn stray(&self) -> Option<&'static str> {
        let there = [
            ("call_id", self.call_id.is_some()),
            ("namespace", self.namespace.is_some()),
            ("arguments", self.arguments.is_some()),
            ("input", self.input.is_some()),
            ("output", self.output.is_some()),
            ("action", self.action.is_some()),
            ("summary", self.summary.is_some()),
            ("encrypted_content", self.encrypted_content.is_some()),
        ];
        there.into_iter().find(|(_, is_there)| *is_there).map(|(name, _)| name)
    }

    /// Whether it says or calls anything, or says why it does not.
    fn is_empty(&self) -> bool {
        let has_content = matches!(self.content, Some(Some(_)));
        let has_calls = self.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
        !has_content && !has_calls && self.refusal.is_none() && self.audio.is_none()
    }

    /// The messages that it is; `pointer` says where it was given.
    pub(super) fn read(mut self, pointer: &str) -> Result<Vec<NewMessage>, Fault> {
        let fault = |field: &str, problem: String| Fault { pointer: format!("{pointer}/{field}"), problem };
        let Some(role) = self.role else {
            return Err(fault(
                "role",
                "missing field `role`: say who said it, `user`, `assistant`, `system` or `tool`".to_owned(),
            ));
        };
        if let Some(field) = self.stray() {
            return Err(fault(field, format!("`{field}` is a field of items of the Responses API: say their `type`")));
        }
        if let Some(GivenFunction { name, arguments }) = self.function_call.take() {
            let call = GivenCall {
                id: name.clone(),
                name: Some(name),
                arguments: Some(arguments.into()),
                ..GivenCall::default()
            };
            self.tool_calls.get_or_insert_default().push(call);
        }
        if self.is_empty() {
            return Err(fault("content", "it says nothing: give it `content`, `tool_calls` or parts".to_owned()));
        }
        let answer = self.take_answer();
        let mut fields = json::object([
            ("role", (role == GivenRole::Developer).then(|| "developer".into())),
            ("name", self.name.map(Value::from)),
            ("refusal", self.refusal.map(Value::from)),
            ("annotations", self.annotations.map(Value::from)),
            ("audio", self.audio.map(Value::from)),
            ("provider_specific_fields", self.provider_specific_fields),
            ("executed_tools", self.executed_tools.map(Value::from)),
            ("prefix", self.prefix.map(Value::from)),
            ("parsed", self.parsed),
        ]);
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
        let texts = texts.into_iter().filter_map(|(name, value)| Some(reasoning::block(name, value?)));
        let beside = beside(&calls);
        let reasoning = texts.chain(match self.reasoning {
            Some(GivenReasoning::Text(text)) => vec![reasoning::block("reasoning", text.into())],
            Some(GivenReasoning::Blocks(blocks)) => blocks,
            None => Vec::new(),
        });
        let reasoning = reasoning.chain(self.thinking_blocks.unwrap_or_default()).chain(beside);
        let more: Vec<_> = calls.iter().map(GivenCall::more).collect();
        if more.iter().any(|more| !more.is_empty()) {
            fields.insert("tool_calls".to_owned(), more.into_iter().map(Value::Object).collect());
        }
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
            ..NewMessage::text(role.into(), "")
        };
        let mut messages = match &message.content {
            Some(NewContent::Parts(parts)) if parts.iter().any(blocks::is_special) => blocks::read(message, pointer)?,
            _ => vec![message],
        };
        if let Some(first) = messages.first_mut().filter(|_| !answer.is_empty()) {
            let shape = if answer.contains_key("stop_reason") { MessageShape::Anthropic } else { MessageShape::OpenAi };
            let given = first.as_given.get_or_insert(AsGiven { shape, joined: false, fields: Map::new() });
            given.fields.insert(ANSWER.to_owned(), answer.into());
        }
        Ok(messages)
    }
}

/// The field of what a message was given as that has what only a whole answer has. No request has it back.
pub(super) const ANSWER: &str = "answer";

/// The name that a tool of a namespace has in a conversation. Where it would be too long, it ends with a hash.
pub fn whole_name(namespace: &str, name: &str) -> String {
    let whole = format!("{namespace}__{name}");
    if whole.chars().count() <= WHOLE_NAME_CHARS {
        return whole;
    }
    let hash = Hash::of(whole.as_bytes()).to_string();
    let begin = whole.chars().take(WHOLE_NAME_CHARS - 1 - HASH_CHARS);
    begin.chain(['_']).chain(hash.chars().take(HASH_CHARS)).collect()
}

/// The longest name that all providers take.
const WHOLE_NAME_CHARS: usize = 64;

/// How much of a hash tells names apart.
const HASH_CHARS: usize = 16;

/// The argument that has the text with which a tool is called that takes no arguments.
pub(super) const CUSTOM_INPUT: &str = "input";

impl GivenCall {
    /// What it has besides an id, a tool and arguments.
    fn more(&self) -> Map<String, Value> {
        json::object([
            ("index", self.index.map(Value::from)),
            ("type", self.custom.as_ref().map(|_| "custom".into())),
            ("provider_specific_fields", self.provider_specific_fields.clone()),
        ])
    }

    fn read(self, pointer: &str) -> Result<ToolCall, Fault> {
        let fault =
            |field: &str, problem: &str| Fault { pointer: format!("{pointer}/{field}"), problem: problem.to_owned() };
        if self.kind.as_deref().is_some_and(|kind| !["function", "custom"].contains(&kind)) {
            return Err(fault("type", "only calls of the types `function` and `custom` can be kept"));
        }
        if let Some(GivenCustom { name, input }) = self.custom {
            return Ok(ToolCall { id: self.id, name, arguments: serde_json::json!({CUSTOM_INPUT: input}) });
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

/// A text; an empty one where there is none.
fn text_or_none<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default)
}
