//! Integers of more than 64 bits. JSON has them, and they would be kept as floats, with other digits.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use crate::{error::Error, json::pointer_token, text::replaced};

/// Shorter integers fit into 64 bits.
const DIGITS: usize = 19;

/// Refuses integers that could not be kept exactly, by their JSON pointers. What is no JSON is not looked into.
///
/// # Errors
/// There is such an integer.
pub fn check_exact(json: &str) -> Result<(), Error> {
    if inexact(json).next().is_none() {
        return Ok(());
    }
    let Ok(whole) = serde_json::from_str::<&RawValue>(json) else { return Ok(()) };
    let Some((pointer, number)) = first(whole, "") else { return Ok(()) };
    let shown: String = number.chars().take(40).collect();
    let shown = if shown.len() < number.len() { shown + "…" } else { shown };
    let problem = format!("the integer {shown} has more than 64 bits and would be changed: give it as a text");
    Err(Error::invalid(pointer, problem))
}

/// The same JSON with such integers as texts.
pub fn quote_inexact(json: &str) -> Cow<'_, str> {
    let mut numbers = inexact(json).peekable();
    if numbers.peek().is_none() {
        return Cow::Borrowed(json);
    }
    let quoted = |number: Range<usize>| (number.clone(), format!("\"{}\"", json.get(number).unwrap_or_default()));
    Cow::Owned(replaced(json, numbers.map(quoted)))
}

/// The same where there are such integers; none also where it is no JSON.
pub fn with_quoted(json: &[u8]) -> Option<String> {
    match quote_inexact(std::str::from_utf8(json).ok()?) {
        // What is no JSON must not become any.
        Cow::Owned(quoted) if serde_json::from_slice::<IgnoredAny>(json).is_ok() => Some(quoted),
        _ => None,
    }
}

/// Reads JSON of somebody else, in which such integers are read as texts.
///
/// # Errors
/// It is no JSON, or is no `T`.
pub fn read_quoted<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    with_quoted(json).map_or_else(|| serde_json::from_slice(json), |quoted| serde_json::from_str(&quoted))
}

/// Where such integers are, outside of texts.
fn inexact(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            let begin = at;
            let rest = bytes.get(begin..).unwrap_or_default();
            match byte {
                b'"' => at += text_bytes(rest),
                b'-' | b'0'..=b'9' => {
                    let is_number = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    at += rest.iter().take_while(is_number).count();
                    if is_inexact(json.get(begin..at).unwrap_or_default()) {
                        return Some(begin..at);
                    }
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// How many bytes a text of JSON has, with its quotes.
pub fn text_bytes(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let ends = |byte: &u8| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    };
    json.iter().skip(1).position(ends).map_or(json.len(), |at| at + 2)
}

fn is_inexact(number: &str) -> bool {
    number.len() >= DIGITS
        && !number.contains(['.', 'e', 'E'])
        && number.parse::<u64>().is_err()
        && number.parse::<i64>().is_err()
}

/// The first of them in a value at `pointer`.
fn first<'a>(value: &'a RawValue, pointer: &str) -> Option<(String, &'a str)> {
    let json = value.get();
    match json.as_bytes().first()? {
        b'{' => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            let inner =
                |(key, value): (&String, &&'a RawValue)| first(value, &format!("{pointer}/{}", pointer_token(key)));
            fields.iter().find_map(inner)
        }
        b'[' => {
            let all: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            all.iter().enumerate().find_map(|(at, value)| first(value, &format!("{pointer}/{at}")))
        }
        b'-' | b'0'..=b'9' if is_inexact(json) => Some((pointer.to_owned(), json)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, refused: Option<&str>) {
        assert_eq!(check_exact(json).err().map(|error| error.to_string()).as_deref(), refused, "{json}");
    }

    #[test]
    fn integers_that_would_be_changed_are_refused() {
        for kept in [
            "18446744073709551615",
            "-9223372036854775808",
            "1e30",
            "-1.5",
            "\"18446744073709551616\"",
            "[1,\"\\\"99999999999999999999\"]",
        ] {
            check(kept, None);
        }
        check(
            "18446744073709551616",
            Some("the integer 18446744073709551616 has more than 64 bits and would be changed: give it as a text"),
        );
        check(
            r#"{"a/b": ["x", -9223372036854775809]}"#,
            Some(
                "/a~1b/1: the integer -9223372036854775809 has more than 64 bits and would be changed: give it as a text",
            ),
        );
    }

    #[test]
    fn models_get_them_as_texts() {
        let json = r#"{"a": [18446744073709551616, 7, "18446744073709551617"]}"#;
        assert_eq!(quote_inexact(json), r#"{"a": ["18446744073709551616", 7, "18446744073709551617"]}"#);
        assert_eq!(quote_inexact("[1, 2.5]"), "[1, 2.5]");
        assert_eq!(read_quoted::<Vec<String>>(b"[18446744073709551616]").unwrap(), ["18446744073709551616"]);
        assert_eq!(read_quoted::<Vec<u8>>(b"[7]").unwrap(), [7]);
        for broken in ["[18446744073709551616", "[1844-6744-0737-0955]", "[007, 18446744073709551616]"] {
            assert!(read_quoted::<Vec<String>>(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
