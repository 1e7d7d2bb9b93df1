use std::{collections::BTreeSet, fs, path::Path};

use axum::{
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use callboard_core::error::{ConflictKind, Error as Refusal};

use super::kind;
use crate::call_error::CallError;

/// The status, the headers and the body with which an error is answered.
async fn answered(error: impl Into<CallError>) -> (u16, HeaderMap, serde_json::Value) {
    let (parts, body) = error.into().into_response().into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    (parts.status.as_u16(), parts.headers, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn an_error_is_answered_as_problem_json() {
    let (status, headers, body) = answered(Refusal::invalid("/agents/0", "use another name")).await;
    assert_eq!((status, &headers["content-type"]), (422, &"application/problem+json".parse().unwrap()));
    let expected = serde_json::json!({
        "type": "urn:callboard:problem:invalid",
        "title": "Invalid input",
        "status": 422,
        "code": "invalid",
        "detail": "/agents/0: use another name",
        "pointer": "/agents/0",
        "errors": [{"pointer": "/agents/0", "detail": "use another name"}],
    });
    assert_eq!(body, expected);
    let (_, _, body) = answered(Refusal::not_found("thread", "mian")).await;
    assert_eq!(body["hint"], "GET /v1/sessions/{session}/threads lists the threads");
    let (_, _, body) = answered(CallError::not_found("thread", "mian").hint("look closer")).await;
    assert_eq!(body["hint"], "look closer");
    let (status, headers, _) = answered(callboard_engine::Error::Closed).await;
    assert_eq!((status, headers["retry-after"].to_str().unwrap()), (503, "1"));
    let (status, headers, _) = answered(CallError::unauthorized("this server requires a token")).await;
    assert_eq!((status, headers.contains_key("www-authenticate")), (401, true));
}

#[test]
fn a_conflict_has_the_title_that_its_documentation_gives() {
    assert_eq!(kind("form_answered"), (StatusCode::CONFLICT, ConflictKind::FormAnswered.title()));
    assert_eq!(ConflictKind::FormAnswered.title(), "The form was answered before");
}

/// Every code that a call, the engine, the rules or context files give stands in the table.
#[test]
fn every_code_has_a_status_and_a_title() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut codes = BTreeSet::new();
    for file in ["core/src/error.rs", "engine/src/error.rs", "files/src/error.rs", "browser/src/error.rs"] {
        let text = fs::read_to_string(crates.join(file)).unwrap();
        codes.extend(between(&text, "=> \"", "\"").map(str::to_owned));
        codes.extend(between(&text, "_ => \"", "\"").map(str::to_owned));
    }
    let mut folders = vec![crates.join("server/src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                let text = fs::read_to_string(path).unwrap().replace("(\n", "(").replace("  ", "");
                codes.extend(between(&text, "CallError::new(\"", "\"").map(str::to_owned));
            }
        }
    }
    assert!(codes.len() > 30, "{codes:?}");
    for code in codes {
        assert!(
            code == "internal"
                || kind(&code).0 != StatusCode::INTERNAL_SERVER_ERROR
                || kind(&code).1 != "Internal error",
            "{code}"
        );
    }
}

fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

/// What `docs/errors.md` lists is true, and no code of the table is missing there. It lists conflicts too.
#[test]
fn the_page_on_errors_lists_the_codes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/errors.md")).unwrap();
    let row = |code: &str| {
        let (status, title) = kind(code);
        format!("| `{code}` | {} | {title} |", status.as_u16())
    };
    let listed: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    for code in &listed {
        assert!(page.contains(&row(code)), "expected in docs/errors.md: {}", row(code));
    }
    let table = fs::read_to_string(root.join("crates/server/src/problem.rs")).unwrap();
    let codes = between(&table, "        \"", "\" => (");
    let missing: Vec<_> = codes.filter(|code| !listed.contains(code)).map(row).collect();
    assert!(missing.is_empty(), "missing in docs/errors.md:\n{}", missing.join("\n"));
}
