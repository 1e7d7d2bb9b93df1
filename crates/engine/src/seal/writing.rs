//! Writing a value in one way, piece by piece: a long one is never written as a whole.

use std::ops::ControlFlow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

/// One way to write a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing {
    pub(super) newlines: Newlines,
    pub(super) how: How,
}

/// How lines end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Newlines {
    Kept,
    LineFeeds,
    /// A carriage return before each line feed.
    Pairs,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Plain,
    Json(Json),
    /// As in an address: all but letters, digits and `kept` as bytes, with `+` for blanks or without.
    Url {
        kept: &'static str,
        upper: bool,
        plus: bool,
    },
    /// The middle of its base64 behind so many other bytes: what is made of bits of the value alone.
    Base64 {
        before: usize,
        url: bool,
    },
}

/// What an encoder of JSON escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Json {
    /// Characters that need not be escaped, and are: `/` with a backslash, the others with digits.
    pub(super) escaped: &'static str,
    pub(super) beyond: Beyond,
    /// Digits above 9 are capital letters.
    pub(super) upper: bool,
    /// How often the result is escaped once more.
    pub(super) more: u8,
    /// Whether slashes are escaped then, too.
    pub(super) slashes: bool,
}

/// What becomes of characters beyond ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    Kept,
    /// The separators of lines and paragraphs are escaped, which end lines in old JavaScript.
    LineEndsEscaped,
    Escaped,
    /// The last one of ASCII, which is no printed one, is escaped too.
    EscapedWithDelete,
}

/// Takes the pieces. It may have enough.
type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> ControlFlow<()>;

const LETTERS_AND_DIGITS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// How many bytes are written as base64 at once: any multiple of three.
const AT_ONCE: usize = 3 * 1024;

impl Writing {
    /// Writes `value` in this way.
    pub(crate) fn write(&self, value: &str, sink: Sink<'_>) -> ControlFlow<()> {
        if let How::Base64 { before, url } = self.how {
            return self.base64(value, before, url, sink);
        }
        let escapes = Escapes::new(self.how);
        self.lines(value, &mut |text| escapes.write(text, sink))
    }

    /// The beginning of what is written, of at most `most` bytes, and whether it is all of it.
    pub(crate) fn beginning(&self, value: &str, most: usize) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let whole = self.write(value, &mut |piece| {
            let room = most - bytes.len();
            bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
            if piece.len() > room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (bytes, whole.is_continue())
    }

    /// How each of these characters is written; `None` where each is as it was.
    pub(super) fn of_characters(&self, characters: &str) -> Option<Vec<u8>> {
        let (escapes, mut bytes) = (Escapes::new(self.how), Vec::new());
        if !characters.bytes().any(|byte| escapes.change(byte)) {
            return None;
        }
        // A sink that takes all never has enough.
        let _ = escapes.write(characters, &mut |piece| {
            bytes.extend_from_slice(piece);
            ControlFlow::Continue(())
        });
        Some(bytes)
    }

    /// All that is written.
    #[cfg(test)]
    pub(super) fn of(&self, value: &str) -> String {
        String::from_utf8(self.beginning(value, usize::MAX).0).unwrap()
    }

    fn lines(&self, value: &str, each: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let end = match self.newlines {
            Newlines::Kept => return each(value),
            Newlines::LineFeeds => "\n",
            Newlines::Pairs => "\r\n",
        };
        for line in value.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) => {
                    each(line.strip_suffix('\r').unwrap_or(line))?;
                    each(end)?;
                }
                None => each(line)?,
            }
        }
        ControlFlow::Continue(())
    }

    fn base64(&self, value: &str, before: usize, url: bool, sink: Sink<'_>) -> ControlFlow<()> {
        let engine = if url { URL_SAFE_NO_PAD } else { STANDARD_NO_PAD };
        let mut bytes = vec![0; before];
        // The first characters have bits of what stands before the value.
        let mut skipped = (before * 8).div_ceil(6);
        let mut put = |bytes: &[u8]| {
            let text = engine.encode(bytes);
            // A last character that is not filled has bits of what stands behind.
            let own = text.get(skipped..bytes.len() * 8 / 6).unwrap_or_default();
            skipped = 0;
            sink(own.as_bytes())
        };
        self.lines(value, &mut |text| {
            let mut rest = text.as_bytes();
            while bytes.len() + rest.len() >= AT_ONCE {
                let (now, later) = rest.split_at(AT_ONCE - bytes.len());
                bytes.extend_from_slice(now);
                put(&bytes)?;
                bytes.clear();
                rest = later;
            }
            bytes.extend_from_slice(rest);
            ControlFlow::Continue(())
        })?;
        put(&bytes)
    }
}

