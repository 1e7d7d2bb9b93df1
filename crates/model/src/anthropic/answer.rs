//! Putting an answer together, from the events of a stream or from a whole message.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::reading::{self, ReadFault, complete};
use crate::{ChatAnswer, Finish, OnDelta, Piece, ToolCall, Usage};

/// One event of a stream, or a whole answer. Unknown types are ignored, since the API may add some at any time, and null is
/// absent.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        delta: Option<End>,
        usage: Option<WireUsage>,
    },
    MessageStop,
    Error {
        error: Option<Complaint>,
    },
    /// The whole answer, from a server that does not stream.
    Message(Message),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: Option<String>,
    },
    ToolUse {
        id: Option<String>,
        name: String,
        /// Complete in a whole message; empty in a stream, where deltas follow.
        input: Option<Value>,
    },
    Thinking(Map<String, Value>),
    RedactedThinking(Map<String, Value>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct End {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// The usage so far. Fields that a later event leaves out keep their values.
#[derive(Default, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Complaint {
    /// The HTTP status of the error, according to Anthropic's documentation.
    fn status(&self) -> u16 {
        match self.kind.as_deref() {
            Some("invalid_request_error") => 400,
            Some("authentication_error") => 401,
            Some("billing_error") => 402,
            Some("permission_error") => 403,
            Some("not_found_error") => 404,
            Some("request_too_large") => 413,
            Some("rate_limit_error") => 429,
            Some("timeout_error") => 504,
            Some("overloaded_error") => 529,
            _ => 500,
        }
    }
}

/// An answer that is being put together.
#[derive(Default)]
pub(super) struct Assembly {
    /// The tool whose arguments are the answer, if the request has a schema.
    form: Option<String>,
    /// The block with that call.
    given: Option<u64>,
    text: String,
    /// The text outside of that call.
    aside: String,
    calls: Vec<(u64, ToolCall)>,
    reasoning: Vec<(u64, Map<String, Value>)>,
    /// What came, in its order; what is given in the form is not among it.
    pieces: Vec<Piece>,
    usage: Option<WireUsage>,
    finish: Option<Finish>,
    model: Option<String>,
}

impl Assembly {
    /// An empty answer; `form` is the tool whose arguments are the answer.
    pub(super) fn new(form: Option<&str>) -> Self {
        Self { form: form.map(str::to_owned), ..Self::default() }
    }

    /// The answer; `asked` is the requested model. If the model did not call the tool, the answer is its text.
    pub(super) fn answer(mut self, asked: &str, on_delta: &mut OnDelta<'_>) -> ChatAnswer {
        if self.form.is_some() && self.text.is_empty() && !self.aside.is_empty() {
            on_delta(&self.aside);
            self.text = self.aside;
        }
        let tool_calls = complete(self.calls.into_iter().map(|(_, call)| call).collect());
        let silent = if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        // The call of the tool is the answer itself, so no result is expected.
        let finish = self.finish.filter(|finish| *finish != Finish::ToolCalls).unwrap_or(silent);
        let model = self.model.unwrap_or_else(|| asked.to_owned());
        let reasoning = self.reasoning.into_iter().map(|(_, block)| block).collect();
        let usage = self.usage.filter(WireUsage::is_told).map(Usage::from);
        ChatAnswer { text: self.text, reasoning, tool_calls, pieces: self.pieces, usage, finish, model }
    }

    fn add(&mut self, event: Event, on_delta: &mut OnDelta<'_>) -> ControlFlow<()> {
        match event {
            Event::MessageStart { message } | Event::Message(message) => self.message(message, on_delta),
            Event::ContentBlockStart { index, content_block } => self.begin(index, content_block, on_delta),
            Event::ContentBlockDelta { delta: Delta::Text { text }, .. } => self.say(&text, on_delta),
            Event::ContentBlockDelta { index, delta: Delta::InputJson { partial_json } } => {
                self.call_with(index, &partial_json, on_delta);
            }
            Event::ContentBlockDelta { index, delta: Delta::Thinking { thinking } } => {
                self.think(index, "thinking", &thinking);
            }
            Event::ContentBlockDelta { index, delta: Delta::Signature { signature } } => {
                self.think(index, "signature", &signature);
            }
            Event::MessageDelta { delta, usage } => self.end(delta.and_then(|delta| delta.stop_reason), usage),
            Event::MessageStop => {
                self.finish.get_or_insert(Finish::Stop);
                return ControlFlow::Break(());
            }
            Event::ContentBlockDelta { delta: Delta::Other, .. } | Event::Error { .. } | Event::Other => {}
        }
        ControlFlow::Continue(())
    }

    fn message(&mut self, message: Message, on_delta: &mut OnDelta<'_>) {
        self.model = message.model;
        for (index, block) in (0..).zip(message.content.into_iter().flatten()) {
            self.begin(index, block, on_delta);
        }
        self.end(message.stop_reason, message.usage);
    }

    fn begin(&mut self, index: u64, block: Block, on_delta: &mut OnDelta<'_>) {
        match block {
            Block::Text { text } => self.say(&text.unwrap_or_default(), on_delta),
            Block::ToolUse { id, name, input } => {
                let id = id.unwrap_or_default();
                if self.form.as_ref() != Some(&name) {
                    self.pieces.push(Piece::Call(self.calls.len()));
                    self.calls.push((index, ToolCall { id, name, arguments: String::new() }));
                } else if self.given.is_none() {
                    self.given = Some(index);
                }
                let is_there =
                    |input: &Value| input.as_object().is_none_or(|fields| !fields.is_empty()) && !input.is_null();
                if let Some(input) = input.filter(is_there) {
                    self.call_with(index, &input.to_string(), on_delta);
                }
            }
            Block::Thinking(block) => self.begin_thought(index, "thinking", block),
            Block::RedactedThinking(block) => self.begin_thought(index, "redacted_thinking", block),
            Block::Other => {}
        }
    }

    fn begin_thought(&mut self, index: u64, kind: &str, mut block: Map<String, Value>) {
        block.insert("type".to_owned(), kind.into());
        self.pieces.push(Piece::Thought(self.reasoning.len()));
        self.reasoning.push((index, block));
    }

    /// Adds a piece to a field of a block of reasoning.
    fn think(&mut self, index: u64, field: &str, piece: &str) {
        if let Some((_, block)) = self.reasoning.iter_mut().find(|(at, _)| *at == index) {
            let before = block.get(field).and_then(Value::as_str).unwrap_or_default();
            let whole = format!("{before}{piece}");
            block.insert(field.to_owned(), whole.into());
        }
    }

    fn say(&mut self, text: &str, on_delta: &mut OnDelta<'_>) {
        if self.form.is_some() {
            self.aside.push_str(text);
            return;
        }
        let (begin, end) = (self.text.len(), self.text.len() + text.len());
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(range)) => range.end = end,
            _ => self.pieces.push(Piece::Text(begin..end)),
        }
        self.give(text, on_delta);
    }

    fn call_with(&mut self, index: u64, json: &str, on_delta: &mut OnDelta<'_>) {
        if self.given == Some(index) {
            self.give(json, on_delta);
        } else if let Some((_, call)) = self.calls.iter_mut().find(|(at, _)| *at == index) {
            call.arguments.push_str(json);
        }
    }

    fn give(&mut self, text: &str, on_delta: &mut OnDelta<'_>) {
        if !text.is_empty() {
            on_delta(text);
            self.text.push_str(text);
        }
    }

    fn end(&mut self, reason: Option<String>, usage: Option<WireUsage>) {
        if let Some(reason) = reason {
            self.finish = Some(finish(&reason));
        }
        if let Some(usage) = usage {
            let before = self.usage.take().unwrap_or_default();
            self.usage = Some(WireUsage {
                input_tokens: usage.input_tokens.or(before.input_tokens),
                cache_creation_input_tokens: usage.cache_creation_input_tokens.or(before.cache_creation_input_tokens),
                cache_read_input_tokens: usage.cache_read_input_tokens.or(before.cache_read_input_tokens),
                output_tokens: usage.output_tokens.or(before.output_tokens),
            });
        }
    }
}

