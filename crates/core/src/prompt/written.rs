//! Writing what was said in one format, and counting it.

use serde_json::Value;

use super::{Format, anthropic, openai, speech::Speech, text, told::Group};
use crate::{
    agent::Agent,
    count::{TokenCounter, Tokens},
};

/// The tags around a section of the format `text`.
pub(super) type Frame = (&'static str, &'static str);

/// What was written of a group, and its size.
pub(super) struct Written {
    pub(super) form: Form,
    pub(super) tokens: Tokens,
}

/// A piece of a prompt in its format.
pub(super) enum Form {
    Text(String),
    Messages(Vec<Value>),
}

/// Writes in one format for one reader.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) agent: &'a Agent,
    pub(super) format: Format,
    pub(super) count: &'a dyn TokenCounter,
}

impl Writer<'_> {
    /// Writes a group.
    pub(super) fn write(&self, group: &[Speech]) -> Written {
        match self.format {
            Format::Text => {
                let pieces: Vec<_> = group.iter().map(|speech| text::piece(speech, self.agent)).collect();
                let tokens = pieces.iter().map(|piece| self.count.count(piece)).sum();
                Written { form: Form::Text(pieces.concat()), tokens }
            }
            Format::OpenAi => {
                let messages = openai::messages(group, self.agent);
                let tokens = messages.iter().map(|message| openai::tokens(message, self.count)).sum();
                Written { form: Form::Messages(messages), tokens }
            }
            Format::Anthropic => {
                let messages = anthropic::messages(group, self.agent);
                let tokens = messages.iter().map(|message| anthropic::tokens(message, self.count)).sum();
                Written { form: Form::Messages(messages), tokens }
            }
        }
    }

    /// The size of a group.
    pub(super) fn size(&self, group: &[Speech]) -> Tokens {
        self.write(group).tokens
    }

    /// The size of groups.
    pub(super) fn sizes(&self, groups: &[Group]) -> Vec<Tokens> {
        groups.iter().map(|group| self.size(group)).collect()
    }

    /// The size of the tags around a section.
    pub(super) fn frame(&self, (open, close): Frame) -> Tokens {
        match self.format {
            Format::Text => self.count.count(open) + self.count.count(close),
            Format::OpenAi | Format::Anthropic => Tokens(0),
        }
    }

    /// What the messages around the content cost: that of the system, and the start of the answer. A text has none.
    pub(super) fn envelope(&self) -> Tokens {
        match self.format {
            Format::Text => Tokens(0),
            Format::OpenAi => openai::tokens(&openai::message("system", ""), self.count) + openai::ANSWER,
            Format::Anthropic => anthropic::envelope(self.count),
        }
    }

    /// What the reader's tools cost where they stand beside the prompt. A text has none.
    pub(super) fn tools(&self) -> Tokens {
        match self.format {
            Format::Text => Tokens(0),
            Format::OpenAi => openai::tools(&self.agent.tools, self.count),
            Format::Anthropic => anthropic::tools(&self.agent.tools, self.count),
        }
    }
}
