//! Writing what was said in one format, and counting it.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Format, anthropic,
    fetch::{self, Reads},
    labels,
    layout::Style,
    openai, text,
    utterance::Utterance,
};
use crate::{
    agent::{Agent, Team, Tool},
    count::{TokenCounter, Tokens},
    entry::Hash,
};

/// The tags around a section of the format `text`.
pub(super) type Frame = (&'static str, &'static str);

/// What was written of a group, and its size. Its clones share what was written.
#[derive(Clone, Debug)]
pub(super) struct RenderedPiece {
    pub(super) body: PieceBody,
    pub(super) tokens: Tokens,
    /// The hash of what was written: where it is the same, so is the piece.
    pub(super) hash: Hash,
}

/// A piece of a prompt in its format.
#[derive(Clone, Debug)]
pub(super) enum PieceBody {
    Text(Arc<str>),
    Messages(Arc<[Value]>),
}

/// Writes in one format for one reader.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'a> {
    pub(super) agent: &'a Agent,
    pub(super) team: &'a Team,
    /// The tools that are offered to it.
    pub(super) offered: &'a [Tool],
    pub(super) format: Format,
    pub(super) style: Style,
    pub(super) count: &'a dyn TokenCounter,
}

impl Renderer<'_> {
    /// The end of a note that says how to get more with one of Callboard's own tools; blank where that is not on offer.
    pub(super) fn by(&self, how: &str, tool: &str) -> String {
        fetch::by(self.offered, how, tool)
    }

    /// Which of the tools that read what was said are on offer.
    pub(super) fn reads(&self) -> Reads {
        Reads::of(self.offered)
    }

    /// Writes a group.
    pub(super) fn write(&self, group: &[Utterance]) -> RenderedPiece {
        match self.format {
            Format::Text => {
                let pieces: Vec<_> = match self.style {
                    Style::Tagged => group.iter().map(|utterance| text::piece(group, utterance, self.agent)).collect(),
                    Style::Labelled => labels::pieces(group, self.agent, self.team),
                };
                let tokens = pieces.iter().map(|piece| self.count.count(piece)).sum();
                let text = pieces.concat();
                RenderedPiece { tokens, hash: Hash::of(text.as_bytes()), body: PieceBody::Text(text.into()) }
            }
            Format::OpenAi => {
                let messages = openai::messages(group, self.agent);
                let tokens = messages.iter().map(|message| openai::tokens(message, self.count)).sum();
                RenderedPiece::messages(messages, tokens)
            }
            Format::Anthropic => {
                let messages = anthropic::messages(group, self.agent);
                let tokens = messages.iter().map(|message| anthropic::tokens(message, self.count)).sum();
                RenderedPiece::messages(messages, tokens)
            }
        }
    }

    /// Writes what nobody said and what has a place of its own among what was said. It begins with a tag and ends with
    /// a line end.
    pub(super) fn section(&self, text: &str) -> RenderedPiece {
        match self.format {
            Format::Text => RenderedPiece {
                tokens: self.count.count(text),
                hash: Hash::of(text.as_bytes()),
                body: PieceBody::Text(text.into()),
            },
            Format::OpenAi => {
                let message = openai::message("user", text.trim_end());
                let tokens = openai::tokens(&message, self.count);
                RenderedPiece::messages(vec![message], tokens)
            }
            Format::Anthropic => {
                let message = anthropic::unsaid(text.trim_end());
                let tokens = anthropic::tokens(&message, self.count);
                RenderedPiece::messages(vec![message], tokens)
            }
        }
    }

    /// The size of a group.
    pub(super) fn size(&self, group: &[Utterance]) -> Tokens {
        self.write(group).tokens
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

    /// What of that is not there in a prompt in which nothing stands before what was said.
    pub(super) fn empty_system(&self) -> Tokens {
        match self.format {
            Format::OpenAi => openai::tokens(&openai::message("system", ""), self.count),
            // What is allowed for Anthropic is generous in any case.
            Format::Text | Format::Anthropic => Tokens(0),
        }
    }

    /// What the tools that are offered cost where they stand beside the prompt. A text has none.
    pub(super) fn tools(&self) -> Tokens {
        match self.format {
            Format::Text => Tokens(0),
            Format::OpenAi => openai::tools(self.offered, self.count),
            Format::Anthropic => anthropic::tools(self.offered, self.count),
        }
    }
}

impl RenderedPiece {
    fn messages(messages: Vec<Value>, tokens: Tokens) -> Self {
        let hash = Hash::of(&serde_json::to_vec(&messages).unwrap_or_default());
        Self { tokens, hash, body: PieceBody::Messages(messages.into()) }
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.body {
            PieceBody::Text(text) => text.len(),
            PieceBody::Messages(messages) => messages.iter().map(message_bytes).sum(),
        }
    }
}

/// About how many bytes of memory a message takes: its texts, and what holds them.
fn message_bytes(message: &Value) -> usize {
    match message {
        Value::String(text) => 32 + text.len(),
        Value::Array(values) => values.iter().map(message_bytes).sum(),
        Value::Object(fields) => {
            96 + fields.iter().map(|(name, value)| 64 + name.len() + message_bytes(value)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
    }
}
