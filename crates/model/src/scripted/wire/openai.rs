//! Chat completions.

use serde_json::{Value, json};

use super::{Said, Wire, halves};
use crate::{ToolCall, Usage};

/// The API of OpenAI.
pub(in super::super) struct OpenAi;

impl Wire for OpenAi {
    fn pieces(&self, said: &Said<'_>) -> Vec<String> {
        let role = delta(&json!({"role": "assistant", "content": ""}), None);
        let words = said.text.split_inclusive(' ').map(|word| delta(&json!({"content": word}), None));
        let thought = thought(said).unwrap_or_default().split_inclusive(' ');
        let thought = thought.map(|word| delta(&json!({"reasoning_content": word}), None));
        let call = |(index, call): (usize, &ToolCall)| {
            let (begin, rest) = halves(call);
            let function = json!({"name": call.name, "arguments": begin});
            let first = json!({"index": index, "id": call.id, "type": "function", "function": function});
            let second = json!({"index": index, "function": {"arguments": rest}});
            [first, second].map(|call| delta(&json!({"tool_calls": [call]}), None))
        };
        std::iter::once(role).chain(thought).chain(words).chain(said.calls.iter().enumerate().flat_map(call)).collect()
    }

    fn end(&self, said: &Said<'_>) -> Vec<String> {
        let mut events = vec![delta(&json!({}), Some(&reason(said)))];
        let wants_usage = said.request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        if let Some(used) = said.usage.filter(|_| wants_usage) {
            events.push(event(&json!({"id": "scripted", "choices": [], "usage": usage(used)})));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn whole(&self, said: &Said<'_>) -> Value {
        let mut message = json!({"role": "assistant", "content": said.text});
        if !said.calls.is_empty() {
            let call = |call: &ToolCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}});
            let calls: Vec<_> = said.calls.iter().map(call).collect();
            message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        }
        if let (Some(thought), Some(fields)) = (thought(said), message.as_object_mut()) {
            fields.insert("reasoning_content".to_owned(), thought.into());
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": reason(said)});
        let usage = said.usage.map(usage);
        json!({"id": "scripted", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": usage})
    }

    fn error(&self, message: &str) -> Value {
        json!({"error": {"message": message, "type": "scripted", "code": null}})
    }
}

/// What the model thinks before, as a text.
fn thought<'a>(said: &Said<'a>) -> Option<&'a str> {
    said.reasoning.iter().find_map(|block| block.get("thinking")?.as_str())
}

fn event(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &Value, finish_reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    event(&json!({"id": "scripted", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}))
}

fn reason(said: &Said<'_>) -> String {
    let usual = if said.calls.is_empty() { "stop" } else { "tool_calls" };
    said.finish.unwrap_or(usual).to_owned()
}

fn usage(Usage { prompt_tokens, completion_tokens }: Usage) -> Value {
    let total_tokens = prompt_tokens.saturating_add(completion_tokens);
    json!({"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total_tokens})
}
