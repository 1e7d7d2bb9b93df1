//! Secrets in calls of tools: what keys in the arguments and the results of the caller's own tools say to be one.
//!
//! Arguments of calls that a model makes in a run are left alone: the program that executes them needs the values.

mod places;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use self::places::{Place, places};
use crate::{
    entry::Hash,
    exact::quote_inexact,
    id::{CALL, VariableName, is_control},
    input::{CallPart, FreeText, InputVisitor},
    text::{first_chars, replaced},
    variable::{HIDDEN, is_placeholder},
};

/// How many characters of the id of a call are in such a name at most.
const ID_CHARS: usize = 150;

/// What the secrets in the arguments of a call are called, behind its id.
pub(crate) const ARGUMENTS: &str = "arguments";

/// What the secrets in the result of a call are called, behind its id.
pub(crate) const RESULT: &str = "result";

/// The types of values in schemas. Where such a word stands in the place of a secret, it says what may stand there.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// What else a schema says that holds no values.
const OF_SCHEMAS: [&str; 13] = [
    "type",
    "$ref",
    "title",
    "description",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "nullable",
    "readOnly",
    "writeOnly",
    "deprecated",
    "required",
];

/// What stands before a secret in a header of HTTP.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// How many characters a value has at least that looks like a secret.
const SECRET_CHARS: usize = 8;

/// The place of the content in a message, as a JSON pointer.
pub const CONTENT: &str = "/content";

/// What was sealed of a message: secrets in the arguments of a call, or in the result of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSecrets {
    /// What they are called, in the place of the name of a variable.
    pub name: Arc<str>,
    /// The JSON that they were in, as a JSON pointer in the message.
    pub at: Arc<str>,
    /// The hash under which they are stored.
    pub sha256: Hash,
}

/// Secrets that were taken out of a message that is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenSecrets {
    /// See [`CallSecrets::name`].
    pub name: Arc<str>,
    /// See [`CallSecrets::at`].
    pub at: Arc<str>,
    /// The hash of that JSON as it was sent. It is never stored: a short secret could be guessed from it.
    pub sent: Hash,
}

/// What the secrets in a part of the call with this id are called.
fn name_of(id: &str, part: &str) -> String {
    let plain = |c: char| if is_control(c) { '_' } else { c };
    let name: String = format!("{CALL}{}.{part}", first_chars(id, ID_CHARS)).chars().map(plain).collect();
    name.parse().map_or(name, |name: VariableName| name.to_string())
}

/// Where the JSON of a call stands.
pub(crate) enum CallJson<'a> {
    /// It is this.
    Value(&'a mut Value),
    /// It is what this text says, if that is JSON.
    Text(&'a mut dyn FreeText),
}

impl CallJson<'_> {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Value(value) => text_of(value),
            Self::Text(text) => text.as_str().into(),
        }
    }
}

/// The arguments or the result of a call.
pub(crate) struct Part<'a> {
    /// The id of the call.
    id: &'a str,
    /// [`ARGUMENTS`] or [`RESULT`].
    part: &'static str,
    /// The JSON in which secrets are looked for.
    json: CallJson<'a>,
    /// The hash of the JSON before secrets were taken out.
    sent: Option<Hash>,
}

impl<'a> Part<'a> {
    /// The [`ARGUMENTS`] or the [`RESULT`] of the call with this id.
    pub(crate) fn new(id: &'a str, part: &'static str, json: CallJson<'a>) -> Self {
        Self { id, part, json, sent: None }
    }

    /// Shows it to `visitor`, and says what was taken out of it. `at` is its place in the message.
    pub(crate) fn take(mut self, at: &str, visitor: &mut dyn InputVisitor) -> Option<TakenSecrets> {
        let name = visitor.call(&mut self)?;
        Some(TakenSecrets { name, at: at.into(), sent: self.sent? })
    }
}

impl CallPart for Part<'_> {
    fn name(&self) -> String {
        name_of(self.id, self.part)
    }

    fn has_secrets(&self) -> bool {
        !secrets_in(&self.json.text()).is_empty()
    }

    fn take_secrets(&mut self) -> BTreeMap<String, Box<RawValue>> {
        let text = self.json.text();
        let Some((whole, secrets)) = taken_out(&text) else { return BTreeMap::new() };
        self.sent = Some(Hash::of(text.as_bytes()));
        match &mut self.json {
            CallJson::Value(value) => set(value, whole),
            CallJson::Text(text) => text.replace(whole),
        }
        secrets
    }
}

