//! Putting a prompt together from what was written.

use serde_json::Value;

use super::{
    Body, Format, anthropic, openai,
    pieces::Pieces,
    rendered::{Frame, PieceBody, RenderedPiece},
};
use crate::count::Tokens;

/// A prompt in the making.
pub(super) struct Assembly {
    format: Format,
    text: String,
    messages: Vec<Value>,
    pieces: Pieces,
    /// Up to where the next prompt of the same reader may well begin with the same: bytes of text, and messages.
    marks: Vec<(usize, usize)>,
}

impl Assembly {
    /// A prompt with nothing in it.
    pub(super) fn new(format: Format) -> Self {
        let (text, messages, marks) = Default::default();
        Self { format, text, messages, pieces: Pieces::new(format), marks }
    }

    /// Notes what a model reads before all else and what is not in its messages.
    pub(super) fn beside(&mut self, what: &str, tokens: Tokens) {
        self.pieces.put_first(what, tokens);
    }

    /// Adds to what every format has as text.
    pub(super) fn text(&mut self, text: &str, tokens: Tokens) {
        self.text.push_str(text);
        self.pieces.add(text, tokens);
    }

    /// Adds what was said, in tags where the format is text. Its size; nothing has none.
    pub(super) fn section(&mut self, frame: Frame, frame_tokens: Tokens, shown: &[RenderedPiece]) -> Tokens {
        if shown.is_empty() {
            return Tokens(0);
        }
        let tag = |tag: &'static str| if self.format == Format::Text { tag } else { "" };
        let (open, close) = (tag(frame.0), tag(frame.1));
        self.reserve(shown.iter().map(|written| &written.body), open.len() + close.len());
        self.text.push_str(open);
        self.pieces.add(open, Tokens(0));
        shown.iter().for_each(|written| self.add(written));
        self.text.push_str(close);
        self.pieces.add(close, frame_tokens);
        frame_tokens + shown.iter().map(|written| written.tokens).sum()
    }

    /// Adds what was written.
    pub(super) fn add(&mut self, written: &RenderedPiece) {
        self.pieces.push(written.hash, written.tokens);
        match &written.body {
            PieceBody::Text(text) => self.text.push_str(text),
            PieceBody::Messages(messages) => self.messages.extend_from_slice(messages),
        }
    }

    /// Says that what was added so far changes less often than what follows.
    pub(super) fn mark(&mut self) {
        let here = (self.text.len(), self.messages.len());
        if here != (0, 0) && self.marks.last() != Some(&here) {
            self.marks.push(here);
        }
    }

    /// How many bytes of text it has so far.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Whether anything stands before what was said.
    pub(super) fn has_system(&self) -> bool {
        !self.text.is_empty()
    }

    /// Makes room, so that a long history is moved once.
    fn reserve<'a>(&mut self, forms: impl Iterator<Item = &'a PieceBody>, more: usize) {
        let (mut bytes, mut messages) = (more, 1);
        for form in forms {
            match form {
                PieceBody::Text(text) => bytes += text.len(),
                PieceBody::Messages(written) => messages += written.len(),
            }
        }
        self.text.reserve(bytes);
        self.messages.reserve(messages);
    }

    /// What the model gets, and the pieces of it.
    pub(super) fn finish(mut self) -> (Body, Pieces) {
        let body = match self.format {
            Format::Text => Body::Text(self.text),
            Format::OpenAi => {
                if self.has_system() {
                    self.messages.insert(0, openai::message("system", &self.text));
                }
                Body::Messages(self.messages)
            }
            Format::Anthropic => anthropic::body(&self.text, self.messages, &self.marks),
        };
        (body, self.pieces)
    }
}
