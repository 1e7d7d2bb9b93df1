//! An upper bound for models whose vocabulary is unknown.

use callboard_core::count::{BYTES, Counting, TokenCounter, Tokens};
use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// A counter whose count is at least that of every byte-level vocabulary: the number of bytes.
///
/// Every token of a byte-level vocabulary (and of SentencePiece with byte fallback) covers at least one byte. Some
/// tokenizers normalise the text first, which can lengthen it, so a character counts with the bytes of its longest
/// normal form. English text has about a quarter as many tokens, so much of a budget stays unused.
///
/// Tokens that are added around a text, such as one for its start, are not counted. Counts of pieces add up wherever the
/// text is cut.
pub fn upper_bound() -> &'static dyn TokenCounter {
    &Bytes
}

struct Bytes;

impl TokenCounter for Bytes {
    fn vocabulary(&self) -> &str {
        BYTES
    }

    fn count(&self, text: &str) -> Tokens {
        Tokens(text.chars().map(longest_form_bytes).sum())
    }

    fn counting(&self) -> Counting {
        Counting::UpperBound
    }
}

/// The number of bytes of a character's longest normal form. Composing characters never lengthens a text.
fn longest_form_bytes(c: char) -> u64 {
    if c.is_ascii() {
        return 1;
    }
    let bytes = |decompose: fn(char, &mut dyn FnMut(char))| {
        let mut bytes = 0;
        decompose(c, &mut |part| bytes += part.len_utf8());
        bytes
    };
    let canonical = bytes(|c, part| decompose_canonical(c, part));
    let compatible = bytes(|c, part| decompose_compatible(c, part));
    c.len_utf8().max(canonical).max(compatible) as u64
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    #[test]
    fn no_normal_form_of_a_character_is_longer_than_the_bound() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let forms: [String; 4] =
                [text.nfc().collect(), text.nfd().collect(), text.nfkc().collect(), text.nfkd().collect()];
            for form in forms {
                assert!(form.len() as u64 <= upper_bound().count(&text).0, "{c:?} becomes {form:?}");
            }
        }
    }
}
