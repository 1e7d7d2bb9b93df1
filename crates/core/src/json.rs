//! JSON: how it is written, how deep and how large it may be in requests, and whether a field is given.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{error::Fault, unique_keys::UniqueKeys};

/// How deep lists and objects may be nested in what a caller gives. Entries and snapshots nest it further, and are read to
/// a depth of 128.
pub(crate) const MAX_DEPTH: usize = 64;

/// Why what is written as JSON here has a JSON form.
const HAS_ONE: &str = "it is made of what JSON has, and its maps have strings as keys";

/// The JSON form of a type of Callboard's own.
#[expect(clippy::expect_used, reason = "nothing in its place would be a loss that nobody sees")]
pub fn value_of(own: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(own).expect(HAS_ONE)
}

/// The same as text.
#[expect(clippy::expect_used, reason = "nothing in its place would be a loss that nobody sees")]
pub fn text_of(own: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(own).expect(HAS_ONE)
}

/// What serde says of a text that is no JSON, by how it begins, and what people say.
const PLAIN: [(&str, &str); 8] = [
    ("EOF while parsing a value", "it ends where a value is missing"),
    ("EOF while parsing", "it ends in the middle of"),
    ("recursion limit exceeded", "it is nested too deep"),
    ("lone leading surrogate in hex escape", "an escape stands for half of a character"),
    ("unexpected end of hex escape", "an escape stands for half of a character"),
    (
        "control character (\\u0000-\\u001F) found while parsing a string",
        "a string has a line break, or the like, without an escape",
    ),
    ("expected ident", "it has a word without quotes"),
    ("trailing characters", "something stands behind its end"),
];

/// Why something cannot be read from JSON, in words for people: as serde says it, without the names of types.
pub fn in_words(error: &str) -> String {
    if let Some(plain) = PLAIN.iter().find_map(|(begin, plain)| Some(format!("{plain}{}", error.strip_prefix(begin)?)))
    {
        return plain;
    }
    let Some((what, known)) = error.rsplit_once(", expected ") else { return error.to_owned() };
    let names = known.strip_prefix("one of ").unwrap_or(known);
    if let Some(word) = what.strip_prefix("unknown variant ") {
        return format!("{word} is not known here: use {names}");
    }
    if what.starts_with("unknown field ") {
        return format!("{what}: use {names}");
    }
    let what = match what {
        "invalid type: sequence" => "invalid type: list",
        "invalid type: map" => "invalid type: object",
        other => other,
    };
    let behind = |behind: &str| behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').to_owned();
    let (first, rest) = known.split_once(' ').unwrap_or((known, ""));
    let known = match first {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => known.replacen(first, "a whole number", 1),
        "f64" => known.replacen(first, "a number", 1),
        "struct" => format!("an object{}", behind(rest)),
        "a" if rest.starts_with("map") => format!("an object{}", behind(rest)),
        "a" if rest.starts_with("sequence") => format!("a list{}", behind(rest)),
        _ => known.to_owned(),
    };
    format!("{what}, expected {known}")
}

/// What a schema does not allow, in words for people.
pub(crate) fn fault_in_words(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let fields = if unexpected.len() == 1 { "unknown field" } else { "unknown fields" };
            format!("{fields} `{}`", unexpected.join("`, `"))
        }
        _ => error.to_string(),
    }
}

/// The first so many faults of a value that a schema does not allow.
pub(crate) fn faults_of(value: &Value, validator: &Validator, most: usize) -> Vec<Fault> {
    let fault = |error: ValidationError<'_>| Fault {
        pointer: error.instance_path().to_string(),
        problem: fault_in_words(&error),
    };
    validator.iter_errors(value).take(most).map(fault).collect()
}

/// Whether `value` is nested at most [`MAX_DEPTH`] levels deep.
pub(crate) fn is_shallow(value: &Value) -> bool {
    fits(value, MAX_DEPTH)
}

/// The same for the fields of an object.
pub(crate) fn are_shallow<'a>(fields: impl IntoIterator<Item = &'a Value>) -> bool {
    fields.into_iter().all(|value| fits(value, MAX_DEPTH - 1))
}

