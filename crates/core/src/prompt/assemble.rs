//! Putting a prompt together from what was written.

use serde_json::Value;

use super::{
    Body, Format, anthropic, openai,
    written::{Form, Frame, Written},
};
use crate::count::Tokens;

/// A prompt in the making.
pub(super) struct Assembly {
    format: Format,
    text: String,
    messages: Vec<Value>,
    /// Up to where the next prompt of the same reader may well begin with the same: bytes of text, and messages.
    marks: Vec<(usize, usize)>,
}

impl Assembly {
    /// A prompt with nothing in it.
    pub(super) fn new(format: Format) -> Self {
        Self { format, text: String::new(), messages: Vec::new(), marks: Vec::new() }
    }

    /// Adds to what every format has as text.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds what was said, in tags where the format is text. Its size; nothing has none.
    pub(super) fn section(&mut self, frame: Frame, frame_tokens: Tokens, written: Vec<Written>) -> Tokens {
        if written.is_empty() {
            return Tokens(0);
        }
        let mut tokens = frame_tokens;
        let tag = |tag: &str| if self.format == Format::Text { tag.to_owned() } else { String::new() };
        let (open, close) = (tag(frame.0), tag(frame.1));
        self.text.push_str(&open);
        for Written { form, tokens: size } in written {
            tokens += size;
            match form {
                Form::Text(text) => self.text.push_str(&text),
                Form::Messages(messages) => self.messages.extend(messages),
            }
        }
        self.text.push_str(&close);
        tokens
    }

    /// Says that what was added so far changes less often than what follows.
    pub(super) fn mark(&mut self) {
        let here = (self.text.len(), self.messages.len());
        if here != (0, 0) && self.marks.last() != Some(&here) {
            self.marks.push(here);
        }
    }

    /// What the model gets.
    pub(super) fn finish(self) -> Body {
        match self.format {
            Format::Text => Body::Text(self.text),
            Format::OpenAi => {
                let system = openai::message("system", &self.text);
                Body::Messages(std::iter::once(system).chain(self.messages).collect())
            }
            Format::Anthropic => anthropic::body(&self.text, self.messages, &self.marks),
        }
    }
}
