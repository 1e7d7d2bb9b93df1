//! The strict form of chat messages, for models that are not OpenAI's: after one message of the system, which is put before them
//! later, the user and the assistant speak in turn, with the results of calls between them, and the user begins and ends.
//!
//! Templates of Qwen, Gemma, Mistral and others on llama.cpp and vLLM refuse everything else, and hosted APIs do so too.

use serde_json::{Map, Value, json};

use crate::{
    openai::{CLOSING, IS_BARE, message},
    placed::{Joined, text_bytes},
    provider::Provider,
};

/// What stands before a conversation in which the reader spoke first.
pub(super) const OPENING: &str = "[what was said before is not here]";

/// What stands between texts that were messages of their own.
const BETWEEN: &str = "\n\n";

/// The same, before the user's words behind those of others.
pub(super) const BETWEEN_AND_USER: &str = "\n\n[from user] ";

/// Joins messages so that speakers take turns.
pub(super) fn in_turn(messages: Vec<Value>, provider: Provider) -> (Vec<Value>, Joined) {
    let mut turns = Turns { provider, messages: Vec::new(), joined: Joined::default(), is_marked: false };
    messages.into_iter().for_each(|message| turns.add(message));
    turns.close();
    (turns.messages, turns.joined)
}

/// Messages that take turns, so far.
struct Turns {
    provider: Provider,
    messages: Vec<Value>,
    joined: Joined,
    /// Whether somebody speaks in the last message who is not the user.
    is_marked: bool,
}

impl Turns {
    fn add(&mut self, mut next: Value) {
        let is_bare = next.as_object_mut().is_some_and(|fields| fields.remove(IS_BARE).is_some());
        let is_user = role(&next) == "user";
        if self.messages.is_empty() && !is_user {
            self.joined.open(OPENING);
            self.messages.push(message("user", OPENING));
        }
        if self.goes_on(&next) {
            let between = if is_bare && self.is_marked { BETWEEN_AND_USER } else { BETWEEN };
            self.join(next, between);
        } else {
            self.joined.places.push((self.messages.len(), 0));
            self.messages.push(next);
            self.is_marked = !is_bare;
        }
        self.is_marked |= !is_bare;
    }

    /// Whether a message goes on with the last one: it is of the same speaker, or the user speaks behind a result where nobody may.
    fn goes_on(&self, next: &Value) -> bool {
        let Some(last) = self.messages.last() else { return false };
        match (role(last), role(next)) {
            ("user", "user") => true,
            ("assistant", "assistant") => last.get("tool_calls").is_none(),
            ("tool", "user") => self.provider == Provider::Mistral,
            _ => false,
        }
    }

    /// Puts the text of a message behind that of the last one, which gets its calls.
    fn join(&mut self, next: Value, between: &str) {
        let at = self.messages.len().saturating_sub(1);
        let (Some(last), Value::Object(mut next)) = (self.messages.last_mut().and_then(Value::as_object_mut), next)
        else {
            return;
        };
        if [next.get("content"), last.get("content")].into_iter().flatten().any(Value::is_array) {
            return self.join_parts(next, between);
        }
        let text = match next.remove("content") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let before = last.get("content").and_then(Value::as_str).unwrap_or_default();
        let between = if before.is_empty() || text.is_empty() { "" } else { between };
        let begin = before.len() + between.len();
        if !between.is_empty() {
            self.joined.add_unsaid(at, before.len()..begin);
        }
        self.joined.places.push((at, begin));
        if !text.is_empty() {
            let joined = format!("{before}{between}{text}");
            last.insert("content".to_owned(), joined.into());
        }
        next.remove("role");
        last.extend(next);
    }

    /// Puts the parts of what the user says behind those of the last message.
    fn join_parts(&mut self, mut next: Map<String, Value>, between: &str) {
        let at = self.messages.len().saturating_sub(1);
        let Some(last) = self.messages.last_mut() else { return };
        let before = text_bytes(last);
        let mut parts = parts_of(last.get_mut("content").map(Value::take));
        let mut more = parts_of(next.remove("content"));
        let length = match more.first_mut().and_then(|first| first.get_mut("text")) {
            Some(text) => {
                *text = format!("{between}{}", text.as_str().unwrap_or_default()).into();
                between.len()
            }
            None if between.trim().is_empty() => 0,
            None => {
                parts.push(json!({"type": "text", "text": between.trim()}));
                between.trim().len()
            }
        };
        if length > 0 {
            self.joined.add_unsaid(at, before..before + length);
        }
        self.joined.places.push((at, before + length));
        parts.extend(more);
        if let Some(content) = last.get_mut("content") {
            *content = parts.into();
        }
    }

    /// Lets the user speak last, unless results do.
    fn close(&mut self) {
        if self.messages.last().is_none_or(|last| role(last) == "assistant") {
            self.joined.close(self.messages.len(), CLOSING);
            self.messages.push(message("user", CLOSING));
        }
    }
}

/// The parts of a content; a text is one.
fn parts_of(content: Option<Value>) -> Vec<Value> {
    match content {
        Some(Value::Array(parts)) => parts,
        Some(Value::String(text)) if !text.is_empty() => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}
