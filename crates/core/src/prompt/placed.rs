//! Where the pieces of a prompt stand in it, and which entry each of them came from: for people who want to know why a
//! prompt says what it says.

use std::{ops::Range, sync::Arc};

use serde_json::Value;

use super::{Body, utterance::Utterance};
use crate::{count::Tokens, id::Seq};

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
            (Self::Anthropic { system, .. }, None) => system.iter().filter_map(block_text).collect(),
            (Self::Messages(messages) | Self::Anthropic { messages, .. }, Some(at)) => {
                messages.get(at).map(texts_of).unwrap_or_default()
            }
            (Self::Text(_), Some(_)) | (Self::Messages(_), None) => Vec::new(),
        }
    }
}

/// The texts of a message.
pub(super) fn texts_of(message: &Value) -> Vec<&str> {
    match message.get("content") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(block_text).collect(),
        _ => Vec::new(),
    }
}

/// The text of a block; calls of tools and thoughts have none.
pub(super) fn block_text(block: &Value) -> Option<&str> {
    TEXTS_OF_BLOCKS.iter().find_map(|field| block.get(*field)).and_then(Value::as_str)
}

/// The fields in which a block has its text: one of them.
pub const TEXTS_OF_BLOCKS: [&str; 2] = ["text", "content"];

/// How long the text of a message is.
pub(super) fn text_bytes(message: &Value) -> usize {
    texts_of(message).iter().map(|text| text.len()).sum()
}
