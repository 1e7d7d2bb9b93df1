//! The OpenAPI document: what each call declares, and what all of them have in common.

use callboard_core::{
    id::{CollectionName, SessionId},
    json::value_of,
};
use serde_json::{Map, Value, json};
use utoipa::{
    IntoParams as _,
    openapi::{PathItem, RefOr},
};

use crate::{params::InPath, resources};

/// The OpenAPI document of all calls.
pub fn openapi() -> Value {
    let (_, mut declared) = resources::routes().split_for_parts();
    for (path, calls) in &mut declared.paths.paths {
        declare_target(path, calls);
    }
    let mut document = value_of(&declared);
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
        let token = json!({"type": "http", "scheme": "bearer", "description": "A user token of the server, or an access token of one session"});
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

/// Declares the session or collection in the path of calls.
fn declare_target(path: &str, calls: &mut PathItem) {
    let target = if path.contains("{session}") {
        InPath::<SessionId>::into_params(|| None)
    } else if path.contains("{collection}") {
        InPath::<CollectionName>::into_params(|| None)
    } else {
        return;
    };
    let PathItem { get, put, post, patch, delete, .. } = calls;
    for call in [get, put, post, patch, delete].into_iter().flatten() {
        let declared = call.parameters.take().unwrap_or_default();
        call.parameters = Some(target.iter().cloned().map(RefOr::T).chain(declared).collect());
    }
}

/// Gives unsigned numbers their maximum, since `int64` would halve it, and removes empty defaults.
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
    **Access.** A server that has user tokens, or that can be reached from other machines, requires an access token in \
    the header `Authorization: Bearer TOKEN`: a user token of the server, or a token of one session. An agent's token \
    acts as this agent and sees only what the agent may see; what is hidden from it answers like what does not exist. \
    The user can act as any agent with the parameter `as`.\n\n\
    **Writes.** Every write accepts the headers `Idempotency-Key` and `If-Match`. They are described under \
    `components/parameters` and not with each call, since their effect depends on earlier requests.\n\n\
    **Errors.** Errors are problem JSON (RFC 9457). `code` is a stable word for programs, `pointer` and `errors` name \
    invalid fields, and `hint` says how to fix it.\n\n\
    **Streams.** `GET /v1/sessions/{session}/ws` follows a journal over a WebSocket, with the same query as \
    `GET /v1/sessions/{session}/events`: one entry per frame, as JSON.";

fn info() -> Value {
    json!({
        "title": "Callboard",
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "license": {"name": "MIT OR Apache-2.0"},
    })
}

/// Adds what all calls have in common.
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
    // The entry to continue from may lie beyond the end of the journal.
    let reads_on = path.ends_with("/journal") || path.ends_with("/events");
    for (status, description) in problems(is_write, on_session, has_body, reads_on) {
        responses.entry(status).or_insert_with(|| problem(description));
    }
}

fn acting() -> Value {
    json!({
        "name": "as", "in": "query", "required": false,
        "schema": {"type": "string"},
        "description": "Act as this agent and see what it sees. The user may name any agent, an agent only itself",
    })
}

fn key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]{1,200}$"},
        "description": "A key of your choice for this request. Repeating the request with the same key gives the first answer again and changes nothing",
    })
}

fn if_match() -> Value {
    json!({
        "name": "If-Match", "in": "header", "required": false,
        "schema": {"type": "string", "pattern": "^\"[0-9]{1,19}\"$"},
        "description": "The number of the newest entry that you know, in quotes. If the session has another head, nothing is changed and the answer is 412",
    })
}

/// Parameters are never `null`: an absent one is left out.
fn never_null(parameter: &mut Value) {
    if let Some(kind) = parameter.pointer_mut("/schema/type")
        && let Some(word) = kind.as_array().and_then(|kinds| kinds.first().cloned())
    {
        *kind = word;
    }
}

/// The statuses with which a call can fail, with their descriptions.
fn problems(
    is_write: bool,
    on_session: bool,
    has_body: bool,
    reads_on: bool,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = [
        (true, "400", "Malformed request"),
        (true, "401", "Missing or invalid token"),
        (true, "403", "The caller may not do this, or the request comes from a web page of another origin"),
        (true, "404", "Not found, or not visible to the caller"),
        (is_write, "408", "The body took too long to arrive"),
        (is_write || reads_on, "409", "Conflict with the current state; `code` says which"),
        (on_session, "410", "The session has expired; said to the user, for 30 days"),
        (is_write && on_session, "412", "`If-Match` names another entry than the session's head"),
        (is_write, "413", "The body, or a text in it, is too large"),
        (has_body, "415", "Unsupported content type"),
        (true, "422", "Invalid input; `errors` names each invalid field"),
        (true, "500", "Internal error"),
        (true, "503", "Temporarily unavailable; with the header `Retry-After`, try again"),
        (is_write, "507", "The store is full"),
    ];
    all.into_iter().filter(|(can, ..)| *can).map(|(_, status, description)| (status, description))
}

fn problem(description: &str) -> Value {
    let content = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    json!({ "description": description, "content": content })
}
