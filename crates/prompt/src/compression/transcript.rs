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
    /// Whether others read it than the agent from which it comes.
    is_for_others: bool,
}

impl Spoken {
    /// A message that says `text`, for others than its agent, too, or for that alone.
    pub(super) fn new(seq: Seq, message: Message, text: Arc<str>, is_for_others: bool) -> Self {
        let size = size(&message, Some(&text));
        Self { seq, message: Arc::new(message), text, size, is_for_others }
    }

    /// Who says it. What a program tells the agent as which it works, that agent takes for the user's, and others do not: the words
    /// for all of them are true for each.
    pub fn speaker(&self) -> String {
        let role = self.message.role.as_str();
        match (self.message.said_by(None), &self.message.agent) {
            (Some(agent), _) => agent.to_string(),
            (None, Some(agent)) if self.is_for_others => format!("{agent}'s {role}"),
            (None, _) => role.to_owned(),
        }
    }

    /// Makes it what its agent says, and not the result of a call.
    pub(super) fn disown(&mut self) {
        Arc::make_mut(&mut self.message).tool_call_id = None;
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
