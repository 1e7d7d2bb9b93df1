//! Reading directives: what is good in one, and what is wrong with it.

use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{Directive, Reading, Recipient, SetUpdate, criteria, schema, text};
use crate::{agent::Team, context_set::SetOutcome, error::Fault, json};

/// Reads a directive: an object as the schema of the team has it, or a text in the fallback's grammar.
pub fn read(value: &Value, team: &Team) -> Reading {
    match value {
        Value::Object(fields) => match fields.get("text").and_then(Value::as_str) {
            Some(text) if fields.len() == 1 => read_text(text, team),
            _ => structured(fields.clone(), team),
        },
        Value::String(text) => read_text(text, team),
        _ => Reading { faults: vec![whole("a directive is a JSON object")], ..Reading::default() },
    }
}

/// Reads what a model said: JSON, JSON in a code fence, or text in the fallback's grammar.
pub fn read_text(text: &str, team: &Team) -> Reading {
    match json::object_in(text) {
        None => text::read(text, team),
        Some(Ok(fields)) => structured(fields, team),
        Some(Err(error)) => {
            let problem = format!("the JSON cannot be read: {}", json::in_words(&error.to_string()));
            Reading { faults: vec![whole(&problem)], ..Reading::default() }
        }
    }
}

fn structured(fields: Map<String, Value>, team: &Team) -> Reading {
    // Models that must give every field give `null`, or nothing in it, for those they mean to leave out.
    let mut value = json::without_nulls(Value::Object(fields));
    if let Some(fields) = value.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        fields.retain(|name, value| name != "contextUpdates" && !(name == "contextSetUpdate" && is_empty(value)));
    }
    Reading { directive: lenient(&value), faults: schema::faults(&value, team), unparsed: Vec::new() }
}

/// What is good in a directive, whatever else is in it.
fn lenient(value: &Value) -> Directive {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(Arc::from);
    let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let sets = value.pointer("/contextSetUpdate/contextSets").and_then(Value::as_array);
    Directive {
        message_to: value.get("messageTo").and_then(|to| serde_json::from_value(to.clone()).ok()),
        message: text("message").filter(|message: &Arc<str>| !message.trim().is_empty()),
        workflow_complete: flag("workflowComplete"),
        is_info_request: flag("isInfoRequest"),
        form: value.get("form").and_then(|form| serde_json::from_value(form.clone()).ok()),
        sets: sets.into_iter().flatten().map(set_update).collect(),
        expected_output: text("expectedOutput").and_then(criteria),
    }
}

/// An update of a set, or how it came out where it cannot be read.
fn set_update(value: &Value) -> Result<SetUpdate, SetOutcome> {
    let name = || value.get("name").and_then(Value::as_str).unwrap_or_default();
    SetUpdate::deserialize(value).map_err(|error| SetOutcome::rejected(name(), json::in_words(&error.to_string())))
}

/// What a directive says that cannot all be meant, or that a run cannot act on.
pub(crate) fn contradictions(directive: &Directive) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |pointer: &str, problem: &str| {
        faults.push(Fault { pointer: pointer.to_owned(), problem: problem.to_owned() });
    };
    let to_agent = matches!(directive.message_to, Some(Recipient::Agent(_)));
    if directive.workflow_complete && to_agent {
        fault("/workflowComplete", "the work is not complete while an agent is asked for more: say one or the other");
    }
    if directive.is_info_request && to_agent {
        fault("/isInfoRequest", "a request for information goes to the user: set messageTo to user");
    }
    if directive.is_info_request && directive.workflow_complete {
        fault("/isInfoRequest", "the work is not complete while the user is asked: say one or the other");
    }
    if (directive.is_info_request || directive.message_to.is_some()) && directive.message.is_none() {
        fault("/message", "say what the message is");
    }
    let to_nobody = directive.message_to.is_none() && !directive.is_info_request && !directive.workflow_complete;
    if directive.message.is_some() && to_nobody {
        fault("/messageTo", "say whom the message is for");
    }
    faults
}

/// A fault of the whole.
pub(crate) fn whole(problem: &str) -> Fault {
    Fault { pointer: String::new(), problem: problem.to_owned() }
}
