//! The three APIs: what a request says, and how an answer is given.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    Json,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
};
use callboard_api as api;
use callboard_core::{
    agent::Tool,
    conversation::{
        MessageShape,
        given::{GivenMessage, whole_name},
        reading,
    },
    count::Tokens,
    error::ConflictKind,
    prompt::Format,
};
use callboard_model::{ModelError, Provider};
use serde_json::{Map, Value, json};

use super::{
    declared::{as_declared, calls_as_declared, listed},
    unknown,
};
use crate::{call_error::CallError, problem};

/// An API that clients speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI's chat completions.
    OpenAi,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's messages.
    Anthropic,
}

/// What happens with a request: the header `Callboard-Mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The prompt is Callboard's.
    Manage,
    /// The request goes on byte for byte.
    Record,
}

impl Mode {
    /// What the headers of a request say.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Complaint> {
        match headers.get("callboard-mode").map(|mode| mode.to_str().unwrap_or_default().trim()) {
            None | Some("manage") => Ok(Self::Manage),
            Some("record") => Ok(Self::Record),
            Some(_) => Err(Complaint::refused("Callboard-Mode", "it is `manage`, which is the default, or `record`")),
        }
    }
}

/// What a client asks for.
#[derive(Debug)]
pub(super) struct Asked {
    /// The whole request.
    pub(super) body: Map<String, Value>,
    pub(super) model: String,
    /// What stands before the conversation: the client's instructions.
    pub(super) instructions: Option<String>,
    /// The conversation.
    pub(super) messages: Vec<Value>,
    /// The client's tools.
    pub(super) tools: Vec<Tool>,
    /// Items of the Responses API that offer tools.
    pub(super) tool_items: Vec<Value>,
    pub(super) is_stream: bool,
    /// Whether the usage at the end of a stream of chat completions was asked for.
    pub(super) wants_usage: bool,
}

impl Asked {
    /// The tools that the client offers, as it sent them.
    pub(super) fn offered(&self) -> impl Iterator<Item = &Value> {
        let items = self.tool_items.iter().flat_map(|item| listed(item.get("tools")));
        listed(self.body.get("tools")).chain(items)
    }
}

/// Why a request is refused, in words of the API.
#[derive(Debug)]
pub(super) struct Complaint {
    status: StatusCode,
    code: String,
    message: String,
}

impl Complaint {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: "invalid_request".to_owned(), message: message.into() }
    }

    /// What was asked for was there and was erased.
    pub(super) fn erased(message: &str) -> Self {
        Self { code: ConflictKind::AnswerErased.code().to_owned(), ..Self::new(StatusCode::GONE, message) }
    }

    /// Something in the request is wrong.
    pub(super) fn refused(pointer: &str, why: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("{pointer}: {why}"))
    }

    /// Whether somebody else was faster to add to the session.
    pub(super) fn is_stale(&self) -> bool {
        self.code == "stale"
    }

    /// As the clients of the API read it.
    pub(super) fn response(self, dialect: Dialect) -> Response {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        };
        let body = match dialect {
            Dialect::OpenAi | Dialect::Responses => {
                json!({"error": {"message": self.message, "type": kind, "param": null, "code": self.code}})
            }
            Dialect::Anthropic => json!({"type": "error", "error": {"type": kind, "message": self.message}}),
        };
        (self.status, Json(body)).into_response()
    }
}

impl<E: Into<CallError>> From<E> for Complaint {
    fn from(error: E) -> Self {
        let error = error.into();
        let status = problem::status(error.code);
        let more = error.faults.iter().filter(|fault| !error.detail.contains(&fault.problem));
        let more: String = more.map(|fault| format!("; {}: {}", fault.pointer, fault.problem)).collect();
        let mut message = error.detail + &more;
        if let Some(hint) = error.hint {
            message.push_str(&format!(" ({hint})"));
        }
        Self { status, code: error.code.to_owned(), message }
    }
}

impl From<ModelError> for Complaint {
    fn from(error: ModelError) -> Self {
        let status = match &error {
            ModelError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
            ModelError::NotConfigured { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self { status, code: error.code().to_owned(), message: error.to_string() }
    }
}

impl Dialect {
    /// Whose API it is. Addresses name it.
    pub(super) fn provider(self) -> Provider {
        match self {
            Self::OpenAi | Self::Responses => Provider::OpenAi,
            Self::Anthropic => Provider::Anthropic,
        }
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::OpenAi => Format::OpenAi,
            Self::Responses => Format::Responses,
            Self::Anthropic => Format::Anthropic,
        }
    }

    pub(super) fn shape(self) -> MessageShape {
        match self {
            Self::OpenAi | Self::Responses => MessageShape::OpenAi,
            Self::Anthropic => MessageShape::Anthropic,
        }
    }

    /// The field of a request that has the conversation.
    pub(super) fn list(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "messages",
            Self::Responses => "input",
        }
    }

