//! Keyed requests and stale heads.

use std::sync::Arc;

use callboard_core::{
    entry::{Actor, Hash},
    idempotency::Request,
};
use callboard_engine::KeyedRequest;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::{
    faulty::{Act, Call, Faulty},
    fixtures::{Answer, Server, memory, settings, soon, sqlite},
};

pub(crate) fn keyed(server: &Server, method: &str, path: &str, key: &str, body: &Value) -> RequestBuilder {
    server.call(method, path).header("Idempotency-Key", key).json(body)
}

/// What the journal has of such a request.
pub(crate) fn request(method: &str, path: &str, key: &str, body: &Value) -> Request {
    let fingerprint = Hash::of(format!("{method} {path}\n{body}").as_bytes());
    Request { key: key.parse().unwrap(), fingerprint: fingerprint.into() }
}

#[tokio::test]
async fn the_same_request_is_done_once_and_answered_the_same() {
    let (server, team) = Server::with_team().await;
    let message = json!({"messages": [{"role": "user", "content": "hello"}]});
    let calls = [
        ("POST", format!("{team}/threads/main/messages"), message),
        ("PUT", format!("{team}/context-sets/a"), json!({"content": "x"})),
        ("PATCH", team.clone(), json!({"title": "t"})),
        ("POST", format!("{team}/directives"), json!({"message": "hi", "messageTo": "user"})),
        ("POST", format!("{team}/tokens"), json!({"agent": "writer"})),
        ("POST", format!("{team}/fork"), json!({})),
        ("POST", "/v1/sessions".to_owned(), json!({"title": "new"})),
        ("DELETE", format!("{team}/context-sets/a"), json!({})),
    ];
    for (at, (method, path, body)) in calls.iter().enumerate() {
        let key = format!("key-{at}");
        let first = Answer::of(keyed(&server, method, path, &key, body)).await;
        assert!(first.status.is_success(), "{path}: {}", first.raw);
        let head = server.get(&team).await.head();
        let again = Answer::of(keyed(&server, method, path, &key, body)).await;
        assert_eq!((again.status, &again.raw), (first.status, &first.raw), "{path}");
        assert_eq!(server.get(&team).await.head(), head, "{path}");
        let other = json!({"other": true});
        let other = if method == &"PUT" { json!({"content": "y"}) } else { other };
        let reused = Answer::of(keyed(&server, method, path, &key, &other)).await;
        assert_eq!(reused.status, 422, "{path}: {}", reused.raw);
    }
    let put = format!("{team}/context-sets/a");
    let reused = Answer::of(keyed(&server, "PUT", &put, "key-1", &json!({"content": "y"}))).await;
    reused.problem(422, "idempotency_key_reused");
    assert_eq!(server.get("/v1/sessions").await.body["sessions"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_keyed_call_does_not_wait_for_one_with_another_key() {
    let faulty = Faulty::new(memory().await);
    let server = Server::with(faulty.clone(), settings()).await;
    let team = server.team("s").await;
    let (gate, is_copying) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (let_on, copying, mut appends) = (gate.clone(), is_copying.clone(), 0);
    // The first append of the fork notes that it was begun.
    faulty.play(move |call| {
        appends += usize::from(call == Call::Append);
        if call != Call::Append || appends != 2 {
            return Act::Pass;
        }
        copying.notify_one();
        Act::Wait(gate.clone())
    });
    let fork = tokio::spawn(Answer::of(keyed(&server, "POST", &format!("{team}/fork"), "fork", &json!({}))));
    is_copying.notified().await;
    let create = Answer::of(keyed(&server, "POST", "/v1/sessions", "create", &json!({"id": "t"})));
    soon("what does not wait for the fork", create).await.is(201);
    assert!(!fork.is_finished());
    let_on.add_permits(1);
    fork.await.unwrap().is(201);
}

#[tokio::test]
async fn a_fork_that_was_cut_short_is_made_as_it_was_meant() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/fork");
    let head = server.get(&team).await.head();
    let request = request("POST", &path, "k", &json!({}));
    let meant = json!({"meant": {"id": "t", "at": head}});
    // It was made and not answered, and both have gone on: the server died in between.
    assert!(matches!(server.board.begin(Actor::User, &request, None, meant).await.unwrap(), KeyedRequest::Begun(_)));
    server.send("POST", &path, json!({"id": "t", "at": head})).await.is(201);
    server.say("/v1/sessions/t", "main", "later").await;
    server.say(&team, "main", "later").await;
    let made = Answer::of(keyed(&server, "POST", &path, "k", &json!({}))).await.is(201);
    assert_eq!((made.text("id"), made.head()), ("t", head + 1));
    assert_eq!(server.get("/v1/sessions").await.body["sessions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_deleted_session_stays_deleted_for_the_same_request() {
    let (server, team) = Server::with_team().await;
    let delete = || server.call("DELETE", &team).header("Idempotency-Key", "k");
    Answer::of(delete()).await.is(204);
    Answer::of(delete()).await.is(204);
    server.delete(&team).await.problem(404, "not_found");
}

#[tokio::test]
async fn an_answer_is_given_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.db");
    let body = json!({"messages": [{"role": "user", "content": "hello"}]});
    let messages = "/v1/sessions/s/threads/main/messages";
    let server = Server::with(sqlite(&path).await, settings()).await;
    server.team("s").await;
    let first = Answer::of(keyed(&server, "POST", messages, "k", &body)).await.is(200);
    let token = Answer::of(keyed(&server, "POST", "/v1/sessions/s/tokens", "t", &json!({"agent": "writer"}))).await;
    let made = Answer::of(keyed(&server, "POST", "/v1/sessions", "new", &json!({}))).await.is(201);
    server.stop().await;
    let server = Server::with(sqlite(&path).await, settings()).await;
    assert_eq!(Answer::of(keyed(&server, "POST", messages, "k", &body)).await.raw, first.raw);
    let again = Answer::of(keyed(&server, "POST", "/v1/sessions/s/tokens", "t", &json!({"agent": "writer"}))).await;
    assert_eq!(again.raw, token.raw);
    assert_eq!(Answer::of(keyed(&server, "POST", "/v1/sessions", "new", &json!({}))).await.raw, made.raw);
}

#[tokio::test]
async fn the_same_request_many_times_at_once_appends_once() {
    let server = Arc::new(Server::start().await);
    let team = server.team("s").await;
    let before = server.get(&team).await.head();
    let calls = (0..20).map(|_| {
        let (server, path) = (server.clone(), format!("{team}/runs"));
        tokio::spawn(async move {
            Answer::of(keyed(&server, "POST", &path, "k", &json!({"kind": "team", "input": "go"}))).await
        })
    });
    let mut answers = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        answers.push(call.await.unwrap().is(201).raw);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    let runs = server.get(&format!("{team}/runs")).await;
    assert_eq!(runs.body["runs"].as_array().unwrap().len(), 1);
    assert!(server.get(&team).await.head() > before);
    let makes = (0..10).map(|_| {
        let server = server.clone();
        tokio::spawn(async move { Answer::of(keyed(&server, "POST", "/v1/sessions", "n", &json!({}))).await })
    });
    let mut made = Vec::new();
    for make in makes.collect::<Vec<_>>() {
        made.push(make.await.unwrap().is(201).raw);
    }
    made.dedup();
    assert_eq!(made.len(), 1);
}

#[tokio::test]
async fn keys_of_two_callers_never_meet() {
    let (server, team) = Server::with_team().await;
    let body = json!({"messages": [{"role": "user", "content": "hello"}]});
    let path = format!("{team}/threads/main/messages");
    let mine = Answer::of(keyed(&server, "POST", &path, "k", &body)).await.is(200);
    let his = Answer::of(keyed(&server, "POST", &format!("{path}?as=writer"), "k", &body)).await.is(200);
    assert_ne!(mine.raw, his.raw);
}

#[tokio::test]
async fn a_key_is_visible_text_of_some_length() {
    let (server, team) = Server::with_team().await;
    for key in ["", &"x".repeat(201)] {
        let path = format!("{team}/context-sets/a");
        let answer = Answer::of(keyed(&server, "PUT", &path, key, &json!({"content": "x"}))).await;
        answer.problem(400, "bad_idempotency_key");
    }
}

#[tokio::test]
async fn a_change_on_a_stale_head_is_refused() {
    let (server, team) = Server::with_team().await;
    let put = |head: &str| {
        let call = server.call("PUT", &format!("{team}/context-sets/a")).header("If-Match", head);
        call.json(&json!({ "content": head }))
    };
    let head = server.get(&team).await.head();
    let changed = Answer::of(put(&format!("\"{head}\""))).await.is(200);
    assert_eq!(changed.headers["etag"], format!("\"{}\"", head + 1));
    Answer::of(put(&format!("\"{head}\""))).await.problem(412, "stale");
    for malformed in ["4", "\"x\"", "W/\"4\"", "\"4\", \"5\"", "\"\"", "\"99999999999999999999\""] {
        Answer::of(put(malformed)).await.problem(400, "bad_if_match");
    }
    Answer::of(put("*")).await.is(200);
    let stale = server.call("DELETE", &team).header("If-Match", "\"1\"");
    Answer::of(stale).await.problem(412, "stale");
}