impl reading::Assembly for Assembly {
    fn take(&mut self, data: &str, on_delta: &mut OnDelta<'_>) -> Result<ControlFlow<()>, ReadFault> {
        match serde_json::from_str(data).map_err(ReadFault::NotUnderstood)? {
            Event::Error { error } => Err(ReadFault::Refused(error.map_or(500, |error| error.status()))),
            event => Ok(self.add(event, on_delta)),
        }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_empty(&self) -> bool {
        let nothing_said = self.text.is_empty() && self.aside.is_empty() && self.given.is_none();
        nothing_said && self.calls.is_empty() && self.finish.is_none()
    }

    fn received_chars(&self) -> usize {
        self.text.chars().count()
    }
}

impl WireUsage {
    /// Whether it says anything.
    fn is_told(&self) -> bool {
        let read = self.input_tokens.or(self.cache_creation_input_tokens).or(self.cache_read_input_tokens);
        read.or(self.output_tokens).is_some()
    }
}

impl From<WireUsage> for Usage {
    /// Tokens that were read from a cache or written to one count as read.
    fn from(usage: WireUsage) -> Self {
        let read = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
        Self {
            prompt_tokens: read.into_iter().flatten().fold(0, u64::saturating_add),
            completion_tokens: usage.output_tokens.unwrap_or_default(),
        }
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_use" => Finish::ToolCalls,
        "refusal" => Finish::ContentFilter,
        other => Finish::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
