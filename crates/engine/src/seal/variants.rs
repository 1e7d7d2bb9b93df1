//! The forms in which a value may stand in a text: as it is, and escaped.

use std::{collections::BTreeSet, fmt::Write as _};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

/// All forms of `value`, itself among them, each once.
pub(crate) fn variants(value: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::from([value.to_owned()]);
    json(value, &mut all);
    url(value, &mut all);
    base64(value.as_bytes(), &mut all);
    all
}

/// How often JSON may stand in a text of JSON, which stands in a text of JSON.
const JSON_LEVELS: usize = 4;

/// In a text of JSON, and in one that stands in a text of JSON, and so on.
fn json(value: &str, all: &mut BTreeSet<String>) {
    let once = escaped(value);
    for first in [once.replace('/', "\\/"), ascii(&once, false), ascii(&once, true), once] {
        let levels = std::iter::successors(Some(first), |text| Some(escaped(text)));
        all.extend(levels.take(JSON_LEVELS));
    }
}

/// A text of JSON with all but ASCII written in digits, small or capital ones.
fn ascii(text: &str, upper: bool) -> String {
    text.chars().fold(String::new(), |mut text, c| {
        if c.is_ascii() {
            text.push(c);
            return text;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = if upper { write!(text, "\\u{unit:04X}") } else { write!(text, "\\u{unit:04x}") };
        }
        text
    })
}

fn escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_owned).unwrap_or(quoted)
}

/// In an address or a form: strictly, as browsers do it, and with `+` for blanks; with small and capital digits.
fn url(value: &str, all: &mut BTreeSet<String>) {
    for kept in ["-_.~", "-_.!~*'()", "-_.*", "-_.~/", "-_.!~*'();/?:@&=+$,#"] {
        for upper in [true, false] {
            let text = value.bytes().fold(String::new(), |mut text, byte| {
                if byte.is_ascii_alphanumeric() || kept.contains(char::from(byte)) {
                    text.push(char::from(byte));
                } else {
                    // Writing to a string cannot fail.
                    let _ = if upper { write!(text, "%{byte:02X}") } else { write!(text, "%{byte:02x}") };
                }
                text
            });
            all.insert(text.replace("%20", "+"));
            all.insert(text);
        }
    }
}

/// In base64 of any text that holds the value: its middle, which is the same whatever stands around it. There are three
/// forms, since three bytes make four characters.
fn base64(value: &[u8], all: &mut BTreeSet<String>) {
    for before in 0..3 {
        let bytes = [&vec![0; before], value].concat();
        // The characters that are made of bits of the value alone.
        let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            all.extend(text.get(first..end).map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_has_few_forms() {
        let all: Vec<_> = variants("hunter22").into_iter().collect();
        assert_eq!(all, ["aHVudGVyMj", "h1bnRlcjIy", "hunter22", "odW50ZXIyM"]);
    }

    #[test]
    fn the_middle_of_base64_is_found_whatever_stands_around_the_value() {
        let value = "pä$$ w/rd?!";
        let forms = variants(value);
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
