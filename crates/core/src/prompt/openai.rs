//! The format `openai`: the messages of a chat completion, counted as OpenAI documents it.
//!
//! Source of the allowances: OpenAI Cookbook, "How to count tokens with tiktoken", `num_tokens_from_messages`: three
//! tokens a message besides its role and its content, and three for the start of the answer. A role is one token.

use serde_json::{Value, json};

use super::{
    speaker::{NO_RESULT, Speaker, loose_result, words},
    utterance::Utterance,
};
use crate::{
    agent::{Agent, Tool},
    conversation::{ToolCall, reasoning},
    count::{TokenCounter, Tokens},
};

/// What a message costs besides its content.
const MESSAGE: Tokens = Tokens(4);

/// What the start of the answer costs.
pub(super) const ANSWER: Tokens = Tokens(3);

/// What a call of a tool costs besides its texts, at the most.
const CALL: Tokens = Tokens(12);

/// What a tool costs besides its texts, at the most.
const TOOL: Tokens = Tokens(16);

/// A message in a given role.
pub(super) fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// What a message costs.
pub(super) fn tokens(message: &Value, count: &dyn TokenCounter) -> Tokens {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map_or(Tokens(0), |text| count.count(text));
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let of_calls = calls.map(|call| {
        let function = |field| text(call.get("function").and_then(|function| function.get(field)));
        CALL + text(call.get("id")) + function("name") + function("arguments")
    });
    let thoughts = reasoning::OPENAI.iter().filter_map(|name| message.get(*name)).map(|thought| match thought {
        Value::String(text) => count.count(text),
        other => count.count(&other.to_string()),
    });
    MESSAGE + thoughts.sum() + text(message.get("content")) + text(message.get("tool_call_id")) + of_calls.sum()
}

/// What tools cost.
pub(super) fn tools(tools: &[Tool], count: &dyn TokenCounter) -> Tokens {
    let tool = |tool: &Tool| {
        let parameters = Value::Object(tool.parameters.clone()).to_string();
        TOOL + count.count(&tool.name) + count.count(&tool.description) + count.count(&parameters)
    };
    tools.iter().map(tool).sum()
}

/// A tool as chat completions take it.
pub(super) fn tool(tool: &Tool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }})
}

/// Writes things that were said together: a call with its results, or one thing alone.
pub(super) fn messages(group: &[Utterance], reader: &Agent) -> Vec<Value> {
    let mut messages: Vec<_> = group.iter().map(|utterance| one(utterance, reader)).collect();
    let own = group.first().filter(|utterance| utterance.mine);
    let missing = own.map(Utterance::calls).unwrap_or_default().iter();
    let missing = missing.filter(|call| group.iter().all(|utterance| utterance.result_of() != Some(call.id.as_str())));
    messages.extend(missing.map(|call| result(&call.id, NO_RESULT)));
    if own.is_none_or(|utterance| utterance.calls().is_empty()) {
        messages.iter_mut().zip(group).for_each(|(message, utterance)| loosen(message, group, utterance));
    }
    messages
}

/// A result whose call is not the reader's own, or is not shown, is shown as what it is.
fn loosen(message: &mut Value, group: &[Utterance], utterance: &Utterance) {
    if message.get("role").and_then(Value::as_str) == Some("tool") {
        let content = message.get("content").and_then(Value::as_str).unwrap_or_default();
        *message = self::message("user", &loose_result(group, utterance, content));
    }
}

fn result(call: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": call, "content": content})
}

fn one(utterance: &Utterance, reader: &Agent) -> Value {
    let (voice, words) = words(utterance, reader);
    match voice {
        Speaker::System => message("system", &words),
        Speaker::User => message("user", &words),
        Speaker::Own => own(words, utterance),
        Speaker::Tool => result(utterance.result_of().unwrap_or_default(), &words),
    }
}

fn own(text: String, utterance: &Utterance) -> Value {
    let (mut message, calls) = (message("assistant", &text), utterance.calls());
    if let (true, Some(fields)) = (utterance.is_in_loop, message.as_object_mut()) {
        let thoughts = reasoning::for_openai(&utterance.reasoning);
        fields.extend(thoughts.map(|(name, value)| (name.to_owned(), value.clone())));
    }
    let call = |call: &ToolCall| {
        let function = json!({"name": call.name, "arguments": call.arguments_text()});
        json!({"id": call.id, "type": "function", "function": function})
    };
    if let (false, Some(fields)) = (calls.is_empty(), message.as_object_mut()) {
        fields.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    message
}
