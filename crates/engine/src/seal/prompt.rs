//! Hiding secrets in finished prompts: what was said before a value was known as a secret is hidden now. Where the pieces of
//! the prompt stand, and how large they are, follows.

use std::{borrow::Cow, ops::Range};

use callboard_core::{
    count::Tokens,
    prompt::{Body, PlacedPiece, Prompt, TEXTS_OF_BLOCKS},
    viewer::Viewer,
};
use serde_json::{Map, Value};

use super::reading::ReadingMask;
use crate::{error::Error, session::Session, sizes::Measure};

impl Session {
    /// Hides secrets in a prompt of `viewer`. It may be larger then: by how much more than its budget, if it is.
    pub(crate) async fn hide_in_prompt(
        &self,
        prompt: &mut Prompt,
        viewer: &Viewer,
        measure: Measure,
    ) -> Result<Tokens, Error> {
        let Some(mask) = self.reading_mask(viewer).await? else { return Ok(Tokens(0)) };
        hide(prompt, &mask, &measure);
        Ok(prompt.tokens.minus(prompt.budget))
    }
}

fn hide(prompt: &mut Prompt, mask: &ReadingMask, measure: &Measure) {
    let mut sizes: Vec<_> = prompt.pieces.iter().map(|piece| piece.tokens).collect();
    let mut rest = prompt.pieces.as_mut_slice();
    let mut hiding = |message: Option<usize>| {
        let length = rest.iter().take_while(|piece| piece.message == message).count();
        let (pieces, behind) = std::mem::take(&mut rest).split_at_mut(length);
        rest = behind;
        let lengths = pieces.iter().map(|_| 0).collect();
        Hiding { mask, measure, pieces, lengths, at: 0 }
    };
    match &mut prompt.body {
        Body::Text(text) => {
            let mut hiding = hiding(None);
            hiding.text(text);
            hiding.finish();
        }
        Body::Messages(messages) => {
            hiding(None).finish();
            for (at, message) in messages.iter_mut().enumerate() {
                let mut hiding = hiding(Some(at));
                hiding.message(message);
                hiding.finish();
            }
        }
        Body::Responses { instructions, input } => {
            let mut above = hiding(None);
            above.text(instructions);
            above.finish();
            for (at, item) in input.iter_mut().enumerate() {
                let mut hiding = hiding(Some(at));
                hiding.message(item);
                hiding.finish();
            }
        }
        Body::Anthropic { system, messages } => {
            let mut above = hiding(None);
            system.iter_mut().for_each(|block| above.block(block));
            above.finish();
            for (at, message) in messages.iter_mut().enumerate() {
                let mut hiding = hiding(Some(at));
                hiding.message(message);
                hiding.finish();
            }
        }
    }
    for (piece, before) in prompt.pieces.iter().zip(sizes.drain(..)).filter(|(piece, before)| piece.tokens != *before) {
        let part = prompt.parts.iter_mut().find(|part| part.name == *piece.part).map(|part| &mut part.tokens);
        part.into_iter().chain([&mut prompt.tokens]).for_each(|size| *size = (*size + piece.tokens).minus(before));
    }
}

/// Hides secrets in one text of a prompt, which stands in one string or in several.
struct Hiding<'a> {
    mask: &'a ReadingMask,
    measure: &'a Measure,
    /// The pieces of the text, in order.
    pieces: &'a mut [PlacedPiece],
    /// How long what is shown of each of them is.
    lengths: Vec<usize>,
    /// How much of the text was looked at.
    at: usize,
}

impl Hiding<'_> {
    /// Looks at the next string of the text.
    fn text(&mut self, text: &mut String) {
        let string = self.at..self.at + text.len();
        self.at = string.end;
        let values = self.mask.values_in(text);
        // A value that stands in two pieces is shown as one, in the second of them.
        let within = |at: usize| {
            let at = at.clamp(string.start, string.end) - string.start;
            values.iter().find(|value| value.start < at && at < value.end).map_or(at, |value| value.start)
        };
        let first = self.pieces.partition_point(|piece| piece.bytes.end <= string.start);
        let mut hidden = String::new();
        for (piece, length) in self.pieces.iter_mut().zip(&mut self.lengths).skip(first) {
            if piece.bytes.start >= string.end {
                break;
            }
            let shown = text.get(within(piece.bytes.start)..within(piece.bytes.end)).unwrap_or_default();
            let masked = self.mask.hide(shown);
            if let Cow::Owned(masked) = &masked {
                piece.tokens = (piece.tokens + self.measure.count(masked)).minus(self.measure.count(shown));
            }
            *length += masked.len();
            hidden.push_str(&masked);
        }
        *text = hidden;
    }

    fn message(&mut self, message: &mut Value) {
        let Value::Object(fields) = message else { return };
        for (name, value) in fields.iter_mut() {
            match value {
                Value::String(text) if name == "content" || name == "output" => self.text(text),
                Value::Array(blocks) if name == "content" => blocks.iter_mut().for_each(|block| self.block(block)),
                value => self.beside(value),
            }
        }
    }

    fn block(&mut self, block: &mut Value) {
        let Value::Object(fields) = block else { return };
        for (name, value) in fields.iter_mut() {
            match value {
                Value::String(text) if TEXTS_OF_BLOCKS.contains(&name.as_str()) => self.text(text),
                value => self.beside(value),
            }
        }
    }

    /// Hides secrets in what stands beside the text, such as the arguments of calls: it is of the piece at hand.
    fn beside(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.mask.hide(text) {
                    let last = self.pieces.partition_point(|piece| piece.bytes.start <= self.at);
                    if let Some(piece) = last.checked_sub(1).and_then(|last| self.pieces.get_mut(last)) {
                        piece.tokens = (piece.tokens + self.measure.count(&hidden)).minus(self.measure.count(text));
                    }
                    *text = hidden;
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|inner| self.beside(inner)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|inner| self.beside(inner));
                self.rename(fields);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Keys are those of arguments of tools.
    fn rename(&self, fields: &mut Map<String, Value>) {
        self.mask.hide_keys(fields);
    }

    /// Says where the pieces stand now.
    fn finish(self) {
        let mut at = 0;
        for (piece, length) in self.pieces.iter_mut().zip(self.lengths) {
            piece.bytes = Range { start: at, end: at + length };
            at += length;
        }
    }
}
