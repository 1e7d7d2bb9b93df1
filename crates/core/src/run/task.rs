//! The tasks of turns, where the task is not simply the last message of the thread.

use crate::{
    error::Fault,
    id::{AgentName, SetName},
};

pub(super) fn answered(form: &SetName) -> String {
    format!(
        "The user has answered the form {form}: the answer is in the context set of that name. Give your next directive.",
    )
}

pub(super) fn repair(said: &str, faults: &[Fault]) -> String {
    let faults = faults.iter().map(|fault| format!("- {fault}")).collect::<Vec<_>>().join("\n");
    format!(
        "Your last directive could not be used as it was:\n{said}\n\nWhat was wrong with it:\n{faults}\n\n\
         Give the directive again, whole, with these faults mended.",
    )
}

pub(super) fn form(request: &str) -> String {
    format!(
        "You ask the user for information{}\n\nSay what the form for the answer asks for: a JSON object \
         with `name` and `fields`. Each field has `key`, `valueType` (STRING, NUMBER, BOOLEAN, DATE, ENUM, \
         ENUM_OR_CUSTOM, ARRAY or FILE), `label`, `required`, and `enumValues` where there is a choice. \
         Few fields are best.",
        unless_hidden(request),
    )
}

pub(super) fn check(agent: &AgentName, criteria: &str) -> String {
    format!(
        "Check whether the last answer of {agent} is what was expected{}\n\nAnswer with a JSON object: \
         `valid`, true or false, and `reason`, one sentence.",
        unless_hidden(criteria),
    )
}

/// The end of a sentence with `text`, unless it is hidden from the agent.
fn unless_hidden(text: &str) -> String {
    if text.is_empty() { ".".to_owned() } else { format!(": {text}") }
}
