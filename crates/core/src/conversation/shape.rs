//! Messages as the message objects of OpenAI's chat completions or Anthropic's Messages API. What came in such an object is
//! given back as it came; what came otherwise is put into the shape as well as that has a place for it.

use serde_json::{Map, Value, json};

use super::{
    MessageShape, MessageView, REFUSAL, Role, ToolCall,
    given::{ANSWER, CUSTOM_INPUT},
    pdf::Pdf,
    reasoning,
};

/// Messages in a shape, in their order. Those that came in one object of Anthropic are one object again.
pub fn in_shape(shape: MessageShape, messages: &[MessageView]) -> Vec<Value> {
    match shape {
        MessageShape::OpenAi => messages.iter().map(openai).collect(),
        MessageShape::Anthropic => {
            let mut objects: Vec<Value> = Vec::new();
            for (at, message) in messages.iter().enumerate() {
                let goes_on = messages.get(at + 1).is_some_and(|next| next.is_joined(shape));
                let object = anthropic(message, goes_on);
                let last = objects.last_mut().filter(|_| message.is_joined(shape));
                match last.and_then(|last| last.get_mut("content")?.as_array_mut()) {
                    Some(blocks) => {
                        blocks.extend(object.get("content").and_then(Value::as_array).cloned().into_iter().flatten())
                    }
                    None => objects.push(object),
                }
            }
            objects
        }
    }
}

impl MessageView {
    /// Whether it was in one object with the message before it.
    fn is_joined(&self, shape: MessageShape) -> bool {
        self.as_given.as_ref().is_some_and(|given| given.joined && given.shape == shape)
    }

    /// What only the whole answer of its provider had, such as its id and why it ended; none where it came in no such answer.
    pub fn answer(&self) -> Option<&Map<String, Value>> {
        self.as_given.as_ref()?.fields.get(ANSWER)?.as_object()
    }

    /// What else was in its object.
    fn given(&self, shape: MessageShape) -> Map<String, Value> {
        let given = self.as_given.as_ref().filter(|given| given.shape == shape);
        let mut fields = given.map(|given| given.fields.clone()).unwrap_or_default();
        fields.remove(ANSWER);
        fields
    }
}

fn openai(message: &MessageView) -> Value {
    let mut fields = message.given(MessageShape::OpenAi);
    fields.entry("role").or_insert_with(|| message.role.as_str().into());
    if fields.get(REFUSAL) == Some(&Value::Bool(true)) {
        fields.extend([("content".to_owned(), Value::Null), (REFUSAL.to_owned(), message.content.clone())]);
    }
    let is_empty = message.content.as_str().is_some_and(str::is_empty);
    fields.entry("content").or_insert_with(|| match &message.content {
        Value::Array(parts) => parts.iter().map(openai_part).collect(),
        Value::String(_) if is_empty && !message.tool_calls.is_empty() => Value::Null,
        content => content.clone(),
    });
    let more = fields.remove("tool_calls");
    if !message.tool_calls.is_empty() {
        let call = |(at, call): (usize, &ToolCall)| {
            let more = more.as_ref().and_then(|more| more.get(at));
            openai_call(call, more, reasoning::beside_call(&message.reasoning, at))
        };
        fields.insert("tool_calls".to_owned(), message.tool_calls.iter().enumerate().map(call).collect());
    }
    let thoughts: Vec<_> = reasoning::for_anthropic(&message.reasoning).collect();
    if !thoughts.is_empty() && message.as_given.as_ref().is_some_and(|given| given.shape == MessageShape::OpenAi) {
        fields.insert("thinking_blocks".to_owned(), thoughts.into());
    }
    if let Some(id) = &message.tool_call_id {
        fields.insert("tool_call_id".to_owned(), id.as_str().into());
    }
    for (name, value) in reasoning::for_openai(&message.reasoning) {
        fields.insert(name.to_owned(), value.clone());
    }
    Value::Object(fields)
}

