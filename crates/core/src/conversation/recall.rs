//! What of a message can be found again: what it says, and in short which tools it calls.

use serde_json::{Map, Value};

use super::{Content, Message, ToolCall};
use crate::{
    recall::{Recallable, Source},
    text::{Text, first_chars},
};

/// How many characters of the arguments of a call can be found.
const ARGUMENTS: usize = 2000;

impl Recallable {
    pub(super) fn of_message(message: &Message) -> Option<Self> {
        let mut texts = match &message.content {
            Content::Text(text) => vec![text.clone()],
            Content::Parts(parts) => {
                vec![parts.iter().filter_map(words).collect::<Vec<_>>().join("\n").as_str().into()]
            }
        };
        let expected = message.expected_output.iter().map(|expected| format!("\nExpected: {expected}"));
        texts.extend(message.tool_calls.iter().map(call).chain(expected).map(|line| Text::from(line.as_str())));
        let (agent, role, message_id) = (message.agent.clone(), Some(message.role), Some(message.message_id.clone()));
        Some(Self { agent, role, message_id, ..Self::new(Source::Message, texts)? })
    }
}

/// The words of a part; an image has none.
fn words(part: &Map<String, Value>) -> Option<&str> {
    part.get("text")?.as_str()
}

/// A call on a line of its own.
fn call(call: &ToolCall) -> String {
    format!("\n{} {}", call.name, first_chars(&call.arguments_text(), ARGUMENTS))
}
