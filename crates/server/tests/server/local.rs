//! Calls without a server.

use callboard_engine::Board;
use callboard_model::scripted::{Reply, Scripted};
use callboard_server::{Drive, Local, Pieces, Settings};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::fixtures::{self, asking, memory, settings};

/// Calls, and reads all that comes back.
async fn call(local: &Local, method: &str, path: &str, body: Value) -> (u16, Value) {
    let body: Pieces = stream::once(std::future::ready(Ok(body.to_string().into()))).boxed();
    let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
    let response = local.call(request.body(body).unwrap()).await;
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let mut pieces = response.into_body();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece.unwrap());
    }
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn board() -> Board {
    Board::new(memory().await, fixtures::board())
}

const TEAM: &str = r#"{"id": "s", "agents": [{"name": "lead", "role": "manager"}]}"#;

#[tokio::test]
async fn who_has_the_board_at_hand_needs_no_host_and_no_token() {
    let settings = Settings { user_tokens: vec!["secret".to_owned()], ..settings() };
    let local = Local::new(board().await, settings, Drive::Nothing).unwrap();
    assert_eq!(call(&local, "POST", "/v1/sessions", json!({"id": "s"})).await.0, 201);
    let (status, session) = call(&local, "GET", "/v1/sessions/s", Value::Null).await;
    assert_eq!((status, &session["id"]), (200, &json!("s")));
    assert_eq!(call(&local, "GET", "/v1/sessions/none", Value::Null).await.0, 404);
    assert_eq!(call(&local, "GET", "/nothing", Value::Null).await.1["code"], "not_found");
    assert_eq!(call(&local, "POST", "/healthz", Value::Null).await.1["code"], "method_not_allowed");
    local.close().await;
    assert_eq!(call(&local, "GET", "/v1/sessions/s", Value::Null).await.1["code"], "closed");
}

#[tokio::test]
async fn a_run_is_driven_where_that_is_wanted_and_waits_where_it_is_not() {
    let done = json!({"messageTo": "user", "message": "Done.", "workflowComplete": true});
    let endpoint = Scripted::start(move |_, _| Reply::json(&done));
    let settings = asking(&endpoint);
    let board = board().await;
    let waiting = Local::new(board.clone(), settings.clone(), Drive::Nothing).unwrap();
    call(&waiting, "POST", "/v1/sessions", serde_json::from_str(TEAM).unwrap()).await;
    let (status, run) = call(&waiting, "POST", "/v1/sessions/s/runs", json!({"kind": "team", "input": "Go"})).await;
    assert_eq!((status, &run["status"]), (201, &json!("running")));
    let path = format!("/v1/sessions/s/runs/{}", run["id"].as_str().unwrap());
    assert_eq!(call(&waiting, "POST", &format!("{path}/resume"), Value::Null).await.0, 200);
    assert_eq!(endpoint.requests(), Vec::<Value>::new(), "nobody drives it");

    let driving = Local::new(board.clone(), settings, Drive::Runs).unwrap();
    assert_eq!(endpoint.requests(), Vec::<Value>::new(), "what others left behind is not taken up");
    assert_eq!(call(&driving, "POST", &format!("{path}/resume"), Value::Null).await.0, 200);
    let session = board.session(&"s".parse().unwrap()).await.unwrap();
    let ended = session.when(|state| state.runs.unfinished().is_none().then_some(())).await;
    assert_eq!((ended, endpoint.requests().len()), (Some(()), 1));
    driving.close().await;
}
