//! An answer that is given again: it is made from the messages that it became, in the form of the API.

use callboard_core::{
    conversation::{MessageShape, MessageView, reasoning, shape::in_shape},
    count::Usage,
    id::Seq,
};
use serde_json::{Map, Value, json};

use super::{
    declared::as_declared,
    dialect::{Dialect, texts},
};

/// An answer, as it is known now.
pub(super) struct Again {
    pub(super) turn: Seq,
    pub(super) model: String,
    /// The tools that the client offers.
    pub(super) offered: Vec<Value>,
    /// When it was given, in seconds since 1970.
    pub(super) created: i64,
    pub(super) messages: Vec<MessageView>,
    pub(super) usage: Option<Usage>,
    /// Whether it ends at the length that it may have.
    pub(super) cut_off: bool,
}

impl Again {
    /// As the one object that the API answers with.
    pub(super) fn whole(&self, dialect: Dialect) -> Value {
        match dialect {
            Dialect::OpenAi => {
                let reason = self.finish_reason();
                let choices = json!([{"index": 0, "message": self.message(), "finish_reason": reason}]);
                self.completion("chat.completion", choices, self.usage(dialect))
            }
            Dialect::Responses => self.response(self.status(), self.items()),
            Dialect::Anthropic => self.anthropic(self.blocks()).into(),
        }
    }

    /// As the stream of events that the API answers with.
    pub(super) fn stream(&self, dialect: Dialect, wants_usage: bool) -> String {
        let named = |event: &Value| {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            format!("event: {kind}\ndata: {event}\n\n")
        };
        match dialect {
            Dialect::OpenAi => {
                let chunks: String =
                    self.chunks(wants_usage).iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
                chunks + "data: [DONE]\n\n"
            }
            Dialect::Responses => self.response_events().iter().map(named).collect(),
            Dialect::Anthropic => self.anthropic_events().iter().map(named).collect(),
        }
    }

    fn calls_tools(&self) -> bool {
        self.messages.iter().any(|message| !message.tool_calls.is_empty())
    }

    /// What was used, in the fields of the API.
    fn usage(&self, dialect: Dialect) -> Value {
        let Some(Usage { prompt_tokens, completion_tokens }) = self.usage else { return Value::Null };
        let total_tokens = prompt_tokens.saturating_add(completion_tokens);
        match dialect {
            Dialect::OpenAi => json!({
                "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total_tokens,
            }),
            Dialect::Responses => json!({
                "input_tokens": prompt_tokens, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": completion_tokens, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": total_tokens,
            }),
            Dialect::Anthropic => json!({"input_tokens": prompt_tokens, "output_tokens": completion_tokens}),
        }
    }
}

/// Chat completions.
impl Again {
    fn completion(&self, object: &str, choices: Value, usage: Value) -> Value {
        let id = format!("chatcmpl-{}", self.turn);
        json!({
            "id": id, "object": object, "created": self.created, "model": self.model, "choices": choices,
            "usage": usage,
        })
    }

    fn finish_reason(&self) -> &'static str {
        match (self.cut_off, self.calls_tools()) {
            (true, _) => "length",
            (false, true) => "tool_calls",
            (false, false) => "stop",
        }
    }

    /// The one message that an answer has in this API.
    fn message(&self) -> Map<String, Value> {
        let objects = in_shape(MessageShape::OpenAi, &self.messages);
        let mut message = objects.first().and_then(Value::as_object).cloned().unwrap_or_default();
        if objects.len() > 1 {
            let text: String = objects.iter().map(|object| texts(object.get("content"))).collect();
            let calls = objects.iter().filter_map(|object| object.get("tool_calls")?.as_array()).flatten();
            let calls: Vec<Value> = calls.cloned().collect();
            message.insert("content".to_owned(), text.into());
            if !calls.is_empty() {
                message.insert("tool_calls".to_owned(), calls.into());
            }
        }
        message
    }

    fn chunks(&self, wants_usage: bool) -> Vec<Value> {
        let mut delta = self.message();
        let calls = delta.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
        for (index, call) in calls.enumerate() {
            set(call, [("index", index.into())]);
        }
        let chunk = |choices: Value, usage: Value| self.completion("chat.completion.chunk", choices, usage);
        let end = json!([{"index": 0, "delta": {}, "finish_reason": self.finish_reason()}]);
        let mut chunks = vec![
            chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null),
            chunk(end, Value::Null),
        ];
        if wants_usage && self.usage.is_some() {
            chunks.push(chunk(json!([]), self.usage(Dialect::OpenAi)));
        }
        chunks
    }
}