    /// The calls that are answered.
    pub(super) fn calls(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Responses => {
                &["POST /v1/chat/completions", "POST /v1/responses", "POST /v1/embeddings", "GET /v1/models"]
            }
            Self::Anthropic => &["POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models"],
        }
    }

    /// Where a call is below the base URL of the endpoint.
    pub(super) fn path(self, call: &str) -> String {
        match self {
            Self::OpenAi | Self::Responses => format!("/{call}"),
            Self::Anthropic => format!("/v1/{call}"),
        }
    }

    /// The headers that matter to the API.
    pub(super) fn headers(self, given: &HeaderMap) -> HeaderMap {
        let names: &[&str] = match self {
            Self::OpenAi | Self::Responses => &["openai-beta"],
            Self::Anthropic => &["anthropic-version", "anthropic-beta"],
        };
        let kept = names.iter().map(|name| HeaderName::from_static(name));
        let mut headers: HeaderMap =
            kept.filter_map(|name| given.get(&name).map(|value| (name.clone(), value.clone()))).collect();
        if self == Self::Anthropic {
            headers.entry("anthropic-version").or_insert(HeaderValue::from_static("2023-06-01"));
        }
        headers
    }

    /// Reads what a client asks for. What is to go on as it is may have what else would be refused.
    pub(super) fn read(self, mut body: Map<String, Value>, mode: Mode) -> Result<Asked, Complaint> {
        if mode == Mode::Manage
            && let Some(pointer) = self.compacted(&body)
        {
            let why = "the conversation is kept and compressed here, not by the provider: leave it out";
            return Err(Complaint::refused(&pointer, why));
        }
        if mode == Mode::Manage
            && let Some(pointer) = unknown::field(&body, self.list())
        {
            let why = "the model would not be told of it: leave it out, or only record with the header `Callboard-Mode: record`";
            return Err(Complaint::refused(&pointer, why));
        }
        let is_there = |name: &str| body.get(name).is_some_and(|given| !given.is_null());
        let text = |name: &str| body.get(name).and_then(Value::as_str);
        let Some(model) = text("model") else {
            let why = match (is_there("model"), mode) {
                (true, _) => "it is a text, such as `gpt-4o`",
                (false, Mode::Manage) => "name the model, give the agent one, or set CALLBOARD_MODEL",
                (false, Mode::Record) => "name the model: what is only recorded goes on as it is",
            };
            return Err(Complaint::refused("/model", why));
        };
        let model = self.own_name(model, mode)?.to_owned();
        let (is_managed, is_response) = (mode == Mode::Manage, self == Self::Responses);
        let has = |name: &str| is_managed && is_there(name);
        let called_elsewhere = "what a provider calls itself cannot be kept in a conversation: leave it out, or only record with the header `Callboard-Mode: record`";
        let kept_here = "the conversation is kept here, not by the provider: send it in `input` and leave this out";
        let as_it_comes = "an answer is kept as it comes: leave it out, and use `stream` where answers take long";
        let refused = [
            ("n", has("n") && body.get("n") != Some(&json!(1)), "a turn has one answer: leave it out"),
            ("functions", has("functions"), "use `tools` instead"),
            ("function_call", has("function_call"), "use `tools` instead"),
            ("mcp_servers", has("mcp_servers") && listed(body.get("mcp_servers")).next().is_some(), called_elsewhere),
            ("previous_response_id", is_response && has("previous_response_id"), kept_here),
            ("conversation", is_response && has("conversation"), kept_here),
            ("background", is_response && body.get("background") == Some(&json!(true)), as_it_comes),
        ];
        if let Some((name, _, why)) = refused.into_iter().find(|(_, is_refused, _)| *is_refused) {
            return Err(Complaint::refused(&format!("/{name}"), why));
        }
        let messages = match body.remove(self.list()) {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::String(text)) if self == Self::Responses => vec![json!({"role": "user", "content": text})],
            _ => {
                let pointer = format!("/{}", self.list());
                return Err(Complaint::refused(&pointer, "give the conversation as a list of messages"));
            }
        };
        let offers = |item: &Value| item.get("type").and_then(Value::as_str) == Some("additional_tools");
        let (tool_items, messages): (Vec<_>, Vec<_>) =
            messages.into_iter().enumerate().partition(|(_, item)| self == Self::Responses && offers(item));
        let mut messages: Vec<Value> = messages.into_iter().map(|(_, message)| message).collect();
        if mode == Mode::Record {
            messages = messages.into_iter().filter_map(keepable).collect();
        }
        let instructions = match self {
            Self::OpenAi | Self::Responses => {
                let is_system = |message: &Value| {
                    matches!(message.get("role").and_then(Value::as_str), Some("system" | "developer"))
                };
                let count = messages.iter().take_while(|message| is_system(message)).count();
                let odd = messages.iter().take(count).enumerate().find_map(|(at, message)| {
                    let part = listed(message.get("content")).position(|part| part.get("text").is_none())?;
                    Some(format!("/{}/{at}/content/{part}", self.list()))
                });
                if let Some(pointer) = odd
                    && mode == Mode::Manage
                {
                    let why = "only texts can be instructions: let the user say it, or leave it out";
                    return Err(Complaint::refused(&pointer, why));
                }
                let first = (self == Self::Responses).then(|| body.get("instructions").and_then(Value::as_str));
                let mut before: Vec<_> = first.flatten().map(str::to_owned).into_iter().collect();
                before.extend(messages.drain(..count).map(|message| texts(message.get("content"))));
                (!before.is_empty()).then(|| before.join("\n\n"))
            }
            Self::Anthropic => {
                let blocks = body.get("system").and_then(Value::as_array).into_iter().flatten();
                let mut kinds = blocks.map(|block| block.get("type").and_then(Value::as_str).unwrap_or_default());
                if let Some(at) = kinds.position(|kind| kind != "text")
                    && mode == Mode::Manage
                {
                    let why = "only blocks of the type `text` can be instructions: leave others out";
                    return Err(Complaint::refused(&format!("/system/{at}"), why));
                }
                body.get("system").map(|system| texts(Some(system)))
            }
        };
        let of_items = tool_items.iter().map(|(at, item)| (format!("/input/{at}/tools"), item.get("tools")));
        let lists = [("/tools".to_owned(), body.get("tools"))].into_iter().chain(of_items);
        let offered = lists.flat_map(|(pointer, list)| {
            listed(list).enumerate().map(move |(at, tool)| (format!("{pointer}/{at}"), tool))
        });
        let at_once = listed(body.get("tools")).count();
        let mut tools: Vec<(usize, Tool)> = Vec::new();
        for (nth, (pointer, tool)) in offered.enumerate() {
            let offer = if nth < at_once { 0 } else { nth };
            match self.tools(&pointer, tool) {
                Err(complaint) if mode == Mode::Manage => return Err(complaint),
                read => tools.extend(read.into_iter().flatten().map(|tool| (offer, tool))),
            }
        }
        // What is offered again is offered anew.
        let newest: BTreeMap<_, _> = tools.iter().map(|(offer, tool)| (tool.name.clone(), *offer)).collect();
        tools.retain(|(offer, tool)| newest.get(&tool.name) == Some(offer));
        let tools = tools.into_iter().map(|(_, tool)| tool).collect();
        let tool_items = tool_items.into_iter().map(|(_, item)| item).collect();
        let is_stream = body.get("stream") == Some(&json!(true));
        let wants_usage =
            body.get("stream_options").and_then(|options| options.get("include_usage")) == Some(&json!(true));
        body.insert("model".to_owned(), model.clone().into());
        Ok(Asked { model, instructions, messages, tools, tool_items, is_stream, wants_usage, body })
    }

    /// How many tokens the client wants the answer to have at most; 0 where it does not say.
    pub(super) fn answer_tokens(self, asked: &Asked) -> Tokens {
        let names: &[&str] = match self {
            Self::OpenAi => &["max_completion_tokens", "max_tokens"],
            Self::Responses => &["max_output_tokens"],
            Self::Anthropic => &["max_tokens"],
        };
        Tokens(names.iter().find_map(|name| asked.body.get(*name)?.as_u64()).unwrap_or_default())
    }

    /// The name of a model at the provider of this API. One of the other API is not asked here.
    fn own_name(self, model: &str, mode: Mode) -> Result<&str, Complaint> {
        let own = self.provider().as_str();
        match model.split_once(':') {
            Some((word, name)) if word == own => Ok(name),
            Some((other @ ("openai" | "anthropic"), _)) if mode == Mode::Manage => {
                let model: String = model.chars().take(80).collect();
                let why = format!(
                    "`{model}` is asked at a base URL that ends with `/{other}`, in the form of that API: name another model, or say `{own}:{model}` if that is its name here"
                );
                Err(Complaint::refused("/model", &why))
            }
            _ => Ok(model),
        }
    }

    /// Where a request has a part of the conversation compressed by the provider, or brings what stands for one.
    fn compacted(self, body: &Map<String, Value>) -> Option<String> {
        let kind = |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_compaction = |value: &Value| kind(value) == "compaction";
        let (settings, given) = (body.get("context_management"), body.get(self.list()));
        match self {
            Self::OpenAi => None,
            Self::Responses => {
                let item = listed(given).position(is_compaction).map(|at| format!("/input/{at}"));
                item.or_else(|| listed(settings).position(is_compaction).map(|at| format!("/context_management/{at}")))
            }
            Self::Anthropic => {
                let block = listed(given).enumerate().find_map(|(at, message)| {
                    let block = listed(message.get("content")).position(is_compaction)?;
                    Some(format!("/messages/{at}/content/{block}"))
                });
                let edits = settings.and_then(|settings| settings.get("edits"));
                let edit = listed(edits).position(|edit| kind(edit).starts_with("compact_"));
                block.or_else(|| edit.map(|at| format!("/context_management/edits/{at}")))
            }
        }
    }

    /// Refuses what an answer could not have that is given again under its idempotency key.
    pub(super) fn check_key(self, asked: &Asked) -> Result<(), Complaint> {
        let nothing = [json!(null), json!(false), json!(0)];
        let given = |name: &str| asked.body.get(name).filter(|value| !nothing.contains(value));
        let pointer = match self {
            Self::OpenAi => {
                let several = given("n").filter(|n| **n != json!(1));
                given("logprobs").map(|_| "/logprobs".to_owned()).or_else(|| several.map(|_| "/n".to_owned()))
            }
            Self::Responses => {
                let is_logprobs = |value: &Value| value.as_str() == Some("message.output_text.logprobs");
                let at = listed(asked.body.get("include")).position(is_logprobs);
                at.map(|at| format!("/include/{at}"))
                    .or_else(|| given("top_logprobs").map(|_| "/top_logprobs".to_owned()))
            }
            Self::Anthropic => None,
        };
        let why = "it is not kept, and so would not be there where the answer is given again under its Idempotency-Key: leave one of the two out";
        pointer.map_or(Ok(()), |pointer| Err(Complaint::refused(&pointer, why)))
    }

    /// Reads a tool of the client, or those of a namespace. None is what a provider itself describes to its models and the client
    /// executes, or with which the provider searches: it passes as it is.
    fn tools(self, pointer: &str, tool: &Value) -> Result<Vec<Tool>, Complaint> {
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
        if self == Self::Responses && kind == "namespace" {
            let namespace = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let inner = listed(tool.get("tools")).enumerate();
            let inner = inner.map(|(at, inner)| self.tools(&format!("{pointer}/tools/{at}"), inner));
            let inner = inner.collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
            return Ok(inner.map(|tool| Tool { name: whole_name(namespace, &tool.name), ..tool }).collect());
        }
        let (described, parameters) = match self {
            Self::OpenAi if kind == "custom" => (tool.get("custom"), "format"),
            Self::OpenAi => (tool.get("function"), "parameters"),
            Self::Responses if kind == "custom" => (Some(tool), "format"),
            Self::Responses => ((kind == "function").then_some(tool), "parameters"),
            Self::Anthropic => (tool.get("input_schema").is_some().then_some(tool), "input_schema"),
        };
        let Some(described) = described else {
            let passing: &[&str] = match self {
                Self::OpenAi => &[],
                Self::Responses => &["web_search"],
                Self::Anthropic => &PASSING,
            };
            if passing.iter().any(|begin| kind.starts_with(*begin)) {
                return Ok(Vec::new());
            }
            let why = format!(
                "tools of the type `{kind}` cannot be kept in a conversation: leave it out, or only record with the header `Callboard-Mode: record`"
            );
            return Err(Complaint::refused(pointer, &why));
        };
        let text = |name: &str| described.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let parameters = described.get(parameters).and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(vec![Tool { name: text("name"), description: text("description"), parameters, ..Tool::default() }])
    }

    /// Puts a prompt in the place of the client's conversation.
    pub(super) fn fill(self, asked: &mut Asked, prompt: api::Prompt) {
        let input = as_declared(asked.offered(), prompt.input.unwrap_or_default());
        let body = &mut asked.body;
        match self {
            Self::Anthropic => {
                let mut messages = prompt.messages.unwrap_or_default();
                mark_failed(&asked.messages, &mut messages);
                let mut system = prompt.system.unwrap_or_default();
                fit_marks(body, &asked.messages, &mut system, &mut messages);
                body.insert("messages".to_owned(), messages.into());
                if !system.is_empty() {
                    body.insert("system".to_owned(), system.into());
                }
            }
            Self::Responses => {
                if let Some(instructions) = prompt.instructions {
                    body.insert("instructions".to_owned(), instructions.into());
                }
                let input: Vec<_> = asked.tool_items.iter().cloned().chain(input).collect();
                body.insert("input".to_owned(), input.into());
                body.insert("store".to_owned(), json!(false));
            }
            Self::OpenAi => {
                let messages = calls_as_declared(listed(body.get("tools")), prompt.messages.unwrap_or_default());
                body.insert("messages".to_owned(), messages.into());
                if body.get("stream") == Some(&json!(true)) {
                    let options = body.entry("stream_options").or_insert(Value::Null);
                    if options.is_null() {
                        *options = json!({});
                    }
                    if let Some(options) = options.as_object_mut() {
                        options.insert("include_usage".to_owned(), json!(true));
                    }
                }
            }
        }
    }
}

