//! Failed calls as problem JSON (RFC 9457). This is the one place where codes get their HTTP status.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use callboard_core::{error::ConflictKind, json::text_of};

use crate::call_error::CallError;

/// The status of an error with this code.
pub(crate) fn status(code: &str) -> StatusCode {
    kind(code).0
}

/// The status and the title of each code. A title is the same for every problem of its code.
fn kind(code: &str) -> (StatusCode, &'static str) {
    let (status, title) = match code {
        "bad_json" => (400, "Malformed JSON"),
        "bad_body" => (400, "Incomplete body"),
        "bad_path" => (400, "Malformed path"),
        "bad_query" => (400, "Malformed query"),
        "bad_host" => (400, "Malformed header Host"),
        "bad_origin" => (400, "Malformed header Origin"),
        "bad_idempotency_key" => (400, "Malformed header Idempotency-Key"),
        "bad_if_match" => (400, "Malformed header If-Match"),
        "bad_last_event_id" => (400, "Malformed header Last-Event-ID"),
        "unauthorized" => (401, "Missing or invalid token"),
        "forbidden" => (403, "Not allowed"),
        "host_refused" => (403, "Unknown host name"),
        "origin_refused" => (403, "Origin not allowed"),
        "address_refused" => (403, "The browser may not open this address"),
        "secret_not_allowed" => (403, "The secret may not be typed into this page"),
        "not_found" => (404, "Not found"),
        "no_orchestration" => (404, "The team has no steps"),
        "no_project" => (404, "The server has no project folder"),
        "no_browser" => (404, "Sessions have no browser here"),
        "no_such_tab" => (404, "No such tab"),
        "method_not_allowed" => (405, "Method not allowed"),
        "too_slow" => (408, "The body took too long to arrive"),
        "exists" => (409, "The name is in use"),
        "no_node_result" => (409, "The node gave no result"),
        "tab_name_taken" => (409, "Another tab has this name"),
        "tab_crashed" => (409, "The page of the tab crashed"),
        "too_many_tabs" => (409, "Too many tabs"),
        "too_many_browsers" => (409, "Too many browsers"),
        "misplaced" => (409, "Something else is in the place of a file or folder"),
        "manifest_missing" => (409, "The folder has no manifest"),
        "manifest_damaged" => (409, "The manifest is damaged"),
        "manifest_of_another_session" => (409, "The manifest belongs to another session"),
        "token_not_repeatable" => (409, "The token cannot be shown again"),
        "expired" => (410, "The session has expired"),
        "stale" => (412, "The session has changed"),
        "too_large" => (413, "Too large"),
        "unsupported_media_type" => (415, "Unsupported content type"),
        "invalid" => (422, "Invalid input"),
        "bad_tab_name" => (422, "Not a name of a tab"),
        "bad_selector" => (422, "Not a selector"),
        "nothing_matches" => (422, "The selector matches nothing"),
        "several_match" => (422, "The selector matches several elements"),
        "not_usable" => (422, "The element cannot be used"),
        "no_such_option" => (422, "The list has no such option"),
        "bad_key" => (422, "Not a key"),
        "cannot_load" => (422, "The page cannot be loaded"),
        "outside" => (422, "The path leads out of the session's folder"),
        "budget_exceeded" => (422, "The budget is too small"),
        "pins_too_large" => (422, "Too much is pinned"),
        "nothing_to_erase" => (422, "The entry holds no words that could be erased"),
        "idempotency_key_reused" => (422, "The idempotency key belongs to another request"),
        "no_websocket" => (426, "WebSocket required"),
        "internal" => (500, "Internal error"),
        "damaged" => (500, "Damaged entry"),
        "store_damaged" => (500, "The store is damaged"),
        "no_free_name" => (500, "No free name"),
        "denied" => (500, "The system does not allow access to a file"),
        "io" => (500, "A file cannot be read or written"),
        "page_unreadable" => (502, "The page cannot be read"),
        "secrets_not_covered" => (502, "Secrets could not be painted over"),
        "browser_refused" => (502, "The browser refused"),
        "browser_not_understood" => (502, "The browser is not understood"),
        "browser_not_installed" => (503, "Chromium is not installed"),
        "browser_cannot_start" => (503, "Chromium does not start"),
        "browser_cannot_attach" => (503, "No browser to attach to"),
        "browser_gone" => (503, "The browser has ended"),
        "browser_io" => (503, "The browser cannot be used"),
        "browser_timed_out" => (504, "The browser took too long"),
        "busy" => (503, "Too many concurrent changes"),
        "store_failed" => (503, "The store failed"),
        "store_unsettled" => (503, "The store failed, and the outcome is unknown"),
        "clock_off" => (503, "The clocks of server and store differ"),
        "closed" => (503, "The server is shutting down"),
        "sealed" => (503, "Secrets cannot be sealed or opened"),
        "written_by_newer" => (503, "Written by a newer version"),
        "task_panicked" => (503, "A background task has failed"),
        "no_randomness" => (503, "No random numbers"),
        "store_full" => (507, "The store is full"),
        "full" => (507, "The disk is full"),
        conflict => match ConflictKind::of(conflict) {
            Some(kind) => (409, kind.title()),
            None => (500, "Internal error"),
        },
    };
    (StatusCode::from_u16(status).unwrap_or_default(), title)
}

/// The calls that list the things of a kind, where one of these is not there.
const LISTED: [(&str, &str); 4] = [
    ("agent", "GET /v1/sessions/{session} lists the agents"),
    ("context set", "GET /v1/sessions/{session}/context-sets lists the context sets"),
    ("form", "GET /v1/sessions/{session}/forms lists the forms"),
    ("thread", "GET /v1/sessions/{session}/threads lists the threads"),
];

/// Problems that pass: the same request may succeed a second later.
const PASSING: [&str; 5] = ["busy", "store_failed", "store_unsettled", "clock_off", "closed"];

impl IntoResponse for CallError {
    fn into_response(self) -> Response {
        let (code, (status, title)) = (self.code, kind(self.code));
        if status.is_server_error() {
            tracing::error!(code, detail = self.detail, "a call failed");
        }
        let errors: Vec<_> =
            self.faults.into_iter().map(|fault| api::Fault { pointer: fault.pointer, detail: fault.problem }).collect();
        let listed = LISTED.iter().find(|(what, _)| self.resource == Some(*what));
        let problem = api::Problem {
            kind: Some(format!("urn:callboard:problem:{code}")),
            title: Some(title.to_owned()),
            status: Some(status.as_u16()),
            code: code.to_owned(),
            detail: self.detail,
            resource: self.resource.map(|what| what.replace(' ', "_")),
            pointer: errors.first().map(|fault| fault.pointer.clone()),
            errors,
            hint: self.hint.or_else(|| listed.map(|(_, hint)| (*hint).to_owned())),
        };
        let mut response = (status, text_of(&problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"callboard\""));
        }
        if PASSING.contains(&code) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests;
