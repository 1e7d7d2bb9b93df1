//! The OpenAPI document: what the calls declare, and what all of them have in common.

use serde_json::{Map, Value, json};

use crate::controllers;

/// The OpenAPI document of all calls.
pub fn openapi() -> Value {
    let (_, declared) = controllers::routes().split_for_parts();
    // It is made of strings, numbers, lists and maps with string keys.
    let mut document = serde_json::to_value(declared).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        fields.insert("info".to_owned(), info());
        fields.insert("security".to_owned(), json!([{"token": []}, {}]));
        fields.remove("servers");
    }
    tidy(&mut document);
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        callboard_api::add_rules(schemas);
    }
    if let Some(components) = document.pointer_mut("/components").and_then(Value::as_object_mut) {
        components.insert("parameters".to_owned(), json!({"IdempotencyKey": key(), "IfMatch": if_match()}));
        let token = json!({"type": "http", "scheme": "bearer", "description": "A token of the server or of a session"});
        components.insert("securitySchemes".to_owned(), json!({ "token": token }));
    }
    for (path, calls) in document.pointer_mut("/paths").and_then(Value::as_object_mut).into_iter().flatten() {
        for (method, call) in calls.as_object_mut().into_iter().flatten() {
            if let Some(call) = call.as_object_mut() {
                complete(path, method, call);
            }
        }
    }
    document
}

/// Says of numbers that are not negative how large they may be, since `int64` would halve it, and leaves defaults out
/// that are empty.
fn tidy(value: &mut Value) {
    if let Some(fields) = value.as_object_mut()
        && fields.get("minimum").and_then(Value::as_u64).is_some()
        && fields.get("format").is_some_and(|format| format == "int64")
    {
        fields.remove("format");
        fields.entry("maximum").or_insert(json!(u64::MAX));
    }
    if let Some(fields) = value.as_object_mut()
        && fields.get("default").is_some_and(|default| [json!(null), json!([]), json!({})].contains(default))
    {
        fields.remove("default");
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(tidy),
        Value::Array(all) => all.iter_mut().for_each(tidy),
        _ => {}
    }
}

const DESCRIPTION: &str = "The context engine for teams of AI agents.\n\n\
    Every write takes the headers `Idempotency-Key` and `If-Match`, which are described among the components: what they \
    allow depends on what was sent before, which a schema cannot say. `GET /v1/sessions/{session}/ws` follows a journal \
    as `GET /v1/sessions/{session}/events` does, with the same query, over a WebSocket: one entry a frame, in JSON.";

fn info() -> Value {
    json!({
        "title": "Callboard",
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "license": {"name": "MIT OR Apache-2.0"},
    })
}

/// Adds what a call has in common with others.
fn complete(path: &str, method: &str, call: &mut Map<String, Value>) {
    if !path.starts_with("/v1/") {
        return;
    }
    let is_write = method != "get";
    let on_session = path.contains("{session}");
    let parameters = call.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        if on_session {
            parameters.push(acting());
        }
        parameters.iter_mut().for_each(never_null);
    }
    let has_body = call.contains_key("requestBody");
    let Some(responses) = call.get_mut("responses").and_then(Value::as_object_mut) else { return };
    // An entry to read on from may lie beyond the journal's end.
    let reads_on = path.ends_with("/journal") || path.ends_with("/events");
    for (status, description) in problems(is_write, on_session, has_body, reads_on) {
        responses.entry(status).or_insert_with(|| problem(description));
    }
}

fn acting() -> Value {
    json!({
        "name": "as", "in": "query", "required": false,
        "schema": {"type": "string"},
        "description": "The agent as which the call is made and with whose eyes it sees; for the user",
    })
}

fn key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]{1,200}$"},
        "description": "The same request under the same key is done once, and answered the same each time",
    })
}

fn if_match() -> Value {
    json!({
        "name": "If-Match", "in": "header", "required": false,
        "schema": {"type": "string", "pattern": "^\"[0-9]{1,19}\"$"},
        "description": "The head that the session must have: otherwise nothing is done, and the answer is 412",
    })
}

/// What is left out of a query or a head is not there; it has no way to say `null`.
fn never_null(parameter: &mut Value) {
    if let Some(kind) = parameter.pointer_mut("/schema/type")
        && let Some(word) = kind.as_array().and_then(|kinds| kinds.first().cloned())
    {
        *kind = word;
    }
}

/// The statuses with which a call can fail.
fn problems(
    is_write: bool,
    on_session: bool,
    has_body: bool,
    reads_on: bool,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = [
        (true, "400", "The request is malformed"),
        (true, "401", "Nobody is let in with this"),
        (true, "403", "The caller may not do this, or calls from another site's page"),
        (true, "404", "There is no such thing, or none that the caller may see"),
        (is_write, "408", "The body took too long to arrive"),
        (is_write || reads_on, "409", "It contradicts what is there"),
        (is_write && on_session, "412", "`If-Match: \"<seq>\"` was sent, and that is not the session's head any more"),
        (is_write, "413", "It is too large"),
        (has_body, "415", "The body is not in the form that is understood"),
        (true, "422", "What was sent is not valid"),
        (true, "500", "It failed"),
        (true, "503", "It cannot be done now"),
        (is_write, "507", "The store is full"),
    ];
    all.into_iter().filter(|(can, ..)| *can).map(|(_, status, description)| (status, description))
}

fn problem(description: &str) -> Value {
    let content = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    json!({ "description": description, "content": content })
}
