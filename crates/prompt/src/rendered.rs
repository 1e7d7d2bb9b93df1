//! Writing what was said in one format, and counting it.

use std::sync::Arc;

use serde_json::Value;

pub(super) use crate::renderer::Renderer;
use callboard_core::{
    count::Tokens,
    entry::Hash,
    json::text_of,
    prompt::{Format, Style},
};

use crate::{
    anthropic, labels, openai,
    placed::{Around, Span, text_bytes, texts_of},
    strict, text,
    utterance::Utterance,
};

/// The tags around a section, with their sizes. Only the format `text` has any.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    pub(super) open: (&'static str, Tokens),
    pub(super) close: (&'static str, Tokens),
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

impl Renderer<'_> {
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
            Format::OpenAi | Format::Responses => {
                let messages = openai::messages(group, self);
                let spans = messages.iter().enumerate().map(|(at, (message, source))| {
                    Span::of(source, self.chat_tokens(message), at, text_bytes(message))
                });
                let spans = spans.collect();
                RenderedPiece::messages(messages.into_iter().map(|(message, _)| message).collect(), spans)
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
            Format::OpenAi | Format::Responses => {
                let message = openai::message("user", text.trim_end());
                let span = Span::unsaid(self.chat_tokens(&message), text_bytes(&message));
                RenderedPiece::messages(vec![message], vec![span])
            }
            Format::Anthropic => {
                let message = anthropic::unsaid(text.trim_end());
                let span = Span::unsaid(anthropic::tokens(&message, self.count), text_bytes(&message));
                RenderedPiece::messages(vec![message], vec![span])
            }
        }
    }

    /// What a message of a chat completion costs, with what may be put between it and the one before, and beside its calls.
    fn chat_tokens(&self, message: &Value) -> Tokens {
        let is_bare = message.get(openai::IS_BARE).is_some();
        let between = if is_bare { self.count.count(strict::BETWEEN_AND_USER) } else { Tokens(0) };
        let signature = match self.signs_calls && openai::is_unsigned(message) {
            true => self.count.count(&openai::no_signature().to_string()),
            false => Tokens(0),
        };
        openai::tokens(message, self.count) + between + signature
    }

    /// The size of a group.
    pub(super) fn size(&self, group: &[Utterance]) -> Tokens {
        self.write(group).tokens
    }

    /// These tags around a section.
    pub(super) fn frame(&self, open: &'static str, close: &'static str) -> Frame {
        match self.format {
            Format::Text => Frame { open: (open, self.count.count(open)), close: (close, self.count.count(close)) },
            Format::OpenAi | Format::Responses | Format::Anthropic => Frame::default(),
        }
    }

    /// What the messages around the content cost at the most: that of the system, those that open and close the strict form, and
    /// the start of the answer. A text has none.
    pub(super) fn envelope(&self) -> Tokens {
        let most =
            Around { has_system: true, is_opened: self.provider.is_strict(), is_closed: self.provider.is_strict() };
        self.envelope_of(most)
    }

    /// What they cost in a prompt that has these around it.
    pub(super) fn envelope_of(&self, around: Around) -> Tokens {
        match self.format {
            Format::Text => Tokens(0),
            Format::OpenAi | Format::Responses => {
                let cost = |is_there: bool, role: &str, words: &str| match is_there {
                    true => openai::tokens(&openai::message(role, words), self.count),
                    false => Tokens(0),
                };
                cost(around.has_system, "system", "")
                    + cost(around.is_opened, "user", strict::OPENING)
                    + cost(around.is_closed, "user", openai::CLOSING)
                    + openai::ANSWER
            }
            // What is allowed for Anthropic is generous in any case.
            Format::Anthropic => anthropic::envelope(self.count),
        }
    }

    /// What the tools that are offered cost where they stand beside the prompt. A text has none.
    pub(super) fn tools(&self) -> Tokens {
        match self.format {
            Format::Text => Tokens(0),
            Format::OpenAi | Format::Responses => openai::tools(self.offered, self.count),
            Format::Anthropic => anthropic::tools(self.offered, self.count),
        }
    }
}

impl Frame {
    /// The size of both.
    pub(super) fn tokens(self) -> Tokens {
        self.open.1 + self.close.1
    }
}

impl RenderedPiece {
    /// A text, which every format has.
    pub(super) fn text(text: &str, spans: Vec<Span>) -> Self {
        let tokens = spans.iter().map(|span| span.tokens).sum();
        Self { tokens, hash: Hash::of(text.as_bytes()), body: PieceBody::Text(text.into()), spans: spans.into() }
    }

    fn messages(messages: Vec<Value>, spans: Vec<Span>) -> Self {
        let hash = Hash::of(text_of(&messages).as_bytes());
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