/// Whether a value is the one that a field has which is left out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The object with those of these fields that have a value.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Option<Value>)>) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The value of a field that is there, also if it is `null`.
///
/// # Errors
/// A value that is no `T` is refused.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// All texts in a value, in their order; names of fields are none.
pub fn texts_in(value: &Value) -> Vec<&str> {
    let (mut texts, mut rest) = (Vec::new(), vec![value]);
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(all) => rest.extend(all.iter().rev()),
            Value::Object(fields) => rest.extend(fields.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

/// Drops a value however deep it is nested: dropping it level by level could use up the stack.
pub(crate) fn forget(value: Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(all) => rest.extend(all),
            Value::Object(fields) => rest.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// About how many bytes the JSON form of `value` has, or `most` where it has more: that takes no longer for larger ones.
pub(crate) fn least_bytes(value: &Value, most: usize) -> usize {
    let (mut bytes, mut rest) = (0, vec![value]);
    while let Some(value) = rest.pop().filter(|_| bytes < most) {
        bytes += 2;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(all) => rest.extend(all.iter().take(most)),
            Value::Object(fields) => {
                bytes += fields.keys().take(most).map(|key| key.len() + 2).sum::<usize>();
                rest.extend(fields.values().take(most));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes.min(most)
}

fn fits(value: &Value, levels: usize) -> bool {
    let below = levels.checked_sub(1);
    match value {
        Value::Array(all) => below.is_some_and(|levels| all.iter().all(|value| fits(value, levels))),
        Value::Object(fields) => below.is_some_and(|levels| fields.values().all(|value| fits(value, levels))),
        _ => true,
    }
}

/// The JSON object that a text is or has in a code fence; `None` if it is not meant as JSON. One with a key that is there twice cannot
/// be read.
pub(crate) fn object_in(text: &str) -> Option<Result<Map<String, Value>, serde_json::Error>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') {
        return Some(serde_json::from_str::<UniqueKeys>(text).and_then(|_| serde_json::from_str(text)));
    }
    let fences = text.match_indices("```").filter_map(|(at, fence)| text.get(at + fence.len()..));
    let objects = fences.map(|rest| rest.trim_start_matches(char::is_alphanumeric).trim_start());
    // A fence may stand inside of a string of the object, so the object itself says where it ends.
    let first = |rest: &str| {
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        let one = objects.next()?;
        let whole = rest.get(..objects.byte_offset()).unwrap_or(rest);
        Some(one.and_then(|object| serde_json::from_str::<UniqueKeys>(whole).map(|_| object)))
    };
    let mut read = objects.filter(|rest| rest.starts_with('{')).filter_map(first);
    let one = read.next()?;
    Some(if one.is_ok() { one } else { read.find(Result::is_ok).unwrap_or(one) })
}

/// The JSON that a text is, or has in a code fence.
pub(crate) fn value_in(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let fences = text.match_indices("```").filter_map(|(at, fence)| text.get(at + fence.len()..));
    let fenced = fences.map(|rest| rest.trim_start_matches(char::is_alphanumeric).trim_start());
    let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter().next()?.ok();
    serde_json::from_str(text).ok().or_else(|| fenced.filter(|rest| rest.starts_with(['{', '['])).find_map(first))
}

/// A name as it stands in a JSON pointer.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// How many bytes the JSON form of `value` has.
pub(crate) fn size_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// `value` without the fields that are `null`, at any depth.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(without_nulls).collect(),
        Value::Object(fields) => {
            let said = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nested_too_deep_is_told_from_what_is_not() {
        let nested = |depth| (0..depth).fold(Value::Null, |value, _| Value::Array(vec![value]));
        assert!(is_shallow(&nested(MAX_DEPTH)) && !is_shallow(&nested(MAX_DEPTH + 1)));
        assert!(are_shallow([&nested(MAX_DEPTH - 1)]) && !are_shallow([&nested(MAX_DEPTH)]));
    }

    #[test]
    fn why_json_cannot_be_read_is_said_without_names_of_types() {
        for (error, words) in [
            ("unknown variant `a`, expected `b` or `c`", "`a` is not known here: use `b` or `c`"),
            ("unknown field `a`, expected one of `b`, `c`, `d`", "unknown field `a`: use `b`, `c`, `d`"),
            ("invalid type: sequence, expected struct NewRun", "invalid type: list, expected an object"),
            (
                "invalid type: map, expected a sequence at line 1 column 0",
                "invalid type: object, expected a list at line 1 column 0",
            ),
            ("invalid type: string \"x\", expected a map", "invalid type: string \"x\", expected an object"),
            ("invalid type: integer `3`, expected a string", "invalid type: integer `3`, expected a string"),
            ("invalid type: string \"x\", expected usize", "invalid type: string \"x\", expected a whole number"),
            ("missing field `a`", "missing field `a`"),
        ] {
            assert_eq!(in_words(error), words);
        }
    }

    #[test]
    fn why_a_text_is_no_json_is_said_in_words() {
        let deep = "[".repeat(200);
        for (text, words) in [
            ("", "it ends where a value is missing"),
            ("[1", "it ends in the middle of a list"),
            ("{", "it ends in the middle of an object"),
            ("\"a", "it ends in the middle of a string"),
            (deep.as_str(), "it is nested too deep"),
            ("\"\\ud800\"", "an escape stands for half of a character"),
            ("\"a\nb\"", "a string has a line break, or the like, without an escape"),
            ("nonsense", "it has a word without quotes"),
            ("{} {}", "something stands behind its end"),
            ("[1 2]", "expected `,` or `]`"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            let said = in_words(&error.to_string());
            assert!(said.starts_with(&format!("{words} at line ")), "{text}: {said}");
        }
    }
}
