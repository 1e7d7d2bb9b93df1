//! Putting an answer together, from the pieces of a stream or from a whole answer.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::reading::{self, ReadFault, complete};
use crate::{ChatAnswer, Finish, OnDelta, ToolCall, Usage};

/// One piece of an answer, or the whole: both have the same form except for one name, and some servers send the whole so far beside each
/// piece. In all of it, null is absent.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Map<String, Value>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Map<String, Value>>,
    message: Option<Map<String, Value>>,
    finish_reason: Option<String>,
}

impl Chunk {
    /// The HTTP status of the error in it, if it has one.
    fn error_status(&self) -> Option<u16> {
        let error = self.error.as_ref()?;
        let status = ["code", "status"].into_iter().find_map(|name| error.get(name)?.as_u64());
        Some(status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500))
    }
}

/// An answer that is being put together: the first of several.
#[derive(Default)]
pub(super) struct Assembly {
    message: Option<Map<String, Value>>,
    /// What was handed out.
    text: String,
    usage: Option<Map<String, Value>>,
    finish: Option<String>,
    has_ended: bool,
    /// The indexes of the others.
    others: BTreeSet<u64>,
}

/// The whole completion that the events of a stream make; `None` where nothing of a message is in them. Of others than the first choice it
/// has the indexes.
pub(crate) fn whole(events: Vec<Value>) -> Option<Value> {
    let mut assembly = Assembly::default();
    for event in events.into_iter().filter_map(|event| serde_json::from_value(event).ok()) {
        assembly.add(event, &mut |_| {});
    }
    let Assembly { message, usage, finish, others, .. } = assembly;
    let message = message?;
    let first = json!({"message": message, "finish_reason": finish});
    let others = others.iter().map(|index| json!({"index": index}));
    let choices: Vec<_> = [first].into_iter().chain(others).collect();
    Some(json!({"choices": choices, "usage": usage}))
}

impl Assembly {
    /// Adds a piece that is no error.
    fn add(&mut self, chunk: Chunk, on_delta: &mut OnDelta<'_>) {
        if let Some(usage) = chunk.usage {
            let told = usage.into_iter().filter(|(_, value)| !value.is_null());
            self.usage.get_or_insert_default().extend(told);
        }
        let is_first = |choice: &Choice| choice.index.unwrap_or_default() == 0;
        let (first, others): (Vec<_>, Vec<_>) = chunk.choices.into_iter().flatten().partition(is_first);
        self.others.extend(others.iter().filter_map(|choice| choice.index));
        let Some(Choice { delta, message, finish_reason, .. }) = first.into_iter().next() else { return };
        if let Some(said) = delta.or(message) {
            for piece in texts(&said).filter(|piece| !piece.is_empty()) {
                on_delta(piece);
                self.text.push_str(piece);
            }
            grow(self.message.get_or_insert_default(), said);
        }
        self.finish = finish_reason.filter(|reason| !reason.is_empty()).or(self.finish.take());
    }

    fn calls(&self) -> &[Value] {
        let calls = self.message.as_ref().and_then(|message| message.get("tool_calls")?.as_array());
        calls.map(Vec::as_slice).unwrap_or_default()
    }

    /// The answer.
    pub(super) fn answer(self) -> ChatAnswer {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let call = |call: &Value| {
            // Some servers give the JSON itself.
            let arguments = match call.pointer("/function/arguments") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(json) => json.to_string(),
            };
            ToolCall { id: text(call.get("id")), name: text(call.pointer("/function/name")), arguments }
        };
        let tool_calls = complete(self.calls().iter().map(call).collect());
        let message = self.message.as_ref();
        // What the model thought, by the field in which it came.
        let thoughts = ["reasoning_content", "reasoning", "reasoning_details"].into_iter().filter_map(|name| {
            let thought = message?.get(name)?;
            let is_empty = matches!(thought.as_str(), Some("")) || thought.as_array().is_some_and(Vec::is_empty);
            (!is_empty).then(|| json!({"type": name, name: thought}))
        });
        // What Gemini wants back with a call: the signature of what it thought.
        let beside = self.calls().iter().enumerate().filter_map(|(at, call)| {
            let content = call.get("extra_content").filter(|content| !content.is_null())?;
            Some(json!({"type": "extra_content", "call": at, "extra_content": content}))
        });
        let reasoning = thoughts.chain(beside).filter_map(|block| block.as_object().cloned()).collect();
        let silent = if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        let refused = message.and_then(|message| message.get("refusal")?.as_str()).is_some_and(|text| !text.is_empty());
        let finish = match &self.finish {
            _ if refused => Finish::ContentFilter,
            Some(reason) => Finish::from(reason.as_str()),
            None => silent,
        };
        let used = |name: &str| self.usage.as_ref()?.get(name)?.as_u64();
        let (prompt, completion) = (used("prompt_tokens"), used("completion_tokens"));
        let usage = (prompt.is_some() || completion.is_some()).then(|| Usage {
            prompt_tokens: prompt.unwrap_or_default(),
            completion_tokens: completion.unwrap_or_default(),
        });
        ChatAnswer { text: self.text, reasoning, tool_calls, pieces: Vec::new(), usage, finish }
    }
}

