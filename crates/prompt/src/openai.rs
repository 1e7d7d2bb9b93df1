//! The format `openai`: the messages of a chat completion, counted as OpenAI documents it.
//!
//! What chat completions refuse is not written: no text is blank, every call has one result right behind it, and arguments are
//! a JSON object. What models of others refuse beyond that is for [`strict`](super::strict).
//!
//! Source of the allowances: OpenAI Cookbook, "How to count tokens with tiktoken", `num_tokens_from_messages`: three
//! tokens a message besides its role and its content, one for a name, and three for the start of the answer. A role is one
//! token.

use serde_json::{Map, Value, json};

use callboard_core::{
    agent::Tool,
    conversation::{ToolCall, reasoning},
    count::{TokenCounter, Tokens},
    prompt::Format,
};

use crate::{
    call_ids::{CallIds, IdForm},
    media,
    provider::is_blank,
    renderer::Renderer,
    speaker::{NO_RESULT, Speaker, loose_result, marked, result_words, words},
    tool_names::{self, ToolNames},
    utterance::Utterance,
};

/// What a message costs besides its content.
const MESSAGE: Tokens = Tokens(4);

/// What a name of the author costs besides its text.
const NAME: Tokens = Tokens(1);

/// What the start of the answer costs.
pub(super) const ANSWER: Tokens = Tokens(3);

/// What a call of a tool costs besides its texts, at the most.
const CALL: Tokens = Tokens(12);

/// What the end of an id costs that another call had before, at the most. It stands in the call and in its result.
const ID_END: Tokens = Tokens(4);

/// What a tool costs besides its texts, at the most.
const TOOL: Tokens = Tokens(16);

/// The most calls that OpenAI takes in a message.
const MOST_CALLS: usize = 128;

/// What stands for a result that is blank.
const BLANK_RESULT: &str = "[the result is empty]";

/// What stands in a result for a picture of it.
const IS_BEHIND: &str = "[shown in the message behind the results]";

/// What stands before the pictures of results.
const SHOWN: &str = "[what the results above show]";

/// What stands where the reader is to speak and nobody has spoken, or it spoke last.
pub(super) const CLOSING: &str = "[it is your turn]";

/// Marks a message, until the prompt is put together, as the user's own words without a mark of the speaker.
pub(super) const IS_BARE: &str = "is_bare";

/// Where a message holds, until the prompt is put together, items of the Responses API that its model thought.
pub(super) const THOUGHT_ITEMS: &str = "thought_items";

/// The field of what a model thought that DeepSeek wants with every call.
const THOUGHT_TEXT: &str = "reasoning_content";

/// A message, and the utterance that it comes from.
pub(super) type Sourced<'a> = (Value, &'a Utterance);

/// A message in a given role.
pub(super) fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// What a message costs.
pub(super) fn tokens(message: &Value, count: &dyn TokenCounter) -> Tokens {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map_or(Tokens(0), |text| count.count(text));
    let json = |value: &Value| match value {
        Value::String(text) => count.count(text),
        other => count.count(&other.to_string()),
    };
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let of_calls = calls.map(|call| {
        let function = |field| call.get("function").and_then(|function| function.get(field));
        let name = function("name").and_then(Value::as_str).unwrap_or_default();
        let name = count.count(&tool_names::counted(name));
        let more = call.get("extra_content").map(json).unwrap_or_default();
        CALL + ID_END + text(call.get("id")) + name + text(function("arguments")) + more
    });
    let thoughts = reasoning::OPENAI.iter().chain([&THOUGHT_ITEMS]).filter_map(|name| message.get(*name)).map(json);
    let name = message.get("name").map_or(Tokens(0), |name| NAME + text(Some(name)));
    let result = message.get("tool_call_id").map_or(Tokens(0), |id| ID_END + text(Some(id)));
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let of_parts = parts.map(|part| media::tokens(part) + text(part.get("text")));
    MESSAGE + thoughts.sum() + text(message.get("content")) + of_parts.sum() + name + result + of_calls.sum()
}

/// What tools cost.
pub(super) fn tools(tools: &[Tool], count: &dyn TokenCounter) -> Tokens {
    let tool = |tool: &Tool| {
        let parameters = parameters(tool).to_string();
        let name = tool_names::counted(&tool.name);
        TOOL + count.count(&name) + count.count(&tool.description) + count.count(&parameters)
    };
    tools.iter().map(tool).sum()
}

/// A tool as chat completions take it.
pub(super) fn tool(tool: &Tool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": parameters(tool),
    }})
}

/// The schema of what a tool is called with. Where a tool says nothing, it takes nothing: OpenAI refuses an object without
/// `properties`.
pub(super) fn parameters(tool: &Tool) -> Value {
    let mut parameters = tool.parameters.clone();
    for (field, value) in [("type", json!("object")), ("properties", json!({}))] {
        parameters.entry(field).or_insert(value);
    }
    parameters.into()
}

