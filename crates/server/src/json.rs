//! JSON of callers: read strictly, with errors that point to the invalid field.

use callboard_core::{
    exact::check_exact,
    json::{in_words, pointer_token},
    unique_keys::UniqueKeys,
};
use serde::{Deserialize as _, de::DeserializeOwned};

use crate::{call_error::CallError, strict::Strict};

/// Reads JSON as a value of any type. An error points to the invalid field.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CallError> {
    // Tracking the place takes time, and mostly nothing is wrong.
    let mut json = serde_json::Deserializer::from_slice(bytes);
    if let Ok(value) = T::deserialize(Strict(&mut json))
        && json.end().is_ok()
    {
        // The whole body is UTF-8 then.
        if let Ok(json) = std::str::from_utf8(bytes) {
            check_exact(json)?;
        }
        check_keys(bytes)?;
        return Ok(value);
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let pointer = pointer(error.path());
        fault(error.inner(), pointer)
    })?;
    json.end().map_err(|error| fault(&error, String::new()))?;
    Ok(value)
}

/// Refuses an object in which a key is there twice, by its place.
fn check_keys(bytes: &[u8]) -> Result<(), CallError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    if UniqueKeys::deserialize(&mut json).is_ok() {
        return Ok(());
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, UniqueKeys>(&mut json) {
        Err(error) if error.inner().is_data() => Err(fault(error.inner(), pointer(error.path()))),
        _ => Ok(()),
    }
}

fn fault(error: &serde_json::Error, mut pointer: String) -> CallError {
    let text = error.to_string();
    if text.starts_with("recursion limit exceeded") {
        let field: String = pointer.split_inclusive('/').take(2).collect();
        return CallError::invalid(field.trim_end_matches('/'), "it is nested too deep: use fewer levels");
    }
    if !error.is_data() {
        return CallError::new("bad_json", format!("the body is not JSON: {}", in_words(&text)));
    }
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    if let Some(field) = named(text)
        && !pointer.ends_with(&format!("/{field}"))
    {
        pointer.push('/');
        pointer.push_str(&field);
    }
    CallError::invalid(pointer, in_words(text))
}

/// The field that is missing, unknown or doubled according to a message, as a part of a JSON pointer.
fn named(text: &str) -> Option<String> {
    let field = ["unknown field `", "missing field `", "duplicate field `"];
    let field = field.into_iter().find_map(|before| text.strip_prefix(before))?;
    let (field, _) = field.split_once('`')?;
    Some(pointer_token(field))
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", pointer_token(key)),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use callboard_api::{NewMessages, NewRun};
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::parse;

    /// The pointer and the message with which a body is refused.
    fn refused<T: DeserializeOwned>(body: &str) -> String {
        parse::<T>(body.as_bytes()).err().unwrap().detail
    }

    #[test]
    fn errors_say_where_and_what_to_use_instead() {
        let run = |body| refused::<NewRun>(body);
        insta::assert_snapshot!(run(r#"{"kind": "solo"}"#), @"/kind: `solo` is not known here: use `team` or `director`");
        insta::assert_snapshot!(run(r#"{"kind": "team", "inptu": "x"}"#), @"/inptu: unknown field `inptu`: use `kind`, `input`, `limits`");
        insta::assert_snapshot!(run(r#"{"kind": "team"}"#), @"/input: missing field `input`");
        insta::assert_snapshot!(run(r#"{"kind": "team", "input": 3}"#), @"/input: invalid type: integer `3`, expected a string");
        insta::assert_snapshot!(run("[]"), @"invalid type: list, expected an object");
        insta::assert_snapshot!(run("{"), @"the body is not JSON: it ends in the middle of an object at line 1 column 1");
        let value = |body| refused::<Value>(body);
        insta::assert_snapshot!(value(r#"{"value": {"a": [{"b": 1, "b": 2}]}, "reason": "x"}"#), @"/value/a/0/b: duplicate field `b`");
        insta::assert_snapshot!(value(r#"{"value": {"a\u0062": 1, "ab": 2}, "reason": "x"}"#), @"/value/ab: duplicate field `ab`");
        assert!(parse::<Value>(br#"{"value": [{"a": 1.5}, {"a": null, "b": {"a": "\n"}}], "reason": "x"}"#).is_ok());
        let messages = refused::<NewMessages>(r#"{"messages": [{"role": "robot", "content": "x"}]}"#);
        assert!(messages.starts_with("/messages/0/role: `robot` is not known here: use `USER`"), "{messages}");
    }
}
