//! What an agent is told to do in a turn whose task is not simply the last message of its thread.

use serde_json::{Value, json};

use crate::run::Due;

/// The task of a turn, where it is not the last message of the thread.
pub fn task(due: &Due) -> Option<String> {
    match due {
        Due::Directive | Due::Work { .. } | Due::User { .. } | Due::Tools { .. } => None,
        Due::Answered { form } => Some(format!(
            "The user has answered the form {form}: the answer is in the context set of that name. Give your next \
             directive.",
        )),
        Due::Repair { said, faults } => {
            let faults = faults.iter().map(|fault| format!("- {fault}")).collect::<Vec<_>>().join("\n");
            Some(format!(
                "Your last directive could not be used as it was:\n{said}\n\nWhat was wrong with it:\n{faults}\n\n\
                 Give the directive again, whole, with these faults mended.",
            ))
        }
        Due::Form { request } => Some(format!(
            "You ask the user for information{}\n\nSay what the form for the answer asks for: a JSON object \
             with `name` and `fields`. Each field has `key`, `valueType` (STRING, NUMBER, BOOLEAN, DATE, ENUM, \
             ENUM_OR_CUSTOM, ARRAY or FILE), `label`, `required`, and `enumValues` where there is a choice. \
             Few fields are best.",
            unless_hidden(request),
        )),
        Due::Check { agent, criteria, .. } => Some(format!(
            "Hold the last answer of {agent} against what was expected of it{}\n\nAnswer with a JSON object: \
             `valid`, true or false, and `reason`, one sentence.",
            unless_hidden(criteria),
        )),
    }
}

/// The end of a sentence that says `text`, where whoever is told may see it.
fn unless_hidden(text: &str) -> String {
    if text.is_empty() { ".".to_owned() } else { format!(": {text}") }
}

/// The JSON Schema of a verdict on an answer.
pub fn check_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"valid": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["valid", "reason"],
    })
}