/// The largest number of marks for its cache that Anthropic takes in a request.
const MARKS: usize = 4;

/// What is cached up to here, as a client or Callboard marked it.
fn mark(block: &Value) -> Option<&Value> {
    block.get("cache_control").filter(|mark| mark.is_object())
}

/// Makes the marks that Callboard set for Anthropic's cache fit those of the client, which go on in its tools and for the request
/// as a whole. Those in the messages that the client `sent` only say how long Callboard's are to last.
///
/// They last as long as the client's. Anthropic refuses a mark behind one that lasts shorter, in the order of tools, system and
/// messages: a mark takes its `ttl` from the client's last one up to where its list ends, or else from the first behind it.
///
/// Where there would be too many, the first of Callboard's are left out: what is cached up to a later mark holds what is cached up to
/// an earlier one, which is read only where something between the two has changed.
fn fit_marks(body: &Map<String, Value>, sent: &[Value], system: &mut [Value], messages: &mut [Value]) {
    let said_by_client = sent.iter().flat_map(|message| listed(message.get("content")));
    // What is in the result of a tool stands before its own mark.
    let in_messages = said_by_client.flat_map(|block| listed(block.get("content")).chain([block]));
    let of_all = body.get("cache_control").filter(|mark| mark.is_object());
    let in_tools: Vec<_> = listed(body.get("tools")).filter_map(mark).collect();
    let before: Vec<_> = in_tools.iter().copied().chain(listed(body.get("system")).filter_map(mark)).collect();
    let behind: Vec<_> = in_messages.filter_map(mark).chain(of_all).collect();
    let ttl = |mark: Option<&&Value>| mark.and_then(|mark| mark.get("ttl")).filter(|ttl| ttl.is_string()).cloned();
    let of_system = ttl(before.last().or(behind.first()));
    let of_messages = ttl(behind.last().or(before.last()));
    let said = messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten();
    let blocks = system.iter_mut().map(|block| (block, &of_system)).chain(said.map(|block| (block, &of_messages)));
    let own: Vec<_> = blocks.filter(|(block, _)| mark(block).is_some()).collect();
    let room = MARKS.saturating_sub(in_tools.len() + usize::from(of_all.is_some()));
    let too_many = own.len().saturating_sub(room);
    for (at, (block, ttl)) in own.into_iter().enumerate() {
        let Some(fields) = block.as_object_mut() else { continue };
        if at < too_many {
            fields.remove("cache_control");
        } else if let Some(ttl) = ttl {
            fields.insert("cache_control".to_owned(), json!({"type": "ephemeral", "ttl": ttl}));
        }
    }
}