/// Writes things that were said together: a call with its results, or one thing alone. What is blank is not written.
pub(super) fn messages<'a>(group: &'a [Utterance], by: &Renderer<'_>) -> Vec<Sourced<'a>> {
    let Some((calling, others)) = group.split_first().filter(|(first, _)| first.mine && !first.calls().is_empty())
    else {
        return group.iter().filter_map(|utterance| Some((one(group, utterance, by)?, utterance))).collect();
    };
    let mut others: Vec<_> = others.iter().collect();
    let mut messages = Vec::new();
    let (mut behind, mut shows) = (Vec::new(), calling);
    for (at, call) in calling.calls().iter().enumerate() {
        if at % MOST_CALLS == 0 {
            messages.push((calls(calling, at, by), calling));
        }
        let at = others.iter().position(|result| result.result_of() == Some(call.id.as_str()));
        let found = at.map(|at| others.remove(at));
        let words = found.map(|found| result_words(found, by.agent)).unwrap_or_else(|| NO_RESULT.to_owned());
        let words = if is_blank(&words) { BLANK_RESULT } else { &words };
        let id = IdForm::of(by.provider).fit(&call.id);
        let source = found.unwrap_or(calling);
        let content: Value = match media::parts(words, found.map(|found| found.media.as_slice()).unwrap_or_default()) {
            Some(parts) if by.format == Format::Responses => parts.into(),
            Some(parts) => {
                shows = source;
                apart(parts, &mut behind).into()
            }
            None => words.into(),
        };
        messages.push((json!({"role": "tool", "tool_call_id": id, "content": content}), source));
    }
    if !behind.is_empty() {
        behind.insert(0, json!({"type": "text", "text": SHOWN}));
        messages.push((json!({"role": "user", "content": behind}), shows));
    }
    messages.extend(others.into_iter().filter_map(|other| Some((one(group, other, by)?, other))));
    messages
}

/// The text of a result. Chat completions take no more of it: its pictures and audio go to `behind`.
fn apart(parts: Vec<Value>, behind: &mut Vec<Value>) -> String {
    let mut text = Vec::new();
    for part in parts {
        match part.get("text").and_then(Value::as_str) {
            Some(words) => text.push(words.to_owned()),
            None => {
                text.push(IS_BEHIND.to_owned());
                behind.push(part);
            }
        }
    }
    text.join("\n")
}

/// One thing that was said and has no calls; nothing where it is blank. A result whose call is not the reader's own, or is not
/// shown, is shown as what it is.
fn one(group: &[Utterance], utterance: &Utterance, by: &Renderer<'_>) -> Option<Value> {
    let (voice, words) = words(utterance, by.agent);
    if voice == Speaker::Tool {
        return Some(with_media(utterance, message("user", &loose_result(group, utterance, &words, by.agent))));
    }
    if is_blank(&words) {
        return None;
    }
    let message = match voice {
        Speaker::System if by.provider.is_strict() => message("user", &format!("[from system] {words}")),
        Speaker::System => message("system", &words),
        Speaker::Own => message("assistant", &words),
        Speaker::User | Speaker::Tool if utterance.is_bare() => users(utterance, &words, by),
        Speaker::User | Speaker::Tool => message("user", &words),
    };
    Some(with_media(utterance, message))
}

/// A message with the pictures that are shown of what it says.
fn with_media(utterance: &Utterance, mut message: Value) -> Value {
    if let Some(content) = message.get_mut("content")
        && let Some(parts) = content.as_str().and_then(|text| media::parts(text, &utterance.media))
    {
        *content = parts.into();
    }
    message
}

/// What the user says. OpenAI takes a name of the author in chat completions; elsewhere, whoever has one is marked.
fn users(utterance: &Utterance, words: &str, by: &Renderer<'_>) -> Value {
    let name = utterance.author.as_deref();
    match (by.provider.is_strict(), name) {
        (false, None) => message("user", words),
        (false, Some(name)) if by.format == Format::OpenAi => {
            json!({"role": "user", "name": tool_names::cleaned(name, 64), "content": words})
        }
        (_, Some(_)) => message("user", &marked(utterance, words.to_owned())),
        (true, None) => json!({"role": "user", "content": words, IS_BARE: true}),
    }
}

