//! Cuts a text into chunks whose counts add up to the count of the text.
//!
//! A vocabulary first splits a text by a pattern into words, punctuation and white space, and merges bytes only within
//! these. For each no-break space or similar character (and, in `deepseek_v3`, for most characters that are not ASCII), the
//! implementation of the pattern reads the rest of the text. So a long text would take quadratic time: two minutes for 1 MB.
//! In chunks of 1 KiB the rest is short. The text is cut only where every pattern splits:
//!
//! - before white space other than a line end, if no white space precedes it;
//! - after the last line end in a run of white space, unless `/` follows at once: `o200k_base` and `tekken` keep line ends
//!   and slashes after punctuation together.

/// The most bytes of a chunk, if the text can be cut there.
const CHUNK_BYTES: usize = 1 << 10;

/// If the text cannot be cut without changing counts, it is cut after about so many bytes where the time would be quadratic.
const LONGEST_BYTES: usize = 8 << 10;

/// What a vocabulary splits off before its pattern is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolates {
    Nothing,
    /// Runs of Chinese characters and kana.
    Cjk,
}

/// The chunks of a text, in order. Joined they are the text.
pub(crate) struct Chunks<'a> {
    rest: &'a str,
    isolates: Isolates,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(text: &'a str, isolates: Isolates) -> Self {
        Self { rest: text, isolates }
    }

    /// The length of the next chunk: up to the last possible cut within the first KiB, else up to the first one after it.
    fn length(&self) -> usize {
        if self.rest.len() <= CHUNK_BYTES {
            return self.rest.len();
        }
        let within = (1..=CHUNK_BYTES).rev().find(|&at| self.splits_at(at));
        let behind = || (CHUNK_BYTES..self.rest.len()).find(|&at| self.splits_at(at) || self.must_cut_at(at));
        within.or_else(behind).unwrap_or(self.rest.len())
    }

    /// Whether every pattern splits the text `at` this byte.
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

    /// Whether to cut although the vocabulary may not split here, since the time would be quadratic otherwise.
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
