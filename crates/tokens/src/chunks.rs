//! Cuts a text into chunks whose counts add up to the count of the text.
//!
//! A vocabulary's pattern first splits a text into words, marks and white space, and merges bytes within these only. The
//! implementation of that pattern reads the rest of the text once for each no-break space and its like (and, for
//! `deepseek_v3`, for most characters beyond ASCII), so a long text would take time by the square of its length: two
//! minutes for 1 MB. In chunks of 1 KiB the rest is short. They are cut only where every pattern splits:
//!
//! - before white space other than a line end, if there is none before it: nothing goes on from a word into a space;
//! - after the last line end of a stretch of white space, unless `/` follows at once: `o200k_base` and `tekken` take
//!   line ends and slashes after punctuation for one mark.

/// Chunks are at most this long, in bytes, where the text has a place to cut.
const CHUNK_BYTES: usize = 1 << 10;

/// Where cutting is needed to bound the time, and the text has no place for it, it is cut about here, in bytes.
const LONGEST_BYTES: usize = 8 << 10;

/// What a vocabulary splits off before its pattern is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolates {
    Nothing,
    /// Stretches of Chinese characters and kana.
    Cjk,
}

/// The chunks of a text, in order. Together they are the text.
pub(crate) struct Chunks<'a> {
    rest: &'a str,
    isolates: Isolates,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(text: &'a str, isolates: Isolates) -> Self {
        Self { rest: text, isolates }
    }

    /// The length of the next chunk: up to the last place to cut within the first KiB, or else up to the first behind it.
    fn length(&self) -> usize {
        if self.rest.len() <= CHUNK_BYTES {
            return self.rest.len();
        }
        let within = (1..=CHUNK_BYTES).rev().find(|&at| self.splits_at(at));
        let behind = || (CHUNK_BYTES..self.rest.len()).find(|&at| self.splits_at(at) || self.must_cut_at(at));
        within.or_else(behind).unwrap_or(self.rest.len())
    }

    /// Whether every way to split the text has a split `at` this byte.
    fn splits_at(&self, at: usize) -> bool {
        let Some((before, after)) = self.rest.split_at_checked(at) else { return false };
        let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return false };
        match (last.is_whitespace(), next.is_whitespace()) {
            (false, true) => !is_line_end(next) || self.isolates(last, next),
            (false, false) => self.isolates(last, next),
            (true, false) => is_line_end(last) && next != '/',
            (true, true) => is_line_end(last) && !after.trim_start_matches(is_blank).starts_with(is_line_end),
        }
    }

    fn isolates(&self, last: char, next: char) -> bool {
        self.isolates == Isolates::Cjk && is_cjk(last) != is_cjk(next)
    }

    /// Whether to cut although the vocabulary may not split here: the time would grow by the square otherwise.
    fn must_cut_at(&self, at: usize) -> bool {
        let next = self.rest.split_at_checked(at).and_then(|(_, after)| after.chars().next());
        let costly = |next: char| !next.is_ascii_graphic() && !next.is_whitespace();
        self.isolates == Isolates::Cjk && at >= LONGEST_BYTES && next.is_some_and(costly)
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (chunk, rest) = self.rest.split_at_checked(self.length())?;
        self.rest = rest;
        (!chunk.is_empty()).then_some(chunk)
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && !is_line_end(c)
}

/// The characters that `deepseek_v3` isolates.
fn is_cjk(c: char) -> bool {
    matches!(c, '一'..='龥' | '\u{3040}'..='\u{30ff}')
}

#[cfg(test)]
mod tests;
