//! Requests to models, and their answers.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{ModelError, ModelName, Provider};

/// Gets the text of an answer piece by piece.
pub type OnDelta<'a> = dyn FnMut(&str) + Send + 'a;

/// A model that chats.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Sends a request to the model that it names. `on_delta` gets the text of the answer piece by piece as it comes; joined,
    /// the pieces are [`ChatAnswer::text`]. Once a piece was passed on, the request is not retried: if the answer breaks off,
    /// this is an error. To cancel, drop the future.
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError>;

    /// Sends a request of a provider's API once, as it is, and gives what comes back as it comes, also where it is a refusal.
    async fn forward(&self, request: Forwarded) -> Result<http::Response<BytesOfAnswer>, ModelError> {
        let reason = "this model takes no requests of its API as they are".to_owned();
        Err(ModelError::NotConfigured { provider: request.provider, reason })
    }
}

/// The bytes of an answer as they come.
pub type BytesOfAnswer = BoxStream<'static, Result<Bytes, ModelError>>;

/// A request of a provider's API.
#[derive(Clone, Debug)]
pub struct Forwarded {
    /// Whose API it is.
    pub provider: Provider,
    /// The path below the base URL, such as `/chat/completions` or `/v1/messages`.
    pub path: String,
    /// The headers that matter to the API. Keys are not among them: the endpoint has its own.
    pub headers: http::HeaderMap,
    /// The body, which is JSON; without one it is a GET request.
    pub body: Option<Bytes>,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The model.
    pub model: ModelName,
    /// The system prompt, if the provider's API has a separate field for it: for Anthropic's messages, blocks
    /// `{"type": "text", "text"}`. In OpenAI's chat completions it is a message.
    pub system: Vec<Value>,
    /// The conversation in the format of the provider's API: messages `{"role", "content", …}` of OpenAI's chat completions,
    /// or of Anthropic's messages.
    pub messages: Vec<Value>,
    /// The tools that the model may call, for every provider as `{"type": "function", "function": {"name", "description",
    /// "parameters"}}`.
    pub tools: Vec<Value>,
    /// Whether it must call a tool: `"auto"`, `"required"`, `"none"`, or one tool as `{"type": "function", "function":
    /// {"name"}}`. By default the endpoint decides.
    pub tool_choice: Option<Value>,
    /// The schema that the answer must match.
    pub response_schema: Option<ResponseSchema>,
    /// The most tokens of the answer, as the model counts them. Anthropic requires this; the default there is 8192.
    pub max_tokens: Option<u64>,
    /// The sampling temperature; 0 for the least variation.
    pub temperature: Option<f64>,
}

impl ChatRequest {
    /// A request to `model` without messages and options.
    pub fn new(model: ModelName) -> Self {
        Self {
            model,
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            response_schema: None,
            max_tokens: None,
            temperature: None,
        }
    }

    /// The same with instructions, which stand where the provider's API takes them.
    pub fn instructed(model: ModelName, instructions: &str) -> Self {
        let mut request = Self::new(model);
        match request.model.provider() {
            Provider::OpenAi => request.messages.push(json!({"role": "system", "content": instructions})),
            Provider::Anthropic => request.system.push(json!({"type": "text", "text": instructions})),
        }
        request
    }
}

/// A JSON Schema that an answer must match.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseSchema {
    /// The name of the schema: up to 64 letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
    /// Whether the endpoint must enforce it. Some endpoints then support only a part of JSON Schema.
    pub strict: bool,
    /// The schema that is asked for once more, and not enforced, where the endpoint refuses the other.
    pub plain: Option<Value>,
}

impl ResponseSchema {
    /// The plain one, where there is one and the endpoint has refused the other.
    pub(crate) fn instead<T>(&self, answer: &Result<T, ModelError>) -> Option<Self> {
        let Err(ModelError::Refused { status: 400 | 422, message, .. }) = answer else { return None };
        let message = message.to_lowercase();
        let plain = self.plainly().filter(|_| SCHEMA_WORDS.iter().any(|word| message.contains(*word)))?;
        tracing::info!(schema = %self.name, %message, "asking with the plain schema");
        Some(plain)
    }

    fn plainly(&self) -> Option<Self> {
        let schema = self.plain.clone()?;
        Some(Self { name: self.name.clone(), schema, strict: false, plain: None })
    }
}

/// How an answer with a schema is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm {
    /// In the API's own way, by which the endpoint enforces it.
    Enforced,
    /// In words alone.
    Words,
}

/// The schemas that an endpoint has refused to enforce, by the model and their name: so each is refused once and not each time.
#[derive(Default)]
pub(crate) struct RefusedSchemas(Mutex<HashSet<(String, String)>>);

impl RefusedSchemas {
    /// The plain form of a schema that was refused before.
    pub(crate) fn plain(&self, model: &ModelName, schema: &ResponseSchema) -> Option<ResponseSchema> {
        let is_known = self.known().contains(&(model.name().to_owned(), schema.name.clone()));
        if is_known { schema.plainly() } else { None }
    }

    /// Notes that a schema was refused where its plain form was not.
    pub(crate) fn note(&self, model: &ModelName, schema: &ResponseSchema) {
        self.known().insert((model.name().to_owned(), schema.name.clone()));
    }

    fn known(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What endpoints say where they refuse a schema.
const SCHEMA_WORDS: [&str; 4] = ["schema", "strict", "response_format", "grammar"];

/// The answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The text; empty if the model only calls tools.
    pub text: String,
    /// What the model thought before, in blocks. Anthropic's are as it gave them; of other servers each field is a block with its
    /// name as `type`, such as `{"type": "reasoning_content", "reasoning_content": "…"}`. Within a loop of tool calls, the provider
    /// wants them back unchanged.
    pub reasoning: Vec<Map<String, Value>>,
    /// The calls of tools that the model asks for, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// What it thought, said and called in the order in which it came. Only Anthropic's API tells that; elsewhere it is empty.
    pub pieces: Vec<Piece>,
    /// The tokens that were used, if the endpoint says so.
    pub usage: Option<Usage>,
    /// Why the answer ends.
    pub finish: Finish,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The block of [`ChatAnswer::reasoning`] at this place.
    Thought(usize),
    /// This part of [`ChatAnswer::text`], in bytes.
    Text(Range<usize>),
    /// The call of [`ChatAnswer::tool_calls`] at this place.
    Call(usize),
}

/// A call of a tool that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id by which the result refers to the call; unique within the answer.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them. They should be a JSON object.
    pub arguments: String,
}

/// The size of a request and its answer in tokens, as the model counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens of the request.
    pub prompt_tokens: u64,
    /// The tokens of the answer.
    pub completion_tokens: u64,
}

/// Why an answer ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The answer is cut off: it reached `max_tokens` or the end of the model's window.
    Length,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The model or its endpoint refused to answer.
    ContentFilter,
    /// Another reason, as the endpoint names it.
    Other(String),
}

impl From<&str> for Finish {
    fn from(reason: &str) -> Self {
        match reason {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }
}
