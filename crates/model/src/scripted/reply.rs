//! The replies of a scripted endpoint.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{ToolCall, Usage};

/// One answer of a script.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) act: Act,
    /// What the model thinks before.
    pub(super) reasoning: Vec<Value>,
    pub(super) delay: Duration,
    /// `None` estimates the usage from the number of words; `Some(None)` sends no usage.
    pub(super) usage: Option<Option<Usage>>,
    pub(super) finish: Option<String>,
    pub(super) ignores_stream: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Message { text: String, calls: Vec<ToolCall> },
    Error { status: u16, message: String, retry_after_seconds: Option<u64> },
    CutOff { text: String },
    Stall { text: String },
    Silence,
    Raw { status: u16, content_type: String, body: String },
    Endless { begin: String, repeat: String },
}

impl Reply {
    /// A message.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Act::Message { text: text.into(), calls: Vec::new() })
    }

    /// A message that is JSON, as a model with a schema writes it.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// Calls of tools, with their arguments; their ids are `call_1`, `call_2` and so on.
    pub fn tool_calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls = calls.into_iter().enumerate().map(|(number, (name, arguments))| ToolCall {
            id: format!("call_{}", number + 1),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        });
        Self::of(Act::Message { text: String::new(), calls: calls.collect() })
    }

    /// An HTTP status and a message.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        Self::of(Act::Error { status, message: message.into(), retry_after_seconds: None })
    }

    /// A connection that breaks after `text`, which may be empty.
    pub fn cut_off(text: impl Into<String>) -> Self {
        Self::of(Act::CutOff { text: text.into() })
    }

    /// An answer that begins with `text` and never continues.
    pub fn stall(text: impl Into<String>) -> Self {
        Self::of(Act::Stall { text: text.into() })
    }

    /// No answer, however long the client waits.
    pub fn silence() -> Self {
        Self::of(Act::Silence)
    }

    /// A body that is no message, with status 200.
    pub fn garbage(body: impl Into<String>) -> Self {
        Self::raw(200, "text/html", body)
    }

    /// This exact response, for instance a stream written by hand.
    pub fn raw(status: u16, content_type: impl Into<String>, body: impl Into<String>) -> Self {
        Self::of(Act::Raw { status, content_type: content_type.into(), body: body.into() })
    }

    /// An answer with status 200 that is JSON by its type and never ends: `begin`, then `repeat` again and again.
    pub fn endless(begin: impl Into<String>, repeat: impl Into<String>) -> Self {
        Self::of(Act::Endless { begin: begin.into(), repeat: repeat.into() })
    }

    /// The vectors of texts, as an endpoint for embeddings gives them.
    pub fn vectors<'a>(vectors: impl IntoIterator<Item = &'a [f32]>) -> Self {
        let item =
            |(index, vector): (usize, &[f32])| json!({"object": "embedding", "index": index, "embedding": vector});
        let data: Vec<_> = vectors.into_iter().enumerate().map(item).collect();
        let body = json!({"object": "list", "model": "scripted", "data": data});
        Self::raw(200, "application/json", body.to_string())
    }

    /// The same message with what the model thought before: blocks as Anthropic has them, `thinking` with a `signature`, or
    /// `redacted_thinking`. In chat completions the text of the first is `reasoning_content`.
    #[must_use]
    pub fn thinking(mut self, blocks: impl IntoIterator<Item = Value>) -> Self {
        self.reasoning = blocks.into_iter().collect();
        self
    }

    /// The same reply after a delay.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same reply with this usage. By default the usage is estimated from the number of words.
    #[must_use]
    pub fn with_usage(mut self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        self.usage = Some(Some(Usage { prompt_tokens, completion_tokens }));
        self
    }

    /// The same reply without usage.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Some(None);
        self
    }

    /// The same reply with this finish reason of chat completions, such as `"length"`.
    #[must_use]
    pub fn finish(mut self, reason: impl Into<String>) -> Self {
        self.finish = Some(reason.into());
        self
    }

    /// The same reply in one piece, even if the request asks for a stream.
    #[must_use]
    pub fn ignoring_stream(mut self) -> Self {
        self.ignores_stream = true;
        self
    }

    /// The same error with `Retry-After`. Other replies stay as they are.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        if let Act::Error { retry_after_seconds, .. } = &mut self.act {
            *retry_after_seconds = Some(seconds);
        }
        self
    }

    fn of(act: Act) -> Self {
        Self { act, reasoning: Vec::new(), delay: Duration::ZERO, usage: None, finish: None, ignores_stream: false }
    }

    /// The usage to send for a `request` and its `answer`.
    pub(super) fn usage_for(&self, request: &Value, answer: &str) -> Option<Usage> {
        let words = |text: &str| u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX);
        self.usage.unwrap_or_else(|| {
            let prompt_tokens = words(&request.get("messages").map(Value::to_string).unwrap_or_default());
            Some(Usage { prompt_tokens, completion_tokens: words(answer) })
        })
    }
}
