//! Masking a text that comes in pieces.

use std::sync::Arc;

use crate::seal::mask::Mask;

/// Masks a text piece by piece: whatever the pieces, together they give what the whole text would. It holds back only what
/// may be the beginning of a known value.
#[derive(Debug)]
pub struct MaskedStream {
    mask: Arc<Mask>,
    held: String,
}

impl MaskedStream {
    /// The beginning of a text.
    pub fn new(mask: Arc<Mask>) -> Self {
        Self { mask, held: String::new() }
    }

    /// Goes on with the secrets that are known by now.
    pub fn renew(&mut self, mask: Arc<Mask>) {
        self.mask = mask;
    }

    /// Takes the next piece, and gives what can be shown by now. It may be empty.
    pub fn push(&mut self, piece: &str) -> String {
        if self.mask.is_empty() {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let from = self.mask.begins(&self.held);
        // A value that is found may be a part of a longer one that is not whole yet.
        let open = self.mask.found(&self.held).into_iter().find(|found| found.end > from);
        let end = open.map_or(from, |found| found.start.min(from));
        let rest = self.held.split_off(end);
        let ready = std::mem::replace(&mut self.held, rest);
        self.mask.mask(&ready).unwrap_or(ready)
    }

    /// What was held back, once there is no more to come.
    pub fn finish(mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.mask.mask(&held).unwrap_or(held)
    }
}
