//! Secrets in calls of tools: what keys in the arguments and the results of the caller's own tools say to be one.
//!
//! Arguments of calls that a model makes in a run are left alone: the program that executes them needs the values.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    entry::Hash,
    exact::quote_inexact,
    id::{VariableName, is_control},
    input::{CallPart, FreeText, InputVisitor},
    text::first_chars,
    variable::{find_secrets, is_placeholder, split},
};

/// What the names of secrets in calls begin with.
const CALL: &str = "call:";

/// How many characters of the id of a call are in such a name at most.
const ID_CHARS: usize = 150;

/// What the secrets in the arguments of a call are called, behind its id.
pub(crate) const ARGUMENTS: &str = "arguments";

/// What the secrets in the result of a call are called, behind its id.
pub(crate) const RESULT: &str = "result";

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
}

/// Whether `name` is what secrets in a call are called.
pub fn is_of_call(name: &str) -> bool {
    name.starts_with(CALL)
}

/// What the secrets in a part of the call with this id are called.
pub(crate) fn name_of(id: &str, part: &str) -> String {
    let plain = |c: char| if is_control(c) { '_' } else { c };
    let name: String = format!("{CALL}{}.{part}", first_chars(id, ID_CHARS)).chars().map(plain).collect();
    name.parse().map_or(name, |name: VariableName| name.to_string())
}

/// Shows the arguments or the result of a call to `visitor`, and says what was taken out of it. `at` is its place in the message.
pub(crate) fn take<'a>(
    (id, part): (&'a str, &'static str),
    json: CallJson<'a>,
    at: &str,
    visitor: &mut dyn InputVisitor,
) -> Option<TakenSecrets> {
    let name = visitor.call(&mut Part { id, part, json })?;
    Some(TakenSecrets { name, at: at.into() })
}

/// Where the JSON of a call stands.
pub(crate) enum CallJson<'a> {
    /// It is this.
    Value(&'a mut Value),
    /// It is what this text says, if that is JSON.
    Text(&'a mut dyn FreeText),
}

struct Part<'a> {
    id: &'a str,
    part: &'static str,
    json: CallJson<'a>,
}

impl CallPart for Part<'_> {
    fn name(&self) -> String {
        name_of(self.id, self.part)
    }

    fn has_secrets(&self) -> bool {
        match &self.json {
            CallJson::Value(value) => has_secrets(value),
            CallJson::Text(text) => json_of(text.as_str()).is_some_and(|value| has_secrets(&value)),
        }
    }

    fn take_secrets(&mut self) -> BTreeMap<String, Value> {
        match &mut self.json {
            CallJson::Value(value) => split("", value, None),
            CallJson::Text(text) => {
                let Some((whole, secrets)) = taken_out(text.as_str()) else { return BTreeMap::new() };
                text.replace(whole);
                secrets
            }
        }
    }
}

fn has_secrets(value: &Value) -> bool {
    !find_secrets("", value, None).secrets.is_empty()
}

/// The object or the list that a text is.
fn json_of(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(&quote_inexact(text)).ok()).flatten()
}

/// The JSON of a text without its secrets, and the secrets; `None` where there are none.
fn taken_out(text: &str) -> Option<(String, BTreeMap<String, Value>)> {
    let mut value = json_of(text)?;
    let secrets = split("", &mut value, None);
    (!secrets.is_empty()).then(|| (value.to_string(), secrets))
}

/// Hides what keys in the JSON of a call say to be secret. Nothing is sealed: it is for comparing calls.
pub fn hide(value: &mut Value) {
    match value {
        Value::String(text) => *text = hide_in_text(std::mem::take(text)),
        value => drop(split("", value, None)),
    }
}

/// The same in a text that may be JSON.
pub fn hide_in_text(text: String) -> String {
    taken_out(&text).map_or(text, |(whole, _)| whole)
}

/// Puts secrets back in the JSON of a call, or in the text of it: each at its JSON pointer, where a placeholder stands.
pub fn put_back(json: &mut Value, secrets: BTreeMap<String, Value>) {
    if let Value::String(text) = json {
        let Some(mut whole) = json_of(text) else { return };
        put_back(&mut whole, secrets);
        *text = whole.to_string();
        return;
    }
    for (pointer, secret) in secrets {
        if let Some(place) = json.pointer_mut(&pointer)
            && place.as_str().is_some_and(is_placeholder)
        {
            *place = secret;
        }
    }
}

/// Puts what the JSON of a call, or the text of it, is `now` in the place of each placeholder in what it was.
pub fn fill(json: &mut Value, now: &Value) {
    if let (Value::String(text), Some(now)) = (&mut *json, now.as_str()) {
        if let (Some(mut whole), Some(now)) = (json_of(text), json_of(now)) {
            fill_json(&mut whole, &now);
            *text = whole.to_string();
        }
        return;
    }
    fill_json(json, now);
}

fn fill_json(json: &mut Value, now: &Value) {
    match (json, now) {
        (Value::Array(all), Value::Array(now)) => {
            all.iter_mut().zip(now).for_each(|(inner, now)| fill_json(inner, now));
        }
        (Value::Object(fields), Value::Object(now)) => {
            for (key, inner) in fields.iter_mut() {
                if let Some(now) = now.get(key) {
                    fill_json(inner, now);
                }
            }
        }
        (json, now) if json.as_str().is_some_and(is_placeholder) => *json = now.clone(),
        _ => {}
    }
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
        assert_eq!(hide_in_text(r#" { "token" : "x" } "#.to_owned()), r#"{"token":"[hidden]"}"#);
    }

    #[test]
    fn what_was_taken_out_is_put_back_where_a_placeholder_stands() {
        let given = json!({"a": [{"password": "x"}, {"pin": 1}], "b": 2});
        let (whole, secrets) = taken_out(&given.to_string()).unwrap();
        assert_eq!(secrets.keys().collect::<Vec<_>>(), ["/a/0/password", "/a/1/pin"]);
        let mut text = Value::from(whole.as_str());
        put_back(&mut text, secrets.clone());
        assert_eq!(text, given.to_string());
        let mut changed: Value = serde_json::from_str(&whole).unwrap();
        changed["a"][0]["password"] = json!("another");
        put_back(&mut changed, secrets.clone());
        assert_eq!(changed, json!({"a": [{"password": "another"}, {"pin": 1}], "b": 2}));
        for now in [given.clone(), given.to_string().into()] {
            let mut before =
                if now.is_string() { Value::from(whole.as_str()) } else { serde_json::from_str(&whole).unwrap() };
            fill(&mut before, &now);
            assert_eq!(before, now);
        }
        let mut erased = json!("[erased]");
        put_back(&mut erased, secrets);
        assert_eq!(erased, "[erased]");
    }

    #[test]
    fn any_id_of_a_call_makes_a_name_that_can_be_given_to_restore() {
        assert_eq!(name_of("c1", ARGUMENTS), "call:c1.arguments");
        for id in ["", "a b/c", "line\nbreak", &"ä".repeat(500)] {
            let name = name_of(id, RESULT);
            assert!(is_of_call(&name), "{name}");
            assert_eq!(name.parse::<VariableName>().unwrap().as_str(), name);
        }
    }
}
