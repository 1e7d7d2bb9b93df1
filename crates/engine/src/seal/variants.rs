//! The ways in which a value may be written in a text: as it is, and escaped.

use std::collections::BTreeSet;

use super::writing::{Beyond, How, Json, Newlines, Writing};

/// How often JSON may stand in a text of JSON, which stands in a text of JSON.
const JSON_LEVELS: u8 = 4;

/// The encoders of JSON that differ in what they escape, the characters that none needs to but this one does.
const JSON: [(&str, Beyond); 14] = [
    // JavaScript, serde, Jackson, Python with `ensure_ascii=False`
    ("", Beyond::Kept),
    // Ruby, PHP with plain slashes
    ("", Beyond::Escaped),
    // Python, jq
    ("", Beyond::EscapedWithDelete),
    // PHP with plain letters
    ("/", Beyond::Kept),
    ("/", Beyond::LineEndsEscaped),
    // PHP
    ("/", Beyond::Escaped),
    ("/<>&'\"", Beyond::Escaped),
    // Go, Rails
    ("<>&", Beyond::LineEndsEscaped),
    ("<>&", Beyond::EscapedWithDelete),
    // Gson
    ("<>&'=", Beyond::LineEndsEscaped),
    // Flask, Jinja
    ("<>&'", Beyond::Kept),
    ("<>&'", Beyond::EscapedWithDelete),
    // .NET
    ("\"&'+<>`", Beyond::EscapedWithDelete),
    ("\"&'<>", Beyond::LineEndsEscaped),
];

/// What stays as it is in an address or a form: strictly, and as browsers do it.
const URL: [&str; 5] = ["-_.~", "-_.!~*'()", "-_.*", "-_.~/", "-_.!~*'();/?:@&=+$,#"];

/// All ways in which `value` may be written, itself first. Ways that give the same are there once, but for a few of a long
/// value.
pub(crate) fn variants(value: &str) -> Vec<Writing> {
    let characters = Characters::of(value);
    let mut ways = Vec::new();
    for newlines in characters.newlines() {
        let mut seen = BTreeSet::new();
        let of = |how| Writing { newlines, how };
        ways.push(of(How::Plain));
        // Ways that write each character alike write the value alike.
        let is_new = |way: &Writing| way.of_characters(&characters.each).is_some_and(|each| seen.insert(each));
        ways.extend(json().chain(url()).map(of).filter(is_new));
        ways.extend(base64().map(of));
    }
    ways
}

/// In a text of JSON, and in one that stands in a text of JSON, and so on.
fn json() -> impl Iterator<Item = How> {
    let nested = |(escaped, beyond): (&'static str, Beyond)| {
        [false, true].into_iter().flat_map(move |upper| {
            // Of what an encoder gave, the same one escapes slashes once more.
            let slashes: &[bool] = if escaped.contains('/') { &[false, true] } else { &[false] };
            let of = move |slashes: &bool| {
                let slashes = *slashes;
                (0..JSON_LEVELS).map(move |more| How::Json(Json { escaped, beyond, upper, more, slashes }))
            };
            slashes.iter().flat_map(of)
        })
    };
    JSON.into_iter().flat_map(nested)
}

/// In an address or a form: with `+` for blanks or without; with small and capital digits.
fn url() -> impl Iterator<Item = How> {
    let with = |kept| {
        [(true, true), (true, false), (false, true), (false, false)].map(|(upper, plus)| How::Url { kept, upper, plus })
    };
    URL.into_iter().flat_map(with)
}

/// In base64 of any text that holds the value. There are three ways, since three bytes make four characters.
fn base64() -> impl Iterator<Item = How> {
    (0..3).flat_map(|before| [false, true].map(|url| How::Base64 { before, url }))
}

/// What characters a value has.
struct Characters {
    /// Each of ASCII that it has, and of the others as many as are escaped differently.
    each: String,
    has_line_feeds: bool,
    has_pairs: bool,
}

