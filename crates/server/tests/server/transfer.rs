//! Exports and imports.

use serde_json::json;

use crate::fixtures::{Answer, Server};

async fn exported(server: &Server) -> String {
    let team = server.team("s").await;
    let long = json!({ "content": "sea ".repeat(30_000) });
    server.send("PUT", &format!("{team}/context-sets/long"), long).await.is(200);
    let odd = json!({"messages": [{"role": "user", "content": "a\u{0}b\u{2028}c 😀 1.0e3", "metadata": {"n": 1.50}}]});
    server.send("POST", &format!("{team}/threads/main/messages"), odd).await.is(200);
    let lookalike = json!({"messages": [{"role": "user", "content": "x",
        "metadata": {"sha256": "00".repeat(32), "size_bytes": 1, "beginning": ""}}]});
    server.send("POST", &format!("{team}/threads/main/messages"), lookalike).await.is(200);
    let export = server.get(&format!("{team}/export")).await.is(200);
    assert_eq!(export.headers["content-type"], "application/x-ndjson");
    export.raw
}

#[tokio::test]
async fn an_import_gives_the_same_journal() {
    let server = Server::start().await;
    let lines = exported(&server).await;
    let elsewhere = Server::start().await;
    let made = Answer::of(elsewhere.import("/v1/import", &lines)).await.is(201);
    assert_eq!(made.text("id"), "s");
    let journal = "/v1/sessions/s/journal";
    assert_eq!(elsewhere.get(journal).await.raw, server.get(journal).await.raw);
    assert_eq!(elsewhere.get("/v1/sessions/s/export").await.raw, lines);
    let set = "/v1/sessions/s/context-sets/long";
    assert_eq!(elsewhere.get(set).await.raw, server.get(set).await.raw);
    Answer::of(elsewhere.import("/v1/import", &lines)).await.problem(409, "session_exists");
    Answer::of(elsewhere.import("/v1/import?id=other", &lines)).await.is(201);
}

#[tokio::test]
async fn a_cut_or_edited_export_is_refused_and_leaves_nothing() {
    let server = Server::start().await;
    let lines = exported(&server).await;
    let all: Vec<_> = lines.lines().collect();
    let without =
        |at: usize| all.iter().enumerate().filter(move |(n, _)| *n != at).map(|(_, line)| format!("{line}\n"));
    let mut wrong: Vec<String> = (0..all.len()).map(|at| without(at).collect()).collect();
    wrong.extend([
        lines.replace("sea sea", "sea see"),
        lines.replace("writer", "waiter"),
        lines[..lines.len() / 2].to_owned(),
        format!("{lines}{}", all[1]),
        format!("{lines}{lines}"),
        "not json\n".to_owned(),
        String::new(),
    ]);
    let elsewhere = Server::start().await;
    for (at, lines) in wrong.iter().enumerate() {
        let answer = Answer::of(elsewhere.import("/v1/import", lines)).await;
        assert_eq!(answer.status, 422, "{at}: {}", answer.raw);
        assert!(answer.text("detail").contains("nothing was imported"));
    }
    assert_eq!(elsewhere.get("/v1/sessions").await.body["sessions"], json!([]));
    let plain = elsewhere.call("POST", "/v1/import").body("x");
    Answer::of(plain).await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_keyed_import_is_done_once() {
    let server = Server::start().await;
    let lines = exported(&server).await;
    let elsewhere = Server::start().await;
    let call = || elsewhere.import("/v1/import", &lines).header("Idempotency-Key", "k");
    let first = Answer::of(call()).await.is(201);
    assert_eq!(Answer::of(call()).await.is(201).raw, first.raw);
}
