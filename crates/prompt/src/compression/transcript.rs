//! Transcripts: what was said, as the model reads it that writes a summary.

use std::sync::Arc;

use callboard_core::{
    compression::size,
    conversation::{Message, Role},
    count::Tokens,
    id::Seq,
};

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

    /// Who says it.
    pub fn speaker(&self) -> String {
        match (self.message.said_by(), self.message.role) {
            (Some(agent), _) => agent.to_string(),
            (None, Role::User) => "user".to_owned(),
            (None, Role::Ai) => "assistant".to_owned(),
            (None, Role::System) => "system".to_owned(),
            (None, Role::Tool) => "tool".to_owned(),
        }
    }

    /// Whether the system said it.
    pub(super) fn is_of_system(&self) -> bool {
        self.message.role == Role::System
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
