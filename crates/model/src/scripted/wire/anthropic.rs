//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Said, Wire, halves};
use crate::ToolCall;

/// The API of Anthropic. If the request demands a call of a tool, a text that is a JSON object is sent as its arguments.
pub(in super::super) struct Anthropic;

impl Wire for Anthropic {
    fn pieces(&self, said: &Said<'_>) -> Vec<String> {
        let mut message = json!({"id": "scripted", "type": "message", "role": "assistant", "model": "scripted",
            "content": [], "stop_reason": null});
        if let (Some(usage), Some(fields)) = (said.usage, message.as_object_mut()) {
            let usage = json!({"input_tokens": usage.prompt_tokens, "output_tokens": 1});
            fields.insert("usage".to_owned(), usage);
        }
        let mut events =
            vec![event(&json!({"type": "message_start", "message": message})), event(&json!({"type": "ping"}))];
        let (text, calls) = in_form(said);
        let mut block = |index: usize, begin: Value, deltas: Vec<Value>| {
            events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": begin})));
            let delta = |delta| event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.extend(deltas.into_iter().map(delta));
            events.push(event(&json!({"type": "content_block_stop", "index": index})));
        };
        for (index, thought) in said.reasoning.iter().enumerate() {
            let field = |name: &str| thought.get(name).and_then(Value::as_str);
            let Some(text) = field("thinking") else {
                block(index, thought.clone(), Vec::new());
                continue;
            };
            let pieces = text.split_inclusive(' ').map(|word| json!({"type": "thinking_delta", "thinking": word}));
            let signature =
                field("signature").map(|signature| json!({"type": "signature_delta", "signature": signature}));
            let begun = json!({"type": "thinking", "thinking": "", "signature": ""});
            block(index, begun, pieces.chain(signature).collect());
        }
        let first = said.reasoning.len();
        if !text.is_empty() {
            let words = text.split_inclusive(' ').map(|word| json!({"type": "text_delta", "text": word}));
            block(first, json!({"type": "text", "text": ""}), words.collect());
        }
        for (index, call) in (first + usize::from(!text.is_empty())..).zip(&calls) {
            let (begin, rest) = halves(call);
            let piece = |piece: &str| json!({"type": "input_json_delta", "partial_json": piece});
            let begun = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
            block(index, begun, vec![piece(begin), piece(rest)]);
        }
        events
    }

    fn end(&self, said: &Said<'_>) -> Vec<String> {
        let mut end = json!({"type": "message_delta", "delta": {"stop_reason": reason(said)}});
        if let (Some(usage), Some(fields)) = (said.usage, end.as_object_mut()) {
            fields.insert("usage".to_owned(), json!({"output_tokens": usage.completion_tokens}));
        }
        vec![event(&end), event(&json!({"type": "message_stop"}))]
    }

    fn whole(&self, said: &Said<'_>) -> Value {
        let (text, calls) = in_form(said);
        let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
        let call = |call: &ToolCall| {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        };
        let content: Vec<_> = said.reasoning.iter().cloned().chain(text).chain(calls.iter().map(call)).collect();
        let usage = said
            .usage
            .map(|usage| json!({"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}));
        json!({"id": "scripted", "type": "message", "role": "assistant", "model": "scripted", "content": content,
            "stop_reason": reason(said), "usage": usage})
    }

    fn error(&self, message: &str) -> Value {
        json!({"type": "error", "error": {"type": "scripted", "message": message}})
    }
}

fn event(event: &Value) -> String {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}

/// The message as a call of the tool that the request demands.
fn in_form<'a>(said: &Said<'a>) -> (&'a str, Vec<ToolCall>) {
    let chosen = said.request.pointer("/tool_choice/name").and_then(Value::as_str);
    let is_object = serde_json::from_str::<Value>(said.text).is_ok_and(|text| text.is_object());
    match chosen.filter(|_| is_object) {
        Some(name) => {
            let call = ToolCall { id: "call_1".to_owned(), name: name.to_owned(), arguments: said.text.to_owned() };
            ("", vec![call])
        }
        None => (said.text, said.calls.to_vec()),
    }
}

/// Scripts give finish reasons as in chat completions.
fn reason(said: &Said<'_>) -> String {
    let usual = if in_form(said).1.is_empty() { "end_turn" } else { "tool_use" };
    let reason = match said.finish {
        None => usual,
        Some("stop") => "end_turn",
        Some("length") => "max_tokens",
        Some("tool_calls") => "tool_use",
        Some("content_filter") => "refusal",
        Some(other) => other,
    };
    reason.to_owned()
}
