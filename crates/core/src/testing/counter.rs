//! Counters for tests.

use crate::count::{TokenCounter, Tokens};

/// Counts words, and every other character that is not a space, as one token each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl TokenCounter for Words {
    fn vocabulary(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> Tokens {
        let mut tokens = 0;
        let mut in_word = false;
        for c in text.chars() {
            let word = c.is_alphanumeric();
            tokens += u64::from(if word { !in_word } else { c != ' ' });
            in_word = word;
        }
        Tokens(tokens)
    }
}

/// Counts as hard to foresee as a real vocabulary does: a longer text may have fewer tokens, and a character more or
/// less changes what is before it. Like every real one it splits where a line ends and something other than white space
/// or `/` begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pieces;

impl TokenCounter for Pieces {
    fn vocabulary(&self) -> &'static str {
        "pieces"
    }

    fn count(&self, text: &str) -> Tokens {
        let mut rest = text;
        let mut tokens = 0;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(first_piece(rest));
            tokens += cost(piece);
            rest = behind;
        }
        Tokens(tokens)
    }
}

/// Where the first piece of `text` ends: a word with the space before it, punctuation with the line ends after it, or
/// white space.
fn first_piece(text: &str) -> usize {
    let end = |from: usize, belongs: fn(char) -> bool| {
        text.get(from..).and_then(|rest| rest.find(|c| !belongs(c))).map_or(text.len(), |at| from + at)
    };
    let start = usize::from(text.starts_with(' '));
    match text.chars().nth(start) {
        Some(c) if c.is_alphanumeric() => end(start, char::is_alphanumeric),
        Some(c) if !c.is_whitespace() => {
            let mark = end(start, |c| !c.is_alphanumeric() && !c.is_whitespace());
            end(mark, |c| matches!(c, '\n' | '\r' | '/'))
        }
        _ => end(0, char::is_whitespace),
    }
}

/// One token where the piece is in a vocabulary that only a hash knows; else one for every three bytes begun.
fn cost(piece: &str) -> u64 {
    let hash = piece.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    if hash % 3 == 0 || piece.len() < 3 { 1 } else { piece.len().div_ceil(3) as u64 }
}