/// Marks the results of calls that failed as the client did. Anthropic refuses the mark where nothing is said.
fn mark_failed(sent: &[Value], messages: &mut [Value]) {
    let results = sent.iter().flat_map(|message| listed(message.get("content")));
    let failed = results.filter(|block| block.get("is_error") == Some(&json!(true)));
    let failed: BTreeSet<_> = failed.filter_map(|block| block.get("tool_use_id")?.as_str()).collect();
    let blocks = messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten();
    for fields in blocks.filter_map(Value::as_object_mut).filter(|fields| fields.contains_key("content")) {
        if fields.get("tool_use_id").and_then(Value::as_str).is_some_and(|id| failed.contains(id)) {
            fields.insert("is_error".to_owned(), json!(true));
        }
    }
}

/// How the types of Anthropic's tools begin that clients execute, and of those with which it searches and fetches itself.
const PASSING: [&str; 6] = ["bash_", "computer_", "memory_", "text_editor_", "web_fetch_", "web_search_"];

/// A message without fields that say nothing, which clients send of all that there once was.
pub(super) fn said(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.retain(|name, value| !value.is_null() || name == "content");
    }
    message
}

/// An object with these of its fields alone.
pub(super) fn only(object: &Value, names: &[&str]) -> Value {
    let fields = names.iter().filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone())));
    Value::Object(fields.collect())
}