/// JSON as a text: what it says if it is one.
fn text_of(json: &Value) -> Cow<'_, str> {
    json.as_str().map_or_else(|| json.to_string().into(), Cow::Borrowed)
}

/// Makes JSON, or the text of it, what `text` says.
fn set(json: &mut Value, text: String) {
    match json {
        Value::String(before) => *before = text,
        json => {
            if let Ok(now) = serde_json::from_str(&text) {
                *json = now;
            }
        }
    }
}

/// The secrets in a text that is an object or a list, in order.
fn secrets_in(text: &str) -> Vec<(Place, Box<RawValue>)> {
    let secret = |place: Place| {
        let written = RawValue::from_string(written_at(text, &place).to_owned()).ok()?;
        let value = value_of(written.get());
        let is_secret = !value.as_str().is_some_and(is_placeholder) && !says_nothing(&value);
        is_secret.then_some((place, written))
    };
    places(text).into_iter().filter_map(secret).collect()
}

/// What is written at a place.
fn written_at<'a>(text: &'a str, place: &Place) -> &'a str {
    text.get(place.range.clone()).unwrap_or_default()
}

/// What JSON says as a value. What cannot be kept as one, such as `1e400`, is the text of it.
pub fn value_of(json: &str) -> Value {
    serde_json::from_str(&quote_inexact(json)).unwrap_or_else(|_| json.into())
}

/// Whether a value is none that a secret could have: there is nothing, or it only says what may stand there, as a schema does.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty() || is_type(text),
        Value::Array(all) => all.iter().all(says_nothing),
        Value::Object(fields) => is_schema(value) || fields.values().all(says_nothing),
    }
}

/// Whether a text is the name of a type, as in a schema: nobody's secret.
fn is_type(text: &str) -> bool {
    TYPES.contains(&text.trim())
}

/// What in a value in the place of a secret looks like one, and so is looked for in all other texts. A value that looks like none
/// is hidden in its place alone.
///
/// A secret has eight characters or more and no white space. In it is a digit, or a sign other than `-`, `_`, `.` and `'`, or a
/// capital letter behind its first letter beside a small one. An address of the web is none. Keys name other things than secrets too, such as
/// `{"token": "return"}`, `{"credentials": "include"}` and `{"errors": {"password": ["is required"]}}`: words that stand there must not
/// be hidden in all that is said. Before a secret for HTTP may stand its scheme, such as `Bearer`.
pub fn secret_looking(value: &str) -> Option<&str> {
    let text = value.trim();
    let text = SCHEMES.iter().find_map(|scheme| text.strip_prefix(*scheme)).unwrap_or(text).trim();
    let mut behind = text.chars().filter(|c| c.is_alphabetic()).skip(1);
    let is_mixed = behind.any(char::is_uppercase) && text.contains(char::is_lowercase);
    let is_telling = |c: char| !c.is_alphabetic() && !"-_.'".contains(c);
    let is_long = text.chars().nth(SECRET_CHARS - 1).is_some();
    let looks_so = is_long && !text.contains(char::is_whitespace) && (is_mixed || text.contains(is_telling));
    (looks_so && !text.contains("://")).then_some(text)
}

/// Whether it is a JSON schema without values: what a tool that makes forms, tables or APIs is called with.
fn is_schema(value: &Value) -> bool {
    let Value::Object(fields) = value else { return value.is_boolean() };
    let is_of_type = |name: &Value| name.as_str().is_some_and(is_type);
    let says_type = match fields.get("type") {
        Some(Value::Array(all)) => all.iter().all(is_of_type),
        Some(name) => is_of_type(name),
        None => fields.get("$ref").is_some_and(Value::is_string),
    };
    let is_plain = |(key, inner): (&String, &Value)| match &**key {
        "properties" => inner.as_object().is_some_and(|all| all.values().all(is_schema)),
        "items" | "additionalProperties" => is_schema(inner),
        key => OF_SCHEMAS.contains(&key),
    };
    says_type && fields.iter().all(is_plain)
}

/// The JSON of a text without its secrets, and the secrets as they are written; `None` where there are none. All else in it stays as
/// it is written.
fn taken_out(text: &str) -> Option<(String, BTreeMap<String, Box<RawValue>>)> {
    let secrets = secrets_in(text);
    if secrets.is_empty() {
        return None;
    }
    let hidden = Value::from(HIDDEN).to_string();
    let whole = replaced(text, secrets.iter().map(|(place, _)| (place.range.clone(), &hidden)));
    Some((whole, secrets.into_iter().map(|(place, written)| (place.name, written)).collect()))
}