/// Anthropic's messages.
impl Again {
    fn blocks(&self) -> Vec<Value> {
        let mut blocks = Vec::new();
        for mut object in in_shape(MessageShape::Anthropic, &self.messages) {
            match object.get_mut("content").map(Value::take) {
                Some(Value::Array(content)) => blocks.extend(content),
                Some(Value::String(text)) if !text.is_empty() => blocks.push(json!({"type": "text", "text": text})),
                _ => {}
            }
        }
        blocks
    }

    fn anthropic(&self, content: Vec<Value>) -> Map<String, Value> {
        let mut fields = self.messages.first().and_then(MessageView::answer).cloned().unwrap_or_default();
        let stop_reason = match (self.cut_off, self.calls_tools()) {
            (true, _) => "max_tokens",
            (false, true) => "tool_use",
            (false, false) => "end_turn",
        };
        let others: [(&str, Value); 6] = [
            ("id", format!("msg_{}", self.turn).into()),
            ("type", "message".into()),
            ("model", self.model.as_str().into()),
            ("stop_reason", stop_reason.into()),
            ("stop_sequence", Value::Null),
            ("usage", self.usage(Dialect::Anthropic)),
        ];
        for (name, value) in others {
            fields.entry(name).or_insert(value);
        }
        fields.insert("role".to_owned(), "assistant".into());
        fields.insert("content".to_owned(), content.into());
        fields
    }