/// The fields of messages and items that say something. What has others is kept without them, if it cannot be kept with them.
pub(super) const KEPT: [&str; 16] = [
    "type",
    "id",
    "role",
    "content",
    "status",
    "tool_calls",
    "tool_call_id",
    "call_id",
    "namespace",
    "name",
    "arguments",
    "input",
    "output",
    "summary",
    "encrypted_content",
    "action",
];

/// Those that say something in every message that has a role.
const SAID: [&str; 6] = ["type", "role", "content", "tool_calls", "tool_call_id", "name"];

/// What of a message can be kept in a conversation: all of it, or what it says and calls, or nothing.
fn keepable(message: Value) -> Option<Value> {
    let fits = |message: &Value| {
        let given = serde_json::from_value::<GivenMessage>(said(message));
        given.is_ok_and(|given| reading::read_at("", vec![given]).is_ok())
    };
    if fits(&message) {
        return Some(message);
    }
    [only(&message, &KEPT), only(&message, &SAID)].into_iter().find(fits)
}

/// The texts of a content: a text, or parts of which some are texts.
pub(super) fn texts(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_failed_are_marked_if_they_say_something() {
        let block = |id: &str, fields: Value| {
            let mut block = json!({"type": "tool_result", "tool_use_id": id});
            block.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            block
        };
        let failed = |id: &str| block(id, json!({"content": " ", "is_error": true}));
        let sent =
            json!({"role": "user", "content": [failed("a"), failed("b"), block("c", json!({"content": "Done."}))]});
        let said = |id: &str| block(id, json!({"content": "Fog."}));
        let mut messages = [json!({"role": "user", "content": [said("a"), block("b", json!({})), said("c")]})];
        mark_failed(&[sent], &mut messages);
        let marked = block("a", json!({"content": "Fog.", "is_error": true}));
        assert_eq!(messages, [json!({"role": "user", "content": [marked, block("b", json!({})), said("c")]})]);
    }

    #[test]
    fn marks_in_messages_say_how_long_those_of_callboard_last() {
        let (short, hour) = (json!({"type": "ephemeral"}), json!({"type": "ephemeral", "ttl": "1h"}));
        let block = |mark: &Value| json!({"type": "text", "text": "Fog.", "cache_control": mark});
        let said = |block: Value| json!({"role": "user", "content": [block]});
        let result = json!({"type": "tool_result", "tool_use_id": "a", "content": [block(&hour)]});
        for sent in [said(block(&hour)), said(result)] {
            let (mut system, mut messages) = ([block(&short)], [said(block(&short))]);
            fit_marks(&Map::new(), &[sent], &mut system, &mut messages);
            assert_eq!((&system, &messages), (&[block(&hour)], &[said(block(&hour))]));
        }
    }

    #[test]
    fn a_tool_that_is_offered_again_is_offered_anew_in_the_place_of_the_new_one() {
        let tool =
            |name: &str, description: &str| json!({"type": "function", "name": name, "description": description});
        let item = |tools: Value| json!({"type": "additional_tools", "tools": tools});
        let body = json!({
            "model": "m", "tools": [tool("a", "old"), tool("b", "old")],
            "input": [
                item(json!([tool("a", "newer"), tool("c", "")])), item(json!([tool("a", "newest")])),
                {"role": "user", "content": "Well?"},
            ],
        });
        let asked = Dialect::Responses.read(body.as_object().unwrap().clone(), Mode::Manage).unwrap();
        let tools: Vec<_> = asked.tools.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
        assert_eq!(tools, [("b", "old"), ("c", ""), ("a", "newest")]);
    }
}