/// The reader's own message with the calls that it makes from one on, as many as a message may have. What it says and thought stands
/// in the first one.
fn calls(utterance: &Utterance, from: usize, by: &Renderer<'_>) -> Value {
    let is_first = from == 0;
    let (_, words) = words(utterance, by.agent);
    let content = if is_blank(&words) || !is_first { Value::Null } else { words.into() };
    let mut fields = Map::from_iter([("role".to_owned(), "assistant".into()), ("content".to_owned(), content)]);
    let takes = |field: &str| by.provider.takes_thought(field, utterance.is_in_loop);
    let thoughts = reasoning::for_openai(&utterance.reasoning).filter(|(name, _)| is_first && takes(name));
    fields.extend(thoughts.map(|(name, value)| (name.to_owned(), value.clone())));
    if takes(THOUGHT_TEXT) {
        // It is missed where another provider's model called.
        fields.entry(THOUGHT_TEXT).or_insert_with(|| "".into());
    }
    if by.format == Format::Responses && utterance.is_in_loop && is_first {
        let items = items(utterance, by);
        fields.extend((!items.is_empty()).then(|| (THOUGHT_ITEMS.to_owned(), items.into())));
    }
    let form = IdForm::of(by.provider);
    let call = |(at, call): (usize, &ToolCall)| {
        let function = json!({"name": call.name, "arguments": arguments(call)});
        let mut written = json!({"id": form.fit(&call.id), "type": "function", "function": function});
        if let (Some(more), Some(fields)) = (reasoning::beside_call(&utterance.reasoning, at), written.as_object_mut())
            && takes(reasoning::EXTRA_CONTENT)
        {
            fields.insert(reasoning::EXTRA_CONTENT.to_owned(), more.clone());
        }
        written
    };
    let of_message = utterance.calls().iter().enumerate().skip(from).take(MOST_CALLS);
    fields.insert("tool_calls".to_owned(), of_message.map(call).collect());
    Value::Object(fields)
}

/// What Gemini takes for the signature of a call that it did not make itself.
pub(super) fn no_signature() -> Value {
    json!({"google": {"thought_signature": "skip_thought_signature_validator"}})
}

/// Whether a message has calls, and none of them has a signature.
pub(super) fn is_unsigned(message: &Value) -> bool {
    let calls = message.get("tool_calls").and_then(Value::as_array).filter(|calls| !calls.is_empty());
    calls.is_some_and(|calls| calls.iter().all(|call| call.get(reasoning::EXTRA_CONTENT).is_none()))
}

/// Gives the first call of each message behind what the user said last a signature, where none of its calls has one.
pub(super) fn sign_calls(messages: &mut [Value]) {
    let is_user = |message: &Value| message.get("role").and_then(Value::as_str) == Some("user");
    let begin = messages.iter().rposition(is_user).map_or(0, |last| last + 1);
    for message in messages.iter_mut().skip(begin).filter(|message| is_unsigned(message)) {
        if let Some(call) = message.pointer_mut("/tool_calls/0").and_then(Value::as_object_mut) {
            call.insert(reasoning::EXTRA_CONTENT.to_owned(), no_signature());
        }
    }
}

/// The items that the Responses API gets back of what the reader thought. OpenAI keeps none, and would look for a thought that is not
/// in its item; what was thought before a search goes with it, or not at all.
fn items(utterance: &Utterance, by: &Renderer<'_>) -> Vec<Value> {
    let mut items: Vec<_> = reasoning::for_responses(&utterance.reasoning).map(as_sent).collect();
    let is_search = |item: &Value| item.get("type").and_then(Value::as_str) == Some(reasoning::SEARCH_ITEM);
    let is_whole = |item: &Value| is_search(item) || item.get("encrypted_content").is_some_and(Value::is_string);
    if !by.provider.is_strict() && !items.iter().all(is_whole) {
        let has_search = items.iter().any(is_search);
        items.retain(|item| !has_search && is_whole(item));
    }
    items
}

/// An item that the Responses API gets back. It keeps none, and would look for a search that has an id.
fn as_sent(mut item: Value) -> Value {
    if item.get("type").and_then(Value::as_str) == Some(reasoning::SEARCH_ITEM)
        && let Some(fields) = item.as_object_mut()
    {
        fields.remove("id");
    }
    item
}

/// The arguments of a call as the text of a JSON object.
fn arguments(call: &ToolCall) -> String {
    match call.arguments_json() {
        Value::Object(_) => call.arguments_text(),
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        _ => json!({"_raw": call.arguments_text()}).to_string(),
    }
}

/// The names of the tools that messages call.
pub(super) fn called(messages: &[Value]) -> impl Iterator<Item = &str> {
    let calls = messages.iter().filter_map(|message| message.get("tool_calls")?.as_array()).flatten();
    calls.filter_map(|call| call.pointer("/function/name")?.as_str())
}

/// Gives calls ids and names that are taken, and results the ids of their calls.
pub(super) fn settle(messages: &mut [Value], form: IdForm, names: &ToolNames) {
    let mut ids = CallIds::new(form);
    for message in messages {
        if let Some(id) = message.get_mut("tool_call_id")
            && let Some(own) = id.as_str().and_then(|wanted| ids.result(wanted))
        {
            *id = own.into();
        }
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            call.get_mut("function").into_iter().for_each(|function| names.write(function));
            if let Some(id) = call.get_mut("id")
                && let Some(own) = id.as_str().map(|wanted| ids.call(wanted))
            {
                *id = own.into();
            }
        }
    }
}