    fn anthropic_events(&self) -> Vec<Value> {
        let mut message = self.anthropic(Vec::new());
        let usage = message.get("usage").cloned().unwrap_or_default();
        let mut end = Map::new();
        for name in ["stop_reason", "stop_sequence"] {
            end.extend(message.insert(name.to_owned(), Value::Null).map(|value| (name.to_owned(), value)));
        }
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (index, block) in self.blocks().iter().enumerate() {
            let (begun, deltas) = in_pieces(block);
            events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
            let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.extend(deltas.into_iter().map(delta));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({"type": "message_delta", "delta": end, "usage": usage}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

/// A block of Anthropic as it begins, and what comes to it then.
fn in_pieces(block: &Value) -> (Map<String, Value>, Vec<Value>) {
    let mut begun = block.as_object().cloned().unwrap_or_default();
    let mut deltas = Vec::new();
    let mut take = |name: &str, empty: Value| match begun.get_mut(name) {
        Some(value) => std::mem::replace(value, empty),
        None => Value::Null,
    };
    match block.get("type").and_then(Value::as_str) {
        Some("text") => {
            let (text, citations) = (take("text", json!("")), take("citations", Value::Null));
            deltas.push(json!({"type": "text_delta", "text": text}));
            let citations = citations.as_array().into_iter().flatten();
            deltas.extend(citations.map(|citation| json!({"type": "citations_delta", "citation": citation})));
        }
        Some("thinking") => {
            let (thinking, signature) = (take("thinking", json!("")), take("signature", json!("")));
            deltas.push(json!({"type": "thinking_delta", "thinking": thinking}));
            let signature = Some(signature).filter(Value::is_string);
            deltas.extend(signature.map(|signature| json!({"type": "signature_delta", "signature": signature})));
        }
        Some("tool_use" | "server_tool_use") => {
            let input = take("input", json!({}));
            deltas.push(json!({"type": "input_json_delta", "partial_json": input.to_string()}));
        }
        _ => {}
    }
    (begun, deltas)
}

/// OpenAI's Responses API.
impl Again {
    fn status(&self) -> &'static str {
        if self.cut_off { "incomplete" } else { "completed" }
    }

    fn response(&self, status: &str, output: Vec<Value>) -> Value {
        let is_cut_off = status == "incomplete";
        let usage = if status == "in_progress" { Value::Null } else { self.usage(Dialect::Responses) };
        json!({
            "id": format!("resp_{}", self.turn), "object": "response", "created_at": self.created, "status": status,
            "error": null, "incomplete_details": is_cut_off.then(|| json!({"reason": "max_output_tokens"})),
            "model": self.model, "output": output, "usage": usage,
        })
    }

    /// What was thought, said and called, each an item.
    fn items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        for message in &self.messages {
            let content: Vec<Value> = match &message.content {
                Value::String(text) if !text.is_empty() => {
                    vec![json!({"type": "output_text", "text": text, "annotations": []})]
                }
                Value::Array(parts) => parts.clone(),
                _ => Vec::new(),
            };
            items.extend(reasoning::for_responses(&message.reasoning));
            if !content.is_empty() {
                let mut item = message.answer().cloned().unwrap_or_default();
                let others: [(&str, Value); 3] = [
                    ("type", "message".into()),
                    ("id", format!("msg_{}", message.seq).into()),
                    ("status", "completed".into()),
                ];
                for (name, value) in others {
                    item.entry(name).or_insert(value);
                }
                item.insert("role".to_owned(), "assistant".into());
                item.insert("content".to_owned(), content.into());
                items.push(item.into());
            }
            for (at, call) in message.tool_calls.iter().enumerate() {
                items.push(json!({
                    "type": "function_call", "id": format!("fc_{}_{at}", message.seq), "call_id": call.id,
                    "name": call.name, "arguments": call.arguments_text(), "status": "completed",
                }));
            }
        }
        let mut items = as_declared(self.offered.iter(), items);
        for item in items.iter_mut().filter(|item| item.get("type") == Some(&json!("custom_tool_call"))) {
            let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
            let id = id.replacen("fc_", "ctc_", 1);
            set(item, [("id", id.into())]);
        }
        items
    }

    fn response_events(&self) -> Vec<Value> {
        let (status, items) = (self.status(), self.items());
        let begun = self.response("in_progress", Vec::new());
        let mut events = vec![json!({"type": "response.created", "response": begun})];
        events.extend(items.iter().enumerate().flat_map(|(at, item)| item_events(at, item)));
        events.push(json!({"type": format!("response.{status}"), "response": self.response(status, items)}));
        for (number, event) in events.iter_mut().enumerate() {
            set(event, [("sequence_number", number.into())]);
        }
        events
    }
}

/// The events of the item at this place of a response.
fn item_events(at: usize, item: &Value) -> Vec<Value> {
    let id = item.get("id");
    let mut begun = item.clone();
    let mut pieces = Vec::new();
    match item.get("type").and_then(Value::as_str) {
        Some("message") => {
            let parts = begun.get_mut("content").map(Value::take).unwrap_or_default();
            set(&mut begun, [("content", json!([])), ("status", json!("in_progress"))]);
            for (part_at, part) in parts.as_array().into_iter().flatten().enumerate() {
                let event = |kind: &str, name: &str, value: &Value| {
                    json!({
                        "type": format!("response.{kind}"), "item_id": id, "output_index": at,
                        "content_index": part_at, name: value,
                    })
                };
                let text = part.get("text").filter(|_| part.get("type") == Some(&json!("output_text")));
                let mut empty = part.clone();
                if text.is_some() {
                    set(&mut empty, [("text", json!(""))]);
                }
                pieces.push(event("content_part.added", "part", &empty));
                if let Some(text) = text {
                    pieces.push(event("output_text.delta", "delta", text));
                    pieces.push(event("output_text.done", "text", text));
                }
                pieces.push(event("content_part.done", "part", part));
            }
        }
        Some(kind @ ("function_call" | "custom_tool_call")) => {
            let (events, field) = match kind {
                "function_call" => ("function_call_arguments", "arguments"),
                _ => ("custom_tool_call_input", "input"),
            };
            let event = |end: &str, name: &str| {
                json!({
                    "type": format!("response.{events}.{end}"), "item_id": id, "output_index": at,
                    name: item.get(field),
                })
            };
            pieces.extend([event("delta", "delta"), event("done", field)]);
            set(&mut begun, [(field, json!("")), ("status", json!("in_progress"))]);
        }
        _ => {}
    }
    let event = |kind: &str, item: &Value| {
        let kind = format!("response.output_item.{kind}");
        json!({"type": kind, "output_index": at, "item": item})
    };
    let mut events = vec![event("added", &begun)];
    events.extend(pieces);
    events.push(event("done", item));
    events
}

fn set<const N: usize>(object: &mut Value, fields: [(&str, Value); N]) {
    if let Some(object) = object.as_object_mut() {
        object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    }
}