/// A call in OpenAI's shape, with what else it came with.
fn openai_call(call: &ToolCall, more: Option<&Value>, extra_content: Option<&Value>) -> Value {
    let mut fields = more.and_then(Value::as_object).cloned().unwrap_or_default();
    fields.insert("id".to_owned(), call.id.as_str().into());
    if fields.get("type").and_then(Value::as_str) == Some("custom") {
        let input = call.arguments.get(CUSTOM_INPUT).cloned().unwrap_or_default();
        fields.insert("custom".to_owned(), json!({"name": call.name, "input": input}));
    } else {
        fields.insert("type".to_owned(), "function".into());
        fields.insert("function".to_owned(), json!({"name": call.name, "arguments": call.arguments_text()}));
    }
    fields.extend(extra_content.map(|content| (reasoning::EXTRA_CONTENT.to_owned(), content.clone())));
    Value::Object(fields)
}

fn anthropic(message: &MessageView, goes_on: bool) -> Value {
    let shape = MessageShape::Anthropic;
    let mut more = message.given(shape);
    let is_bare =
        !goes_on && !message.is_joined(shape) && message.reasoning.is_empty() && message.tool_calls.is_empty();
    let role = if message.role == Role::Ai { "assistant" } else { "user" };
    if let (Value::String(text), true) = (&message.content, is_bare && message.tool_call_id.is_none()) {
        let text = if message.role == Role::System { format!("[from system] {text}") } else { text.clone() };
        return json!({"role": role, "content": text});
    }
    let parts = match &message.content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.iter().map(anthropic_part).collect(),
        _ => Vec::new(),
    };
    let blocks: Vec<Value> = match &message.tool_call_id {
        Some(id) => {
            let content = match &message.content {
                Value::Array(_) => Some(parts.into()),
                Value::String(text) if text.is_empty() => None,
                content => Some(content.clone()),
            };
            more.insert("type".to_owned(), "tool_result".into());
            more.insert("tool_use_id".to_owned(), id.as_str().into());
            if let Some(content) = content {
                more.insert("content".to_owned(), content);
            }
            vec![Value::Object(more)]
        }
        None => {
            let extras = more.get("tool_use").and_then(Value::as_array).cloned().unwrap_or_default();
            let call = |(at, call): (usize, &ToolCall)| {
                let mut block = extras.get(at).and_then(Value::as_object).cloned().unwrap_or_default();
                let input = match call.arguments_json() {
                    Value::Object(input) => input.into(),
                    Value::Null => json!({}),
                    other => json!({"arguments": other}),
                };
                for (name, value) in
                    [("type", "tool_use".into()), ("id", json!(call.id)), ("name", json!(call.name)), ("input", input)]
                {
                    block.insert(name.to_owned(), value);
                }
                Value::Object(block)
            };
            let thought = reasoning::for_anthropic(&message.reasoning);
            thought.chain(parts).chain(message.tool_calls.iter().enumerate().map(call)).collect()
        }
    };
    json!({"role": role, "content": blocks})
}

/// A part in OpenAI's shape.
fn openai_part(part: &Value) -> Value {
    let text = |path: &str| part.pointer(path).and_then(Value::as_str);
    match (text("/type"), text("/source/type")) {
        (Some("image"), Some("base64")) => {
            let (kind, data) =
                (text("/source/media_type").unwrap_or_default(), text("/source/data").unwrap_or_default());
            json!({"type": "image_url", "image_url": {"url": format!("data:{kind};base64,{data}")}})
        }
        (Some("image"), Some("url")) => json!({"type": "image_url", "image_url": {"url": text("/source/url")}}),
        (Some("document"), _) => pdf(part).and_then(|pdf| pdf.openai()).unwrap_or_else(|| part.clone()),
        _ => part.clone(),
    }
}

/// The PDF that a part is.
fn pdf(part: &Value) -> Option<Pdf<'_>> {
    part.as_object().and_then(Pdf::of)
}

/// A part in Anthropic's shape.
fn anthropic_part(part: &Value) -> Value {
    let text = |path: &str| part.pointer(path).and_then(Value::as_str);
    match (text("/type"), text("/image_url/url")) {
        (Some("image_url"), Some(url)) => {
            let inline = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
            let source = match inline {
                Some((kind, data)) => json!({"type": "base64", "media_type": kind, "data": data}),
                None => json!({"type": "url", "url": url}),
            };
            json!({"type": "image", "source": source})
        }
        (Some("refusal"), _) => json!({"type": "text", "text": text("/refusal")}),
        (Some("file" | "input_file"), _) => pdf(part).and_then(|pdf| pdf.anthropic()).unwrap_or_else(|| part.clone()),
        _ => part.clone(),
    }
}