/// What a message says: a text, or parts of which some have one, as models of Mistral's that think give it.
fn texts(message: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let said = ["content", "refusal"].into_iter().filter_map(move |name| message.get(name));
    let texts = said.flat_map(|said| {
        let parts = said.as_array().into_iter().flatten().filter_map(|part| part.get("text"));
        [said].into_iter().chain(parts)
    });
    texts.filter_map(Value::as_str)
}

/// Fields that a stream may repeat in its pieces.
const REPEATED: [&str; 6] = ["id", "type", "role", "index", "format", "signature"];

/// Adds a piece of a message: texts go on, and lists grow.
fn grow(fields: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, piece) in piece.into_iter().filter(|(_, piece)| !piece.is_null()) {
        let (is_repeated, are_calls) = (REPEATED.contains(&name.as_str()), name == "tool_calls");
        match (fields.entry(name).or_insert(Value::Null), piece) {
            (Value::String(text), Value::String(piece)) if !is_repeated => text.push_str(&piece),
            (Value::String(_), Value::String(piece)) if piece.is_empty() => {}
            (Value::Object(fields), Value::Object(piece)) => grow(fields, piece),
            (Value::Array(list), Value::Array(pieces)) => grow_list(list, pieces, are_calls),
            (known, Value::Array(pieces)) => {
                let mut list = Vec::new();
                grow_list(&mut list, pieces, are_calls);
                *known = list.into();
            }
            (known, piece) => *known = piece,
        }
    }
}

/// Adds pieces to the items with their indexes. Some servers send no index, or the same one for several calls: then a name or another id
/// begins a new call.
fn grow_list(list: &mut Vec<Value>, pieces: Vec<Value>, are_calls: bool) {
    for piece in pieces {
        let differ = |known: &Value, name: &str| {
            let text = |value: &Value| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (known, piece) = (text(known), text(&piece));
            !known.is_empty() && !piece.is_empty() && known != piece
        };
        let index = piece.get("index").filter(|index| !index.is_null());
        let known = match index {
            Some(_) => list.iter_mut().rev().find(|known| known.get("index") == index && !differ(known, "type")),
            None if are_calls && piece.pointer("/function/name").is_none_or(Value::is_null) => list.last_mut(),
            None => None,
        };
        match (known.filter(|known| !differ(known, "id")).and_then(Value::as_object_mut), piece.as_object()) {
            (Some(known), Some(piece)) => grow(known, piece.clone()),
            _ => list.push(piece),
        }
    }
}

impl reading::Assembly for Assembly {
    fn take(&mut self, data: &str, on_delta: &mut OnDelta<'_>) -> Result<ControlFlow<()>, ReadFault> {
        if data == "[DONE]" {
            self.has_ended = true;
            return Ok(ControlFlow::Break(()));
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(ReadFault::NotUnderstood)?;
        if let Some(status) = chunk.error_status() {
            return Err(ReadFault::Refused(status));
        }
        self.add(chunk, on_delta);
        Ok(ControlFlow::Continue(()))
    }

    fn is_finished(&self) -> bool {
        self.has_ended || self.finish.is_some()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls().is_empty() && self.finish.is_none()
    }

    fn received_chars(&self) -> usize {
        self.text.chars().count()
    }
}

#[cfg(test)]
mod tests;
