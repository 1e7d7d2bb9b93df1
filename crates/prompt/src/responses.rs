//! The format `responses`: the instructions and the items of OpenAI's Responses API. They are written as the messages of chat
//! completions are, and counted as those.

use serde_json::{Map, Value, json};

use callboard_core::agent::Tool;

use crate::{
    Body,
    media::DETAIL,
    openai::{self, THOUGHT_ITEMS},
    placed::Joined,
};

/// A tool as the Responses API takes it. Its schema is not held to the strict form, which few schemas have.
pub(super) fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description,
        "parameters": openai::parameters(tool), "strict": false,
    })
}

/// What the model gets, and in which item the text of each message stands.
pub(super) fn body(instructions: String, messages: Vec<Value>) -> (Body, Joined) {
    let (mut input, mut joined) = (Vec::new(), Joined::default());
    for message in messages {
        let thoughts = message.get(THOUGHT_ITEMS).and_then(Value::as_array).cloned().unwrap_or_default();
        input.extend(thoughts);
        joined.places.push((input.len(), 0));
        let content: Option<Value> = message.get("content").map(|content| match content {
            Value::Array(parts) => parts.iter().map(part).collect(),
            text => text.clone(),
        });
        if let Some(id) = message.get("tool_call_id") {
            input.push(json!({"type": "function_call_output", "call_id": id, "output": content}));
            continue;
        }
        if let Some(content) = content.filter(|content| !content.is_null()) {
            input.push(json!({"role": message.get("role"), "content": content}));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        input.extend(calls.map(|call| {
            let function = |field: &str| call.get("function").and_then(|function| function.get(field)).cloned();
            json!({
                "type": "function_call", "call_id": call.get("id"),
                "name": function("name"), "arguments": function("arguments"),
            })
        }));
    }
    (Body::Responses { instructions, input }, joined)
}

/// A part of what the user says or of a result, as the Responses API takes it.
fn part(part: &Value) -> Value {
    let image = |field: &str| part.get("image_url").and_then(|image| image.get(field));
    match (image("url"), image("file_id"), part.get("file").and_then(Value::as_object)) {
        (Some(url), _, _) => json!({"type": "input_image", "image_url": url, "detail": DETAIL}),
        (None, Some(id), _) => json!({"type": "input_image", "file_id": id, "detail": DETAIL}),
        (None, None, Some(file)) => {
            let kind = [("type".to_owned(), "input_file".into())];
            kind.into_iter().chain(file.clone()).collect::<Map<_, _>>().into()
        }
        (None, None, None) => json!({"type": "input_text", "text": part.get("text")}),
    }
}