/// Escapes characters, and gives what stays as it is in long pieces.
struct Escapes {
    how: How,
    /// A bit for each character of ASCII that changes.
    ascii: u128,
    beyond: bool,
}

impl Escapes {
    fn new(how: How) -> Self {
        let (ascii, beyond) = match how {
            How::Plain | How::Base64 { .. } => (0, false),
            How::Json(Json { escaped, beyond, .. }) => {
                let delete = beyond == Beyond::EscapedWithDelete;
                let controls = u128::from(u32::MAX) | bits("\"\\") | if delete { bits("\u{7f}") } else { 0 };
                (controls | bits(escaped), beyond != Beyond::Kept)
            }
            How::Url { kept, .. } => (!(bits(LETTERS_AND_DIGITS) | bits(kept)), true),
        };
        Self { how, ascii, beyond }
    }

    fn change(&self, byte: u8) -> bool {
        if byte.is_ascii() { self.ascii >> byte & 1 == 1 } else { self.beyond }
    }

    fn write(&self, text: &str, sink: Sink<'_>) -> ControlFlow<()> {
        let mut rest = text;
        let mut escaped = String::new();
        while let Some(at) = rest.as_bytes().iter().position(|byte| self.change(*byte)) {
            let (kept, changed) = rest.split_at(at);
            sink(kept.as_bytes())?;
            let mut characters = changed.chars();
            if let Some(c) = characters.next() {
                escaped.clear();
                self.push(c, &mut escaped);
                sink(escaped.as_bytes())?;
            }
            rest = characters.as_str();
        }
        sink(rest.as_bytes())
    }

    fn push(&self, c: char, escaped: &mut String) {
        match self.how {
            How::Plain | How::Base64 { .. } => escaped.push(c),
            How::Url { plus: true, .. } if c == ' ' => escaped.push('+'),
            How::Url { upper, .. } => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    escaped.push('%');
                    digits(byte.into(), 2, upper, escaped);
                }
            }
            How::Json(json) => {
                json.push(c, escaped);
                for _ in 0..json.more {
                    let once = std::mem::take(escaped);
                    once.chars().for_each(|c| again(c, json.slashes, escaped));
                }
            }
        }
    }
}

impl Json {
    fn push(&self, c: char, escaped: &mut String) {
        let short = match c {
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '"' | '/' if !self.escaped.contains('"') || c == '/' => c,
            '\\' => c,
            '\u{2028}' | '\u{2029}' => return self.units(c, escaped),
            _ if c.is_ascii() || self.beyond != Beyond::LineEndsEscaped => return self.units(c, escaped),
            _ => return escaped.push(c),
        };
        escaped.extend(['\\', short]);
    }

    fn units(&self, c: char, escaped: &mut String) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str("\\u");
            digits((*unit).into(), 4, self.upper, escaped);
        }
    }
}

/// Escapes once more what JSON has.
fn again(c: char, slashes: bool, escaped: &mut String) {
    if matches!(c, '"' | '\\') || (c == '/' && slashes) {
        escaped.push('\\');
    }
    escaped.push(c);
}

fn digits(number: u32, many: u32, upper: bool, text: &mut String) {
    for at in (0..many).rev() {
        let digit = char::from_digit(number >> (at * 4) & 15, 16).unwrap_or_default();
        text.push(if upper { digit.to_ascii_uppercase() } else { digit });
    }
}

/// A bit for each of these characters of ASCII.
fn bits(characters: &str) -> u128 {
    characters.bytes().filter(u8::is_ascii).fold(0, |bits, byte| bits | 1 << byte)
}
