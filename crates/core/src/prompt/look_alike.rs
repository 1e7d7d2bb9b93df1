//! Look-alikes: whether a text begins like another one in a reader's eyes, in whatever case, script or width, and with
//! whatever invisible characters in it.

use std::{borrow::Cow, cell::OnceCell};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_security::skeleton;

/// How many characters of a text are looked at. The longest name has fewer.
const LOOKED_AT: usize = 192;

/// The beginning of a text.
pub(super) struct Opening<'a> {
    text: &'a str,
    /// As it looks, once that was wanted.
    folded: OnceCell<String>,
}

impl<'a> Opening<'a> {
    /// The beginning of `text`, without what is blank or invisible before it.
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
        let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(end, _)| end);
        Self { text: text.get(..end).unwrap_or(text), folded: OnceCell::new() }
    }

    /// What follows `what`, as it looks, where the text begins like that.
    pub(super) fn after(&self, what: &str) -> Option<Cow<'_, str>> {
        let is_alike = self.text.get(..what.len()).is_some_and(|start| start.eq_ignore_ascii_case(what));
        if is_alike {
            let rest = self.text.get(what.len()..)?;
            return Some(if rest.is_ascii() { rest.into() } else { folded(rest).into() });
        }
        if what.is_ascii() && (self.text.is_ascii() || self.is_plainly_other(what)) {
            return None;
        }
        let text = self.folded.get_or_init(|| folded(self.text));
        text.strip_prefix(&folded(what)).map(Cow::from)
    }

    /// Whether the text begins like `what`.
    pub(super) fn is(&self, what: &str) -> bool {
        self.after(what).is_some()
    }

    /// Whether it begins with a letter that looks like no other, and not with this text. It saves folding it.
    fn is_plainly_other(&self, what: &str) -> bool {
        let (first, other) = (self.text.chars().next(), what.chars().next());
        match first {
            Some('\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') => true,
            Some(c) if c.is_ascii_alphabetic() && !"iIlLmMrR".contains(c) => {
                other.is_some_and(|other| !other.eq_ignore_ascii_case(&c))
            }
            _ => false,
        }
    }
}

/// A text as it looks: what looks alike is the same.
fn folded(text: &str) -> String {
    let visible: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
    let lower = skeleton(&visible).collect::<String>().to_lowercase();
    skeleton(&lower).filter(|c| !is_combining_mark(*c)).collect()
}

/// Whether a character shows nothing, not even a space.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || (c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_found() {
        let alike = [
            "lead: x",
            "  LEAD: x",
            "l\u{200b}ead: x",
            "ｌｅａｄ： x",
            "l\u{435}ad\u{2236} x",
            "\u{feff}lead\u{ff1a}",
            "le\u{301}ad: x",
        ];
        for text in alike {
            let opening = Opening::of(text);
            let rest = opening.after("lead").unwrap_or_else(|| panic!("{text:?}"));
            assert!(rest.trim_start().starts_with(':'), "{text:?}: {rest:?}");
        }
        for other in ["leader: x", "the lead: x", "läuft: x", "好的: lead"] {
            let opening = Opening::of(other);
            let rest = opening.after("lead");
            assert!(rest.is_none_or(|rest| !rest.trim_start().starts_with(':')), "{other:?}");
        }
    }
}
