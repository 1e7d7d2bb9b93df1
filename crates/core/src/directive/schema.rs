//! The JSON Schema of a directive, made for a team as it is now.

use serde_json::{Value, json};

use crate::{agent::Team, error::Fault, id::AgentName, json};

/// The JSON Schema that a directive of this team's manager is held against. Every field may be absent.
pub fn schema(team: &Team) -> Value {
    let workers: Vec<_> = team.workers().map(|agent| agent.name.as_str()).collect();
    let recipients: Vec<_> = workers.iter().copied().chain(["user"]).collect();
    let names: Vec<_> = team.names().map(AgentName::as_str).collect();
    let words: Vec<_> = ["all", "none"].into_iter().chain(names.iter().copied()).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Directive",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "messageTo": {"type": "string", "enum": recipients, "description": "who gets the message"},
            "message": {"type": "string", "description": "what you tell or ask them"},
            "expectedOutput": {"type": "string", "description": "what a good answer to the message has in it"},
            "contextSetUpdate": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"contextSets": {"type": "array", "items": set(&words, &names)}},
                "required": ["contextSets"],
            },
            "isInfoRequest": {"type": "boolean", "description": "true if the message asks the user for information"},
            "form": form(),
            "workflowComplete": {"type": "boolean", "description": "true if the user's task is done"},
        },
    })
}

fn set(words: &[&str], names: &[&str]) -> Value {
    let listed = if names.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": names}) };
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 200},
            "context": {"type": "string", "description": "the whole new content; empty to delete the set"},
            "newOrUpdate": {"type": "string", "enum": ["new", "update"]},
            "visibleToAgents": {"anyOf": [{"type": "string", "enum": words}, {"type": "array", "items": listed}]},
        },
        "required": ["name", "context"],
    })
}

/// The JSON Schema of a form.
pub fn form() -> Value {
    let types = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM", "ENUM_OR_CUSTOM", "ARRAY", "FILE"];
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 200},
            "fields": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "key": {"type": "string", "minLength": 1},
                    "valueType": {"type": "string", "enum": types},
                    "label": {"type": "string"},
                    "required": {"type": "boolean"},
                    "enumValues": {"type": "array", "items": {"type": "string"}},
                    "description": {"type": "string"},
                },
                "required": ["key", "valueType", "label", "required"],
            }},
            "answered": {"type": "boolean"},
        },
        "required": ["fields"],
    })
}

/// How many faults are told one by one.
const MAX_FAULTS: usize = 50;

/// What of `value` the schema of `team` does not allow, each with its JSON pointer.
pub(crate) fn faults(value: &Value, team: &Team) -> Vec<Fault> {
    let names = || team.workers().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
    let validator = match jsonschema::validator_for(&schema(team)) {
        Ok(validator) => validator,
        Err(error) => return vec![Fault { pointer: String::new(), problem: error.to_string() }],
    };
    let fault = |error: jsonschema::ValidationError<'_>| {
        let pointer = error.instance_path().to_string();
        let problem = match pointer.as_str() {
            "/messageTo" => format!("{} gets no messages: name one of {}, or \"user\"", error.instance(), names()),
            _ if pointer.ends_with("/visibleToAgents") => format!(
                "{} is no visibility: use \"all\", \"none\", the name of an agent or a list of names; the team is: {}",
                error.instance(),
                team.names().map(AgentName::as_str).collect::<Vec<_>>().join(", "),
            ),
            _ => json::fault_in_words(&error),
        };
        Fault { pointer, problem: problem.chars().take(500).collect() }
    };
    let mut errors = validator.iter_errors(value);
    let mut faults: Vec<_> = errors.by_ref().take(MAX_FAULTS).map(fault).collect();
    // In whichever order the validator looks, they are told in one.
    faults.sort_by(|one, other| (&one.pointer, &one.problem).cmp(&(&other.pointer, &other.problem)));
    faults.dedup();
    let more = errors.count();
    if more > 0 {
        faults.push(Fault { pointer: String::new(), problem: format!("and {more} more faults") });
    }
    faults
}
