//! Putting a prompt together from what was written.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use callboard_core::{count::Tokens, prompt::Format};

use crate::{
    Body, anthropic,
    call_ids::IdForm,
    media, openai,
    pieces::PromptPieces,
    placed::{Around, Joined, PlacedPiece, Span},
    provider::Provider,
    rendered::{Frame, PieceBody, RenderedPiece},
    renderer::Renderer,
    responses, strict,
    tool_names::ToolNames,
};

/// A prompt in the making.
pub(super) struct Assembly<'a> {
    /// In what form it is, and for whom.
    by: Renderer<'a>,
    text: String,
    messages: Vec<Value>,
    pieces: PromptPieces,
    /// The part that is being added.
    part: Arc<str>,
    placed: Vec<PlacedPiece>,
    /// Up to where the next prompt of the same reader may well begin with the same: bytes of text, and messages.
    marks: Vec<(usize, usize)>,
}

/// A prompt as it was put together.
pub(super) struct Assembled {
    pub(super) body: Body,
    pub(super) pieces: PromptPieces,
    /// Where its pieces stand, in the order in which their parts were added.
    pub(super) placed: Vec<PlacedPiece>,
    /// What tools are called in it that have another name, with that.
    pub(super) renamed: BTreeMap<String, String>,
    /// What stands around all that was said.
    pub(super) around: Around,
}

impl<'a> Assembly<'a> {
    /// A prompt with nothing in it.
    pub(super) fn new(by: Renderer<'a>) -> Self {
        Self {
            by,
            text: String::new(),
            messages: Vec::new(),
            pieces: PromptPieces::new(by.format),
            part: "".into(),
            placed: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Says to which part it belongs what is added from now on.
    pub(super) fn begin(&mut self, part: &str) {
        self.part = part.into();
    }

    /// Notes what a model reads before all else and what is not in its messages.
    pub(super) fn beside(&mut self, what: &str, tokens: Tokens) {
        self.pieces.put_first(what, tokens);
        self.place(&Span::unsaid(tokens, 0), None, 0);
    }

    /// Adds what was said, in tags where the format is text. Its size; nothing has none.
    pub(super) fn section(&mut self, frame: Frame, shown: &[RenderedPiece]) -> Tokens {
        if shown.is_empty() {
            return Tokens(0);
        }
        let Frame { open: (open, open_tokens), close: (close, close_tokens) } = frame;
        self.pieces.add(open, Tokens(0));
        self.put_text(open, &[Span::unsaid(open_tokens, open.len())]);
        // A long history is moved once.
        let texts = shown.iter().filter_map(|written| match &written.body {
            PieceBody::Text(text) => Some(text.len()),
            PieceBody::Messages(_) => None,
        });
        self.text.reserve(texts.sum());
        shown.iter().for_each(|written| self.add(written));
        self.pieces.add(close, frame.tokens());
        self.put_text(close, &[Span::unsaid(close_tokens, close.len())]);
        frame.tokens() + shown.iter().map(|written| written.tokens).sum()
    }

    /// Adds what was written.
    pub(super) fn add(&mut self, written: &RenderedPiece) {
        self.pieces.push(written.hash, written.tokens);
        match &written.body {
            PieceBody::Text(text) => self.put_text(text, &written.spans),
            PieceBody::Messages(messages) => {
                let (begin, mut bytes) = (self.messages.len(), (0, 0));
                self.messages.extend_from_slice(messages);
                for span in &*written.spans {
                    let at = if bytes.0 == span.message { bytes.1 } else { 0 };
                    self.place(span, Some(begin + span.message), at);
                    bytes = (span.message, at + span.bytes);
                }
            }
        }
    }

    /// Says that what was added so far changes less often than what follows.
    pub(super) fn mark(&mut self) {
        let here = (self.text.len(), self.messages.len());
        if here != (0, 0) && self.marks.last() != Some(&here) {
            self.marks.push(here);
        }
    }

    fn put_text(&mut self, text: &str, spans: &[Span]) {
        let mut at = self.text.len();
        self.text.push_str(text);
        for span in spans.iter().filter(|span| span.bytes > 0) {
            self.place(span, None, at);
            at += span.bytes;
        }
    }

    fn place(&mut self, span: &Span, message: Option<usize>, at: usize) {
        let Span { seq, tokens, shortened, bytes, .. } = *span;
        self.placed.push(PlacedPiece {
            part: self.part.clone(),
            seq,
            tokens,
            shortened,
            message,
            bytes: at..at + bytes,
        });
    }

    /// What the model gets, and the pieces of it.
    pub(super) fn finish(mut self) -> Assembled {
        media::settle(&mut self.messages);
        let has_system = !self.text.is_empty();
        let names = self.tool_names();
        let (pieces, mut placed) = (self.pieces, self.placed);
        let (body, joined) = match self.by.format {
            Format::Text => (Body::Text(self.text), Joined::default()),
            Format::OpenAi => {
                let (mut messages, joined) = chat(self.messages, self.by.provider, &names, has_system);
                if self.by.signs_calls {
                    openai::sign_calls(&mut messages);
                }
                if has_system {
                    messages.insert(0, openai::message("system", &self.text));
                }
                (Body::Messages(messages), joined)
            }
            Format::Responses => {
                let (messages, joined) = chat(self.messages, self.by.provider, &names, false);
                let (body, items) = responses::body(self.text, messages);
                (body, joined.then(&items))
            }
            Format::Anthropic => {
                let mut messages = self.messages;
                anthropic::settle(&mut messages, &names);
                anthropic::body(&self.text, messages, &self.marks)
            }
        };
        let around = Around { has_system, ..joined.around };
        joined.place(&mut placed);
        if has_system && self.by.format == Format::OpenAi {
            placed.iter_mut().for_each(put_behind_system);
        }
        Assembled { body, pieces, placed, renamed: names.renamed(), around }
    }

    /// What tools are called in it.
    fn tool_names(&self) -> ToolNames {
        let Renderer { format, provider, offered, .. } = self.by;
        let offered = offered.iter().map(|tool| tool.name.as_str());
        match format {
            Format::Anthropic => ToolNames::new(format, provider, offered, anthropic::called(&self.messages)),
            Format::Text | Format::OpenAi | Format::Responses => {
                ToolNames::new(format, provider, offered, openai::called(&self.messages))
            }
        }
    }
}

/// Messages as chat completions of a provider take them, but for that of the system. Without any there is one that nobody said,
/// unless that of the system `is_enough`.
fn chat(mut messages: Vec<Value>, provider: Provider, names: &ToolNames, is_enough: bool) -> (Vec<Value>, Joined) {
    openai::settle(&mut messages, IdForm::of(provider), names);
    if provider.is_strict() {
        return strict::in_turn(messages, provider);
    }
    let mut joined = Joined::default();
    if messages.is_empty() && !is_enough {
        joined.close(0, openai::CLOSING);
        messages.push(openai::message("user", openai::CLOSING));
    }
    (messages, joined)
}

/// The text before all that was said is a message of its own.
fn put_behind_system(piece: &mut PlacedPiece) {
    piece.message = match piece.message {
        Some(at) => Some(at + 1),
        None => Some(0).filter(|_| !piece.bytes.is_empty()),
    };
}
