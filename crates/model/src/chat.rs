//! A question to a model and its answer.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ModelError, ModelName};

/// Who gets an answer's text piece by piece.
pub type OnDelta<'a> = dyn FnMut(&str) + Send + 'a;

/// A model that chats.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Asks the model that the request names. `on_delta` gets the answer's text piece by piece as it comes; put together
    /// the pieces are [`ChatAnswer::text`]. An answer of which a piece was given out is never begun again here: where
    /// it breaks off this is an error, and whoever wants to may ask anew. To cancel, drop the future.
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError>;
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// Who is asked.
    pub model: ModelName,
    /// What comes before the conversation, where the model's provider takes it apart: for Anthropic's messages, blocks
    /// `{"type": "text", "text"}`. In OpenAI's chat completions it is a message.
    pub system: Vec<Value>,
    /// The conversation, as the API of the model's provider takes it: messages `{"role", "content", …}` of OpenAI's chat
    /// completions, or of Anthropic's messages.
    pub messages: Vec<Value>,
    /// What the model may call, whoever provides it: `{"type": "function", "function": {"name", "description",
    /// "parameters"}}`.
    pub tools: Vec<Value>,
    /// Whether it must call something: `"auto"`, `"required"`, `"none"` or one tool, as `{"type": "function", "function":
    /// {"name"}}`; left out, the endpoint decides.
    pub tool_choice: Option<Value>,
    /// The form that the answer must have.
    pub response_schema: Option<ResponseSchema>,
    /// The longest answer, in the model's own tokens. Anthropic wants one: left out, it is 8192 there.
    pub max_tokens: Option<u64>,
    /// How freely the model chooses its words: 0 is not at all.
    pub temperature: Option<f64>,
    /// Where endpoints honour it, the same seed gives the same answer.
    pub seed: Option<u64>,
}

impl ChatRequest {
    /// A request to `model` with no messages yet and nothing else asked for.
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
            seed: None,
        }
    }
}

/// A JSON Schema that an answer must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseSchema {
    /// What the schema is called: letters, digits, `_` and `-`, up to 64.
    pub name: String,
    /// The schema.
    pub schema: Value,
    /// Whether the endpoint must enforce it. Some then take only a part of JSON Schema.
    pub strict: bool,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The text; empty where the model only calls tools.
    pub text: String,
    /// What the model wants to have called, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// What it cost; not every endpoint says.
    pub usage: Option<Usage>,
    /// Why the answer ends where it ends.
    pub finish: Finish,
    /// What the endpoint calls the model that answered; the name asked for where it does not say.
    pub model: String,
}

/// A model's wish to have something called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call; unique within the answer.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: a JSON object if the model did well.
    pub arguments: String,
}

/// The size of a question and its answer in the model's own tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were read.
    pub prompt_tokens: u64,
    /// Tokens that were written.
    pub completion_tokens: u64,
}

/// Why an answer ends where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model had said all.
    Stop,
    /// The answer reached `max_tokens` or the end of the model's window: it is cut short.
    Length,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The model or its endpoint refused to say it.
    ContentFilter,
    /// Another reason, in the endpoint's word.
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
