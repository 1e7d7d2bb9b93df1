//! Where the pieces of a prompt stand in it, and which entry each of them came from: for people who want to know why a
//! prompt says what it says.

use std::{ops::Range, sync::Arc};

use serde_json::Value;

use callboard_core::{count::Tokens, id::Seq};

use crate::{Body, utterance::Utterance};

/// What stands around all that was said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    /// Whether anything stands before what was said.
    pub(super) has_system: bool,
    /// Whether it was opened with a message that nobody said.
    pub(super) is_opened: bool,
    /// Whether it was closed with one.
    pub(super) is_closed: bool,
}

/// A piece of a prompt: what one entry says in it, or what stands around that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPiece {
    /// The part that it belongs to.
    pub part: Arc<str>,
    /// The entry that it came from, where it is a single one.
    pub seq: Option<Seq>,
    /// Its size.
    pub tokens: Tokens,
    /// Whether something in it was shortened or left out.
    pub shortened: bool,
    /// The message in whose text it stands; none in the format `text`, and where it stands before all messages.
    pub message: Option<usize>,
    /// Where it stands in that text, in bytes; a call of a tool takes none. The pieces of a text follow on each other.
    pub bytes: Range<usize>,
}

/// The name of the part that says what the messages around the content cost.
pub(super) const AROUND: &str = "format";

/// Where messages stand among those that they were joined to, or in what else a format makes of them.
#[derive(Default)]
pub(super) struct Joined {
    /// For each message: in which it stands, and behind how many bytes of text.
    pub(super) places: Vec<(usize, usize)>,
    /// What nobody said: in which message it stands, and where in its text.
    pub(super) unsaid: Vec<(usize, Range<usize>)>,
    /// Whether a message that nobody said opens or closes them.
    pub(super) around: Around,
}

impl Joined {
    /// Notes what nobody said.
    pub(super) fn add_unsaid(&mut self, message: usize, bytes: Range<usize>) {
        self.unsaid.push((message, bytes));
    }

    /// Notes the message that opens them.
    pub(super) fn open(&mut self, words: &str) {
        self.around.is_opened = true;
        self.add_unsaid(0, 0..words.len());
    }

    /// Notes the message `at`, which closes them.
    pub(super) fn close(&mut self, at: usize, words: &str) {
        self.around.is_closed = true;
        self.add_unsaid(at, 0..words.len());
    }

    /// Where messages stand once others are made of those that they were joined to.
    pub(super) fn then(self, made: &Self) -> Self {
        let moved = |at: usize| made.places.get(at).map_or(at, |(made, _)| *made);
        let unsaid = self.unsaid.into_iter().map(|(at, bytes)| (moved(at), bytes)).collect();
        let places = match self.places.is_empty() {
            true => made.places.clone(),
            false => self.places.into_iter().map(|(at, before)| (moved(at), before)).collect(),
        };
        Self { places, unsaid, ..self }
    }

    /// Moves pieces to where their messages stand, and adds what nobody said. It is allowed for with what stands around all that
    /// was said.
    pub(super) fn place(self, placed: &mut Vec<PlacedPiece>) {
        for piece in placed.iter_mut() {
            if let Some((message, before)) = piece.message.and_then(|at| self.places.get(at)) {
                piece.message = Some(*message);
                piece.bytes = piece.bytes.start + before..piece.bytes.end + before;
            }
        }
        placed.extend(self.unsaid.into_iter().map(|(message, bytes)| PlacedPiece {
            part: AROUND.into(),
            tokens: Tokens(0),
            seq: None,
            shortened: false,
            message: Some(message),
            bytes,
        }));
    }
}

/// A piece before it is put into a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) seq: Option<Seq>,
    pub(super) tokens: Tokens,
    pub(super) shortened: bool,
    /// In which of the messages that were written together it stands.
    pub(super) message: usize,
    /// How much of their text it is.
    pub(super) bytes: usize,
}

impl Span {
    /// What no entry says.
    pub(super) fn unsaid(tokens: Tokens, bytes: usize) -> Self {
        Self { tokens, bytes, ..Self::default() }
    }

    /// What an utterance says.
    pub(super) fn of(utterance: &Utterance, tokens: Tokens, message: usize, bytes: usize) -> Self {
        let seq = Some(utterance.seq).filter(|seq| !seq.is_zero());
        Self { seq, tokens, shortened: utterance.shortened, message, bytes }
    }
}

impl Body {
    /// The texts of a message, one behind another: its content, or the texts and results that are its blocks. Without a
    /// message, those that stand before all messages. In them the pieces of the prompt stand.
    pub fn texts(&self, message: Option<usize>) -> Vec<&str> {
        match (self, message) {
            (Self::Text(text), None) => vec![text],
            (Self::Responses { instructions, .. }, None) => vec![instructions],
            (Self::Responses { input, .. }, Some(at)) => input.get(at).map(texts_of).unwrap_or_default(),
            (Self::Anthropic { system, .. }, None) => system.iter().flat_map(block_texts).collect(),
            (Self::Messages(messages) | Self::Anthropic { messages, .. }, Some(at)) => {
                messages.get(at).map(texts_of).unwrap_or_default()
            }
            (Self::Text(_), Some(_)) | (Self::Messages(_), None) => Vec::new(),
        }
    }
}

/// The texts of a message.
pub(super) fn texts_of(message: &Value) -> Vec<&str> {
    match message.get("content").or_else(|| message.get("output")) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(blocks)) => blocks.iter().flat_map(block_texts).collect(),
        _ => Vec::new(),
    }
}

/// The texts of a block: one, or those of the parts of a result. Calls of tools, thoughts and pictures have none.
fn block_texts(block: &Value) -> Vec<&str> {
    match TEXTS_OF_BLOCKS.iter().find_map(|field| block.get(*field)) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// How long the texts of a block are.
pub(super) fn block_bytes(block: &Value) -> usize {
    block_texts(block).iter().map(|text| text.len()).sum()
}

/// The fields in which a block has its text: one of them.
pub const TEXTS_OF_BLOCKS: [&str; 2] = ["text", "content"];

/// How long the text of a message is.
pub(super) fn text_bytes(message: &Value) -> usize {
    texts_of(message).iter().map(|text| text.len()).sum()
}