impl Characters {
    fn of(value: &str) -> Self {
        let (mut ascii, mut beyond) = ([false; 128], BTreeSet::new());
        let (mut has_line_feeds, mut has_pairs, mut before) = (false, false, '\0');
        let mut has_letters = false;
        for c in value.chars() {
            match ascii.get_mut(c as usize) {
                Some(has) => *has = true,
                None if matches!(c, '\u{2028}' | '\u{2029}') => drop(beyond.insert(c)),
                None if has_letters => {}
                None => {
                    // Capital digits differ from small ones where there are letters among them.
                    has_letters =
                        c.encode_utf16(&mut [0; 2]).iter().any(|unit| format!("{unit:x}") != format!("{unit:X}"));
                    if has_letters || beyond.is_empty() {
                        beyond.insert(c);
                    }
                }
            }
            match (before, c) {
                ('\r', '\n') => has_pairs = true,
                (_, '\n') => has_line_feeds = true,
                _ => {}
            }
            before = c;
        }
        let ascii = (0..128_u8).map(char::from).filter(|c| ascii.get(*c as usize).is_some_and(|has| *has));
        Self { each: ascii.chain(beyond).collect(), has_line_feeds, has_pairs }
    }

    /// Lines may end in another way than in the value.
    fn newlines(&self) -> impl Iterator<Item = Newlines> {
        let others = [(self.has_line_feeds, Newlines::Pairs), (self.has_pairs, Newlines::LineFeeds)];
        std::iter::once(Newlines::Kept).chain(others.into_iter().filter(|(has, _)| *has).map(|(_, newlines)| newlines))
    }
}

#[cfg(test)]
mod tests {
    use base64::{
        Engine as _,
        engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
    };

    use super::*;

    fn forms(value: &str) -> BTreeSet<String> {
        variants(value).iter().map(|way| way.of(value)).collect()
    }

    #[test]
    fn a_plain_value_has_few_forms() {
        let all: Vec<_> = forms("hunter22").into_iter().collect();
        assert_eq!(all, ["aHVudGVyMj", "h1bnRlcjIy", "hunter22", "odW50ZXIyM"]);
    }

    #[test]
    fn the_middle_of_base64_is_found_whatever_stands_around_the_value() {
        for value in ["pä$$ w/rd?!", &"pä$$ w/rd?!".repeat(1000)] {
            let forms = forms(value);
            for before in ["", "u", "us", "use", "user"] {
                for after in ["", ":", ":x", ":xy"] {
                    let text = format!("{before}{value}{after}");
                    for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                        assert!(forms.iter().any(|form| encoded.contains(form)), "{text}: {encoded}");
                    }
                }
            }
        }
    }

    #[track_caller]
    fn check(value: &str, written: &str) {
        let forms = forms(value);
        assert!(forms.contains(written), "{written} is not among {forms:#?}");
    }

    #[test]
    fn each_encoder_of_json_has_its_own_form() {
        let value = "ä/\"\\<&>'+\n\u{7f}\u{1f}\u{2028}😀";
        // JavaScript
        check(value, "ä/\\\"\\\\<&>'+\\n\u{7f}\\u001f\u{2028}😀");
        // PHP
        check(value, r#"\u00e4\/\"\\<&>'+\n\u007f\u001f\u2028\ud83d\ude00"#.replace("\\u007f", "\u{7f}").as_str());
        // Go
        check(value, "ä/\\\"\\\\\\u003c\\u0026\\u003e'+\\n\u{7f}\\u001f\\u2028😀");
        // .NET
        check(value, r"\u00E4/\u0022\\\u003C\u0026\u003E\u0027\u002B\n\u007F\u001F\u2028\uD83D\uDE00");
        // Python
        check(value, r#"\u00e4/\"\\<&>'+\n\u007f\u001f\u2028\ud83d\ude00"#);
        // PHP in PHP, and in Python
        check("a/b\"c", r#"a\\\/b\\\"c"#);
        check("a/b\"c", r#"a\\/b\\\"c"#);
    }

    #[test]
    fn lines_may_end_otherwise() {
        check("a\nb", "a\r\nb");
        check("a\nb", r"a\r\nb");
        check("a\r\nb\nc", "a\nb\nc");
        check("a\r\nb\nc", "a%0D%0Ab%0D%0Ac");
    }
}
