//! Putting an answer together, from the events of a stream or from a whole message.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::reading::{self, ReadFault, complete};
use crate::{ChatAnswer, Finish, OnDelta, Piece, ToolCall, Usage};

/// One event of a stream, or a whole answer. Unknown types are ignored, since the API may add some at any time, and null is
/// absent.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Map<String, Value>,
    },
    ContentBlockStart {
        index: Option<u64>,
        content_block: Map<String, Value>,
    },
    ContentBlockDelta {
        index: Option<u64>,
        delta: Map<String, Value>,
    },
    MessageDelta(Map<String, Value>),
    MessageStop,
    Error {
        error: Option<Complaint>,
    },
    /// The whole answer, from a server that does not stream.
    Message(Map<String, Value>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
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

/// The fields in which pieces of a block come, and those of the block to which they belong.
const PIECES: [(&str, &str); 5] = [
    ("text", "text"),
    ("thinking", "thinking"),
    ("signature", "signature"),
    ("partial_json", "input"),
    ("content", "content"),
];

/// An answer that is being put together.
#[derive(Default)]
pub(super) struct Assembly {
    /// The tool whose arguments are the answer, if the request has a schema.
    form: Option<String>,
    /// The place of the block with that call.
    given: Option<usize>,
    /// The message without its content and its usage.
    message: Map<String, Value>,
    /// The blocks of its content with their indexes. The input of a call that comes in pieces is a text.
    blocks: Vec<(Option<u64>, Map<String, Value>)>,
    usage: Map<String, Value>,
    /// What was handed out.
    text: String,
    has_ended: bool,
}

/// The whole message that the events of a stream make; `None` where it did not come to its end.
pub(crate) fn whole(events: Vec<Value>) -> Option<Value> {
    let mut assembly = Assembly::default();
    for event in events.into_iter().filter_map(|event| serde_json::from_value(event).ok()) {
        if assembly.add(event, &mut |_| {}).is_break() {
            break;
        }
    }
    let Assembly { mut message, blocks, usage, has_ended, .. } = assembly;
    let blocks: Vec<_> = blocks.into_iter().map(|(_, block)| block).collect();
    let whole = [("role", json!("assistant")), ("content", json!(blocks)), ("usage", usage.into())];
    message.extend(whole.map(|(name, value)| (name.to_owned(), value)));
    has_ended.then(|| message.into())
}

impl Assembly {
    /// An empty answer; `form` is the tool whose arguments are the answer.
    pub(super) fn new(form: Option<&str>) -> Self {
        Self { form: form.map(str::to_owned), ..Self::default() }
    }

    /// The answer. If the model did not call the tool, the answer is its text.
    pub(super) fn answer(mut self, on_delta: &mut OnDelta<'_>) -> ChatAnswer {
        let (mut reasoning, mut calls, mut pieces, mut said) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        for (_, mut block) in std::mem::take(&mut self.blocks) {
            let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            match text("type").as_str() {
                "text" => {
                    let begin = said.len();
                    said.push_str(&text("text"));
                    match pieces.last_mut() {
                        _ if self.form.is_some() || said.len() == begin => {}
                        Some(Piece::Text(range)) => range.end = said.len(),
                        _ => pieces.push(Piece::Text(begin..said.len())),
                    }
                }
                "tool_use" if self.form.as_deref() == Some(text("name").as_str()) => {}
                "tool_use" => {
                    let (id, name) = (text("id"), text("name"));
                    let arguments = block.remove("input").map(arguments).unwrap_or_default();
                    pieces.push(Piece::Call(calls.len()));
                    calls.push(ToolCall { id, name, arguments });
                }
                "thinking" | "redacted_thinking" => {
                    pieces.push(Piece::Thought(reasoning.len()));
                    reasoning.push(block);
                }
                _ => {}
            }
        }
        if self.form.is_some() && self.text.is_empty() && !said.is_empty() {
            on_delta(&said);
            self.text = said;
        }
        let tool_calls = complete(calls);
        let silent = if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        // The call of the tool is the answer itself, so no result is expected.
        let finish = self.stop_reason().map(finish).filter(|finish| *finish != Finish::ToolCalls).unwrap_or(silent);
        let usage = serde_json::from_value(self.usage.into()).ok().and_then(WireUsage::told);
        ChatAnswer { text: self.text, reasoning, tool_calls, pieces, usage, finish }
    }

    fn add(&mut self, event: Event, on_delta: &mut OnDelta<'_>) -> ControlFlow<()> {
        match event {
            Event::MessageStart { mut message } | Event::Message(mut message) => {
                let content = message.remove("content");
                self.note_usage(message.remove("usage"));
                self.message.extend(message);
                let blocks = content.as_ref().and_then(Value::as_array).into_iter().flatten();
                for (index, block) in (0..).zip(blocks.filter_map(Value::as_object)) {
                    self.begin(Some(index), block.clone(), on_delta);
                }
            }
            Event::ContentBlockStart { index, content_block } => self.begin(index, content_block, on_delta),
            Event::ContentBlockDelta { index, delta } => self.go_on(index, &delta, on_delta),
            Event::MessageDelta(mut event) => {
                self.note_usage(event.remove("usage"));
                if let Some(Value::Object(delta)) = event.remove("delta") {
                    self.message.extend(delta.into_iter().filter(|(_, value)| !value.is_null()));
                }
                let managed = event.remove_entry("context_management").filter(|(_, managed)| !managed.is_null());
                self.message.extend(managed);
            }
            Event::MessageStop => {
                self.has_ended = true;
                return ControlFlow::Break(());
            }
            Event::Error { .. } | Event::Other => {}
        }
        ControlFlow::Continue(())
    }

    fn begin(&mut self, index: Option<u64>, block: Map<String, Value>, on_delta: &mut OnDelta<'_>) {
        let text = |name: &str| block.get(name).and_then(Value::as_str);
        match text("type") {
            Some("text") => self.say(text("text").unwrap_or_default(), on_delta),
            Some("tool_use") if self.given.is_none() && self.form.is_some() && self.form.as_deref() == text("name") => {
                self.given = Some(self.blocks.len());
                let input = block.get("input").cloned().map(arguments);
                self.give(&input.unwrap_or_default(), on_delta);
            }
            _ => {}
        }
        self.blocks.push((index, block));
    }

    /// Adds a piece to the block with this index; without one, to the last. Some servers begin no block of text.
    fn go_on(&mut self, index: Option<u64>, delta: &Map<String, Value>, on_delta: &mut OnDelta<'_>) {
        let is_text = delta.get("type").is_some_and(|kind| *kind == "text_delta");
        let is_its = |(at, block): &(Option<u64>, Map<String, Value>)| {
            (index.is_none() || *at == index) && (!is_text || block.get("type").is_some_and(|kind| *kind == "text"))
        };
        let at = match self.blocks.iter().rposition(is_its) {
            Some(at) => at,
            None if is_text => {
                let text = [("type", json!("text")), ("text", json!(""))];
                self.blocks.push((index, text.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()));
                self.blocks.len() - 1
            }
            None => return,
        };
        let Some((_, block)) = self.blocks.get_mut(at) else { return };
        // An empty piece takes nothing away from a call that began with its input.
        let piece = |name: &str| delta.get(name).and_then(Value::as_str).filter(|piece| !piece.is_empty());
        for (name, field) in PIECES {
            match (block.get_mut(field), piece(name)) {
                (Some(Value::String(so_far)), Some(piece)) => so_far.push_str(piece),
                (_, Some(piece)) => drop(block.insert(field.to_owned(), piece.into())),
                (_, None) => {}
            }
        }
        if let Some(citation) = delta.get("citation") {
            match block.get_mut("citations").and_then(Value::as_array_mut) {
                Some(citations) => citations.push(citation.clone()),
                None => drop(block.insert("citations".to_owned(), json!([citation]))),
            }
        }
        self.say(piece("text").unwrap_or_default(), on_delta);
        if self.given == Some(at) {
            self.give(piece("partial_json").unwrap_or_default(), on_delta);
        }
    }

    /// Hands out a text, unless the answer is what a tool is called with.
    fn say(&mut self, text: &str, on_delta: &mut OnDelta<'_>) {
        if self.form.is_none() {
            self.give(text, on_delta);
        }
    }

    fn give(&mut self, text: &str, on_delta: &mut OnDelta<'_>) {
        if !text.is_empty() {
            on_delta(text);
            self.text.push_str(text);
        }
    }

    /// Fields that a later event leaves out keep their values.
    fn note_usage(&mut self, usage: Option<Value>) {
        if let Some(Value::Object(usage)) = usage {
            self.usage.extend(usage.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }

    fn stop_reason(&self) -> Option<&str> {
        self.message.get("stop_reason")?.as_str()
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
        self.has_ended || self.stop_reason().is_some()
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && !self.is_finished()
    }

    fn received_chars(&self) -> usize {
        self.text.chars().count()
    }
}

/// The arguments of a call as a text. Where they come in pieces, the call begins without any.
fn arguments(input: Value) -> String {
    match input {
        Value::String(text) => text,
        Value::Null => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        input => input.to_string(),
    }
}

impl WireUsage {
    /// What it says, if it says anything. Tokens that were read from a cache or written to one count as read.
    fn told(self) -> Option<Usage> {
        let read = [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let told = read.iter().chain([&self.output_tokens]).any(Option::is_some);
        told.then(|| Usage {
            prompt_tokens: read.into_iter().flatten().fold(0, u64::saturating_add),
            completion_tokens: self.output_tokens.unwrap_or_default(),
        })
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
