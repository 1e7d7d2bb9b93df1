//! Putting an answer together, from the pieces of a stream or from a whole answer.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::reading::{self, ReadFault, complete};
use crate::{ChatAnswer, Finish, OnDelta, ToolCall, Usage};

/// One piece of an answer, or the whole: both have the same form except for one name. In all of it, null is absent.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<WireUsage>,
    model: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: Option<Vec<Map<String, Value>>>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
    /// What Gemini wants back with the call: the signature of what it thought.
    extra_content: Option<Value>,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A piece of JSON as text, or from some servers the JSON itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl WireUsage {
    /// What it says, if it says anything.
    fn told(self) -> Option<Usage> {
        let (prompt, completion) = (self.prompt_tokens, self.completion_tokens);
        let told = prompt.is_some() || completion.is_some();
        told.then(|| Usage {
            prompt_tokens: prompt.unwrap_or_default(),
            completion_tokens: completion.unwrap_or_default(),
        })
    }
}

impl Chunk {
    /// The HTTP status of the error in it, if it has one.
    fn error_status(&self) -> Option<u16> {
        let error = self.error.as_ref()?;
        let status = ["code", "status"].into_iter().find_map(|name| error.get(name)?.as_u64());
        Some(status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500))
    }
}

/// An answer that is being put together.
#[derive(Default)]
pub(super) struct Assembly {
    text: String,
    reasoning_content: String,
    reasoning: String,
    reasoning_details: Vec<Map<String, Value>>,
    refused: bool,
    calls: Vec<(Option<u64>, ToolCall)>,
    /// What came beside calls, by their place.
    beside: Vec<(usize, Value)>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    model: Option<String>,
}

impl Assembly {
    /// Adds a piece that is no error.
    fn add(&mut self, chunk: Chunk, on_delta: &mut OnDelta<'_>) {
        if let Some(usage) = chunk.usage.and_then(WireUsage::told) {
            self.usage = Some(usage);
        }
        self.model = self.model.take().or(chunk.model);
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return };
        if let Some(delta) = choice.delta {
            self.refused |= delta.refusal.as_ref().is_some_and(|refusal| !refusal.is_empty());
            for piece in [delta.content, delta.refusal].into_iter().flatten().filter(|piece| !piece.is_empty()) {
                on_delta(&piece);
                self.text.push_str(&piece);
            }
            self.reasoning_content.push_str(&delta.reasoning_content.unwrap_or_default());
            self.reasoning.push_str(&delta.reasoning.unwrap_or_default());
            delta.reasoning_details.into_iter().flatten().for_each(|piece| self.take_thought(piece));
            delta.tool_calls.into_iter().flatten().for_each(|call| self.take_call(call));
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(Finish::from(reason.as_str()));
        }
    }

    /// Adds a piece to the call with its index. Some servers send no index, or the same one for several calls: then a name or
    /// another id begins a new call.
    fn take_call(&mut self, piece: CallDelta) {
        let function = piece.function.unwrap_or_default();
        let extra_content = piece.extra_content.filter(|content| !content.is_null());
        let id = piece.id.unwrap_or_default();
        let known = match piece.index {
            Some(_) => self.calls.iter_mut().rev().find(|(index, _)| *index == piece.index),
            None if function.name.is_none() => self.calls.last_mut(),
            None => None,
        };
        let known = known.filter(|(_, call)| id.is_empty() || call.id.is_empty() || call.id == id);
        let arguments = match function.arguments {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(json) => json.to_string(),
        };
        if let Some((_, call)) = known {
            if !id.is_empty() {
                call.id = id;
            }
            call.name.push_str(&function.name.unwrap_or_default());
            call.arguments.push_str(&arguments);
        } else {
            let name = function.name.unwrap_or_default();
            self.calls.push((piece.index, ToolCall { id, name, arguments }));
        }
        // A piece of a stream belongs to the call with its index; without one, to the last.
        let its = |(index, _): &(Option<u64>, ToolCall)| piece.index.is_none() || *index == piece.index;
        if let (Some(content), Some(at)) = (extra_content, self.calls.iter().rposition(its)) {
            self.beside.push((at, content));
        }
    }

    /// Adds a piece to the detail with its index and type.
    fn take_thought(&mut self, piece: Map<String, Value>) {
        let is_of = |one: &Map<String, Value>| ["index", "type"].iter().all(|name| one.get(*name) == piece.get(*name));
        let known = self.reasoning_details.last_mut().filter(|last| piece.contains_key("index") && is_of(last));
        let Some(known) = known else { return self.reasoning_details.push(piece) };
        for (name, value) in piece {
            match (known.get_mut(&name), &value) {
                (Some(Value::String(before)), Value::String(more))
                    if ["text", "summary", "data"].contains(&name.as_str()) =>
                {
                    before.push_str(more);
                }
                (_, Value::Null) => {}
                _ => drop(known.insert(name, value)),
            }
        }
    }

    /// What the model thought, by the field in which it came.
    fn thoughts(&mut self) -> Vec<Map<String, Value>> {
        let texts = [
            ("reasoning_content", std::mem::take(&mut self.reasoning_content)),
            ("reasoning", std::mem::take(&mut self.reasoning)),
        ];
        let texts =
            texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, Value::from(text)));
        let details = std::mem::take(&mut self.reasoning_details);
        let details = (!details.is_empty()).then(|| ("reasoning_details", Value::from(details)));
        let block =
            |(name, value): (&str, Value)| Map::from_iter([("type".to_owned(), name.into()), (name.to_owned(), value)]);
        let beside = std::mem::take(&mut self.beside).into_iter();
        let of_call = |(at, content): (usize, Value)| {
            let fields = [("type", "extra_content".into()), ("call", at.into()), ("extra_content", content)];
            fields.map(|(name, value): (&str, Value)| (name.to_owned(), value)).into_iter().collect()
        };
        texts.chain(details).map(block).chain(beside.map(of_call)).collect()
    }

    /// The endpoint ends the answer without a reason.
    fn end(&mut self) {
        let silent = if self.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        self.finish.get_or_insert(silent);
    }

    /// The answer; `asked` is the requested model.
    pub(super) fn answer(mut self, asked: &str) -> ChatAnswer {
        self.end();
        let reasoning = self.thoughts();
        let finish = self.finish.filter(|_| !self.refused).unwrap_or(Finish::ContentFilter);
        let tool_calls = complete(self.calls.into_iter().map(|(_, call)| call).collect());
        let model = self.model.unwrap_or_else(|| asked.to_owned());
        let pieces = Vec::new();
        ChatAnswer { text: self.text, reasoning, tool_calls, pieces, usage: self.usage, finish, model }
    }
}

impl reading::Assembly for Assembly {
    fn take(&mut self, data: &str, on_delta: &mut OnDelta<'_>) -> Result<ControlFlow<()>, ReadFault> {
        if data == "[DONE]" {
            self.end();
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
        self.finish.is_some()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.finish.is_none()
    }

    fn received_chars(&self) -> usize {
        self.text.chars().count()
    }
}

#[cfg(test)]
mod tests;