/// Hides what keys in the JSON of a call say to be secret. Nothing is sealed: it is for comparing calls.
pub fn hide(value: &mut Value) {
    let taken_out = taken_out(&text_of(value));
    if let Some((whole, _)) = taken_out {
        set(value, whole);
    }
}

/// The same in a text that may be JSON.
pub fn hide_in_text(text: String) -> String {
    taken_out(&text).map_or(text, |(whole, _)| whole)
}

/// Puts secrets back in the JSON of a call, or in the text of it: each in its place, where a placeholder stands.
pub fn put_back(json: &mut Value, secrets: &BTreeMap<String, Box<RawValue>>) {
    replace_placeholders(json, |name| Some(secrets.get(name)?.get()));
}

/// Puts what the JSON of a call, or the text of it, is `now` in the place of each placeholder of a secret in what it was.
pub fn fill(json: &mut Value, now: &Value) {
    let now = text_of(now);
    let places: BTreeMap<_, _> = places(&now).into_iter().map(|place| (place.name, place.range)).collect();
    replace_placeholders(json, |name| now.get(places.get(name)?.clone()));
}

/// Puts other JSON in the place of placeholders, by the names of their places.
fn replace_placeholders<'a>(json: &mut Value, now: impl Fn(&str) -> Option<&'a str>) {
    let text = text_of(json);
    let now_there = |place: Place| {
        let is_hidden = value_of(written_at(&text, &place)).as_str().is_some_and(is_placeholder);
        let now = now(&place.name).filter(|_| is_hidden)?;
        Some((place.range, now))
    };
    let whole = replaced(&text, places(&text).into_iter().filter_map(now_there));
    set(json, whole);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hidden(mut value: Value) -> Value {
        hide(&mut value);
        value
    }

    #[test]
    fn what_keys_say_is_hidden_at_any_depth_and_cursors_stay() {
        let given = json!({"a": [{"password": "x", "next_page_token": "y"}], "author": "ann", "api_key": {"n": 1}});
        let kept =
            json!({"a": [{"password": "[hidden]", "next_page_token": "y"}], "author": "ann", "api_key": "[hidden]"});
        assert_eq!(hidden(given.clone()), kept);
        assert_eq!(hidden(given.to_string().into()), kept.to_string());
        assert_eq!(hidden(kept.clone()), kept);
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is_written() {
        for text in [r#"{ "n" : 1 }"#, r#"the "password": "x""#, "\"password\"", "{broken", "", "[\"token\", \"x\"]"] {
            assert_eq!(hide_in_text(text.to_owned()), text);
        }
        assert_eq!(hide_in_text(r#" { "token" : "x" } "#.to_owned()), r#" { "token" : "[hidden]" } "#);
    }

    #[test]
    fn what_was_taken_out_is_put_back_where_a_placeholder_stands() {
        let given = json!({"a": [{"password": "x"}, {"pin": 1}], "b": 2});
        let (whole, secrets) = taken_out(&given.to_string()).unwrap();
        assert_eq!(secrets.keys().collect::<Vec<_>>(), ["/a/0/password", "/a/1/pin"]);
        let mut text = Value::from(whole.as_str());
        put_back(&mut text, &secrets);
        assert_eq!(text, given.to_string());
        let mut changed: Value = serde_json::from_str(&whole).unwrap();
        changed["a"][0]["password"] = json!("another");
        put_back(&mut changed, &secrets);
        assert_eq!(changed, json!({"a": [{"password": "another"}, {"pin": 1}], "b": 2}));
        for now in [given.clone(), given.to_string().into()] {
            let mut before =
                if now.is_string() { Value::from(whole.as_str()) } else { serde_json::from_str(&whole).unwrap() };
            fill(&mut before, &now);
            assert_eq!(before, now);
        }
        let mut erased = json!("[erased]");
        put_back(&mut erased, &secrets);
        assert_eq!(erased, "[erased]");
    }

    #[test]
    fn all_else_in_a_text_stays_as_it_is_written_and_comes_back_so() {
        for (given, kept) in [
            (
                r#"{"n": 123456789012345678901, "f": 1.10, "e": 1e400, "z": -0, "pin" : 12}"#,
                r#"{"n": 123456789012345678901, "f": 1.10, "e": 1e400, "z": -0, "pin" : "[hidden]"}"#,
            ),
            (
                r#"{"pin": {"a" : 1.10, "a":"\u0078", "n": [1e400, 123456789012345678901]}, "otp": -0.0}"#,
                r#"{"pin": "[hidden]", "otp": "[hidden]"}"#,
            ),
            (r#"{"otp": "\ud800"}"#, r#"{"otp": "[hidden]"}"#),
            (r#"{"b": 1, "a": {"to\u006ben": "x"}, "b": 2}"#, r#"{"b": 1, "a": {"to\u006ben": "[hidden]"}, "b": 2}"#),
            (r#"{"cut": "\ud83d", "otp": {"a":["}","\""]}}"#, r#"{"cut": "\ud83d", "otp": "[hidden]"}"#),
            ("\u{feff} {\"pin\": 1}", "\u{feff} {\"pin\": \"[hidden]\"}"),
            (r#"[{"token": "x", "token": "y"}, []]"#, r#"[{"token": "[hidden]", "token": "[hidden]"}, []]"#),
            (
                r#"[{"a": {"pin": 1}, "a": {"pin": 2}}, "{", {"pin": 3}]"#,
                r#"[{"a": {"pin": "[hidden]"}, "a": {"pin": "[hidden]"}}, "{", {"pin": "[hidden]"}]"#,
            ),
        ] {
            let (whole, secrets) = taken_out(given).unwrap();
            assert_eq!(whole, kept);
            assert!(taken_out(&whole).is_none(), "{whole}");
            let mut text = Value::from(whole.as_str());
            put_back(&mut text, &secrets);
            assert_eq!(text, given);
            let mut text = Value::from(whole);
            fill(&mut text, &given.into());
            assert_eq!(text, given);
        }
        let deep = format!("{}{{\"token\":\"x\"}}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(hide_in_text(deep.clone()), deep.as_str().replace("\"x\"", "\"[hidden]\""));
    }

    #[test]
    fn names_of_places_are_short_however_long_keys_are() {
        let key = "k".repeat(100_000);
        let given = json!({ key: vec![json!({ "pin": 1 }); 1_000] }).to_string();
        let (whole, secrets) = taken_out(&given).unwrap();
        assert_eq!(secrets.len(), 1_000);
        assert!(secrets.keys().map(String::len).sum::<usize>() < 2_000_000);
        let mut text = Value::from(whole);
        put_back(&mut text, &secrets);
        assert_eq!(text, given);
    }

    #[test]
    fn what_says_nothing_of_a_secret_stays() {
        let kept = json!({
            "token": null, "pin": true, "password": " ", "cookie": [], "secret": {"is_set": true}, "api_key": "string",
            "credentials": {"type": "object", "properties": {"password": {"type": "string", "minLength": 8}}},
            "otp": {"$ref": "#/otp"}, "nextToken": "n", "PaginationToken": "p", "next_sync_token": "s"
        });
        assert_eq!(hidden(kept.clone()), kept);
        for secret in [json!({"type": "string", "value": "x"}), json!({"type": "string", "default": "x"}), json!([0])] {
            assert_eq!(hidden(json!({ "password": secret })), json!({"password": "[hidden]"}));
        }
    }

    #[test]
    fn words_look_like_no_secrets() {
        for word in [
            "function",
            "return",
            "is required",
            "Function",
            "FUNCTION",
            "same-origin",
            "snake_case_word",
            "doesn't-matter",
            "a.b.c.d.e",
            "1234567",
            "hunter2",
            "Must have 8 characters!",
            "Bearer token",
            "Bearer authentication",
            "",
            "Überprüfen",
            "https://api.github.com",
            "パスワードのことば",
        ] {
            assert_eq!(secret_looking(word), None, "{word}");
        }
        for secret in ["hunter22", "12345678", "correct+horse", "aBcdefgh", "zq/hunter-ß", "same-origin-2", "-----(-)"]
        {
            assert_eq!(secret_looking(&format!(" {secret}\n")), Some(secret));
            assert_eq!(secret_looking(&format!("Bearer {secret}")), Some(secret));
        }
    }

    #[test]
    fn any_id_of_a_call_makes_a_name_that_can_be_given_to_restore() {
        assert_eq!(name_of("c1", ARGUMENTS), "call:c1.arguments");
        for id in ["", "a b/c", "line\nbreak", &"ä".repeat(500)] {
            let name = name_of(id, RESULT);
            assert!(crate::id::is_of_call(&name), "{name}");
            assert_eq!(name.parse::<VariableName>().unwrap().as_str(), name);
        }
    }
}
