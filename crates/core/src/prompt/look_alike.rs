//! Look-alikes: whether a text begins like another one in a reader's eyes, in whatever case, script or width, and with
//! whatever invisible characters in it.

use std::{borrow::Cow, iter::once, sync::LazyLock};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_security::skeleton;

/// How many characters of a text are looked at. The longest name has fewer.
const LOOKED_AT: usize = 192;

/// The beginning of a text.
#[derive(Clone, Copy)]
pub struct Opening<'a>(&'a str);

impl<'a> Opening<'a> {
    /// The beginning of `text`, without what is blank or invisible before it.
    pub fn of(text: &'a str) -> Self {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
        let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(end, _)| end);
        Self(text.get(..end).unwrap_or(text))
    }

    /// What follows `what`, as it looks, where the text begins like that.
    pub fn after(self, what: &str) -> Option<Cow<'a, str>> {
        let Self(text) = self;
        if text.get(..what.len()).is_some_and(|start| start.eq_ignore_ascii_case(what)) {
            let rest = text.get(what.len()..)?;
            return Some(if rest.is_ascii() { rest.into() } else { folded(rest).collect() });
        }
        if what.is_ascii() && text.is_ascii() {
            return None;
        }
        let mut rest = folded(text);
        folded(what).all(|c| rest.next() == Some(c)).then(|| rest.collect())
    }

    /// Whether the text begins like `what`.
    pub fn is(self, what: &str) -> bool {
        self.after(what).is_some()
    }
}

/// Whether two names look alike: in case, script or width, or by what is invisible in them.
pub fn are_alike(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// A text as it looks: what looks alike is the same.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(|c| {
        static ASCII: LazyLock<[Vec<char>; 128]> = LazyLock::new(|| std::array::from_fn(|c| look(char::from(c as u8))));
        let look: Cow<'static, [char]> = ASCII.get(c as usize).map_or_else(|| look(c).into(), |look| look.into());
        (0..look.len()).filter_map(move |at| look.get(at).copied())
    })
}

/// How a character looks: nothing where it is invisible, or only a mark on another one.
fn look(c: char) -> Vec<char> {
    let visible: String = once(c).nfkc().filter(|c| !is_invisible(*c)).collect();
    let lower = skeleton(&visible).collect::<String>().to_lowercase();
    skeleton(&lower).filter(|c| !is_combining_mark(*c)).collect()
}

/// Whether a character shows nothing, not even a space.
pub fn is_invisible(c: char) -> bool {
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
