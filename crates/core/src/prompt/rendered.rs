//! Writing what was said in one format, and counting it.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Format, anthropic,
    fetch::{self, Reads},
    labels,
    layout::Style,
    openai,
    placed::{Span, text_bytes, texts_of},
    text,
    utterance::Utterance,
};
use crate::{
    agent::{Agent, Team, Tool},
    count::{TokenCounter, Tokens},
    entry::Hash,
};

/// The tags around a section of the format `text`.
pub(super) type Frame = (&'static str, &'static str);

/// The sizes of the tags around a section.
#[derive(Clone, Copy, Default)]
pub(super) struct FrameSize {
    pub(super) open: Tokens,
    pub(super) close: Tokens,
}

/// What was written of a group, and its size. Its clones share what was written.
#[derive(Clone, Debug)]
pub(super) struct RenderedPiece {
    pub(super) body: PieceBody,
    pub(super) tokens: Tokens,
    /// The hash of what was written: where it is the same, so is the piece.
    pub(super) hash: Hash,
    /// What each entry says of it.
    pub(super) spans: Arc<[Span]>,
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
                let spans = group.iter().zip(&pieces);
                let spans = spans.map(|(one, piece)| Span::of(one, self.count.count(piece), 0, piece.len()));
                RenderedPiece::text(&pieces.concat(), spans.collect())
            }
            Format::OpenAi => {
                let messages = openai::messages(group, self.agent);
                // What stands for a result that is missing is of the entry that calls.
                let sources = group.iter().chain(group.first().into_iter().cycle());
                let spans = messages.iter().zip(sources).enumerate().map(|(at, (message, source))| {
                    Span::of(source, openai::tokens(message, self.count), at, text_bytes(message))
                });
                let spans = spans.collect();
                RenderedPiece::messages(messages, spans)
            }
            Format::Anthropic => {
                let messages = anthropic::messages(group, self.agent);
                let spans = anthropic::spans(&messages, self.count);
                RenderedPiece::messages(messages.into_iter().map(|(message, _)| message).collect(), spans)
            }
        }
    }

    /// Writes what nobody said and what has a place of its own among what was said. It begins with a tag and ends with
    /// a line end.
    pub(super) fn section(&self, text: &str) -> RenderedPiece {
        match self.format {
            Format::Text => RenderedPiece::text(text, vec![Span::unsaid(self.count.count(text), text.len())]),
            Format::OpenAi => {
                let message = openai::message("user", text.trim_end());
                let span = Span::unsaid(openai::tokens(&message, self.count), text_bytes(&message));
                RenderedPiece::messages(vec![message], vec![span])
            }
            Format::Anthropic => {
                let message = anthropic::unsaid(text.trim_end());
                let span = Span::unsaid(anthropic::tokens(&message, self.count), text_bytes(&message));
                RenderedPiece::messages(vec![message], vec![span])
            }
        }
    }

    /// The size of a group.
    pub(super) fn size(&self, group: &[Utterance]) -> Tokens {
        self.write(group).tokens
    }

    /// The size of the tags around a section.
    pub(super) fn frame(&self, (open, close): Frame) -> FrameSize {
        match self.format {
            Format::Text => FrameSize { open: self.count.count(open), close: self.count.count(close) },
            Format::OpenAi | Format::Anthropic => FrameSize::default(),
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

impl FrameSize {
    /// The size of both.
    pub(super) fn both(self) -> Tokens {
        self.open + self.close
    }
}

impl RenderedPiece {
    fn text(text: &str, spans: Vec<Span>) -> Self {
        let tokens = spans.iter().map(|span| span.tokens).sum();
        Self { tokens, hash: Hash::of(text.as_bytes()), body: PieceBody::Text(text.into()), spans: spans.into() }
    }

    fn messages(messages: Vec<Value>, spans: Vec<Span>) -> Self {
        let hash = Hash::of(&serde_json::to_vec(&messages).unwrap_or_default());
        let tokens = spans.iter().map(|span| span.tokens).sum();
        Self { tokens, hash, body: PieceBody::Messages(messages.into()), spans: spans.into() }
    }

    /// Its text, or that of its first message.
    pub(super) fn only_text(&self) -> &str {
        match &self.body {
            PieceBody::Text(text) => text,
            PieceBody::Messages(messages) => {
                messages.first().and_then(|one| texts_of(one).first().copied()).unwrap_or_default()
            }
        }
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_body = match &self.body {
            PieceBody::Text(text) => text.len(),
            PieceBody::Messages(messages) => messages.iter().map(message_bytes).sum(),
        };
        of_body + size_of_val(&*self.spans)
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
