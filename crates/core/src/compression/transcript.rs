//! Transcripts: what was said, as the model reads it that writes a summary, and as it is counted.

use std::sync::Arc;

use crate::{
    conversation::{Content, Message, Role, ToolCall},
    count::Tokens,
    id::Seq,
    prompt::escape::escape,
    text::Text,
};

/// What it takes to show a message besides its text and its names, in the format `text`: other formats take about as much.
const FRAME: Tokens = Tokens(18);

/// What it takes to show a call in it.
const CALL: Tokens = Tokens(24);

/// A message with its text at hand.
#[derive(Clone, Debug)]
pub struct Spoken {
    /// The entry that added it.
    pub seq: Seq,
    /// The message.
    pub message: Arc<Message>,
    /// What it says.
    pub text: Arc<str>,
    /// What it takes in a prompt, at the most: its own size, and what is around it.
    pub size: Tokens,
}

impl Spoken {
    /// A message that says `text`.
    pub(super) fn new(seq: Seq, message: Message, text: Arc<str>) -> Self {
        let size = size(&message, Some(&text));
        Self { seq, message: Arc::new(message), text, size }
    }

    /// Who said it.
    pub fn speaker(&self) -> String {
        match (&self.message.agent, self.message.role) {
            (Some(agent), _) => agent.to_string(),
            (None, Role::User) => "user".to_owned(),
            (None, Role::Ai) => "assistant".to_owned(),
            (None, Role::System) => "system".to_owned(),
            (None, Role::Tool) => "tool".to_owned(),
        }
    }

    /// It, whole, in a line or more.
    pub fn transcript(&self) -> String {
        let Self { seq, message, text, .. } = self;
        let mut written = match &message.tool_call_id {
            Some(call) => format!("#{seq} result of {call}: {}\n", text.trim()),
            None => format!("#{seq} {}: {}\n", self.speaker(), text.trim()),
        };
        for call in &message.tool_calls {
            written += &format!("  calls {} ({}) {}\n", call.name, call.id, call.arguments_text());
        }
        if let Some(expected) = &message.expected_output {
            written += &format!("  expected output: {expected}\n");
        }
        written
    }

    /// The texts in it.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.message.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments_text()))
    }
}

/// What a message takes in a prompt, at the most. Where its text is long and not at hand, a token for two bytes of it.
pub(super) fn size(message: &Message, text: Option<&str>) -> Tokens {
    let of_text = match (text, &message.content) {
        // What is escaped has so many characters more.
        (Some(text), _) => message.tokens + Tokens(escape(text).len().saturating_sub(text.len()) as u64),
        (None, Content::Text(Text::Stored(stored))) => message.tokens.max(Tokens(stored.size_bytes / 2)),
        (None, _) => message.tokens,
    };
    // Names and criteria are not in the size of a message. They have a token for two bytes at the most, or hardly more.
    let call = |call: &ToolCall| CALL + Tokens(call.id.len() as u64 / 2);
    let calls = message.tool_calls.iter().map(call).sum::<Tokens>();
    let of_names = message.agent.as_ref().map_or(0, |agent| agent.as_str().len())
        + message.tool_call_id.as_ref().map_or(0, String::len)
        + message.expected_output.as_ref().map_or(0, |expected| expected.len());
    of_text + FRAME + calls + Tokens(of_names as u64 / 2)
}
