//! Erasing entries: what is refused, what is answered, and that nothing of it is left in any answer or file.

use std::path::Path;

use callboard_engine::Settings as BoardSettings;
use serde_json::{Value, json};

use crate::fixtures::{self, Answer, Server, settings, sqlite};

/// What is erased.
const PRIVATE: &str = "zq-private-4711";

async fn erase(server: &Server, session: &str, seq: u64) -> Answer {
    server.delete(&format!("{session}/journal/{seq}?reason=it%20is%20private")).await
}

#[tokio::test]
async fn who_may_not_and_what_cannot_be_erased_is_refused() {
    let (server, s) = Server::with_team().await;
    let seq = server.say(&s, "main", PRIVATE).await;
    let lead = server.token(&s, "lead").await;
    let head = server.get(&s).await.head();
    let path = format!("{s}/journal/{seq}?reason=x");
    Answer::of(server.call("DELETE", &path).bearer_auth(lead)).await.problem(403, "forbidden");
    server.delete(&format!("{path}&as=writer")).await.problem(403, "forbidden");
    server.delete(&format!("{s}/journal/99?reason=x")).await.problem(404, "not_found");
    server.delete(&format!("{s}/journal/0?reason=x")).await.problem(404, "not_found");
    server.delete(&format!("{s}/journal/x?reason=x")).await.problem(422, "invalid");
    server.delete(&format!("{s}/journal/{seq}")).await.problem(422, "invalid");
    server.delete(&format!("{s}/journal/{seq}?reason=%20")).await.problem(422, "invalid");
    server.delete(&format!("{s}/journal/{seq}?reason={}", "x".repeat(1001))).await.problem(422, "invalid");
    server.delete(&format!("{s}/journal/3?reason=x")).await.problem(422, "nothing_to_erase");
    let stale = server.call("DELETE", &path).header("if-match", "\"1\"");
    Answer::of(stale).await.problem(412, "stale");
    assert_eq!(server.get(&s).await.head(), head);
    assert_eq!(server.get(&format!("{s}/threads/main/messages")).await.body["messages"][0]["content"], PRIVATE);
}

#[tokio::test]
async fn an_entry_that_was_erased_before_is_answered_in_the_same_way() {
    let (server, s) = Server::with_team().await;
    let seq = server.say(&s, "main", PRIVATE).await;
    server.send("POST", &format!("{s}/fork"), json!({"id": "f"})).await.is(201);
    let first = erase(&server, &s, seq).await.is(200);
    let (by, head) = (first.body["erased_by"].as_u64().unwrap(), first.head());
    assert_eq!(first.body, json!({"seq": seq, "erased_by": by, "copies": [], "forks": ["f"], "head": head}));
    assert_eq!(erase(&server, &s, seq).await.is(200).body, first.body);
    let keyed = server.call("DELETE", &format!("{s}/journal/{seq}?reason=x")).header("idempotency-key", "k");
    assert_eq!(Answer::of(keyed.try_clone().unwrap()).await.is(200).body["seq"], seq);
    Answer::of(keyed).await.is(200);
    let journal = server.get(&format!("{s}/journal?types=message.added,entry.erased")).await.is(200);
    let [message, erased] = &journal.body["entries"].as_array().unwrap()[..] else { panic!("{}", journal.raw) };
    assert_eq!((&message["data"]["content"], &message["data"]["erased_by"]), (&json!("[erased]"), &json!(by)));
    assert_eq!((&erased["by"], &erased["data"]["reason"]), (&json!("user"), &json!("it is private")));
    assert!(server.get(&format!("{s}/journal?types=entry.erased&as=lead")).await.body["entries"] == json!([]));
    assert_eq!(erase(&server, "/v1/sessions/f", seq).await.is(200).body["forks"], json!([]));
}

#[tokio::test]
async fn an_erased_session_is_exported_imported_and_forked() {
    let (server, s) = Server::with_team().await;
    let seq = server.say(&s, "main", PRIVATE).await;
    let early = server.get(&s).await.head();
    erase(&server, &s, seq).await.is(200);
    let export = server.get(&format!("{s}/export")).await.is(200).raw;
    assert!(!export.contains(PRIVATE) && export.contains("hash_salt"), "{export}");
    Answer::of(server.import("/v1/import?id=i", &export)).await.is(201);
    server.send("POST", &format!("{s}/fork"), json!({"id": "f", "at": early})).await.is(201);
    for session in ["i", "f"] {
        let page = server.get(&format!("/v1/sessions/{session}/threads/main/messages")).await.is(200);
        assert_eq!(page.body["messages"][0]["content"], "[erased]");
        server.say(&format!("/v1/sessions/{session}"), "main", "and on").await;
    }
    assert_eq!(erase(&server, "/v1/sessions/f", seq).await.is(200).body["erased_by"], Value::Null);
    let forged = export.replacen("\"content\":\"[erased]\"", "\"content\":\"I never said it\"", 1);
    assert_ne!(forged, export);
    Answer::of(server.import("/v1/import?id=forged", &forged)).await.problem(422, "invalid");
}

/// Whether a file of the folder contains the text.
pub(crate) fn is_in_a_file(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_in_a_file(&path, text);
        }
        std::fs::read(path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes())
    })
}

#[tokio::test]
async fn nothing_that_was_erased_is_left_in_an_answer_or_after_an_orderly_stop_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder.path().join("callboard.db")).await;
    let board = BoardSettings { snapshot_every: 3, ..fixtures::board() };
    let server = Server::of(store, settings(), board).await;
    let s = server.team("s").await;
    let long = format!("{PRIVATE} ").repeat(10_000);
    let mut written = vec![server.say(&s, "main", PRIVATE).await, server.say(&s, "main", &long).await];
    let puts = [
        ("PUT", "/context-sets/facts", json!({"content": PRIVATE})),
        ("PUT", "/variables/it", json!({"value": {"a": [PRIVATE]}, "reason": PRIVATE})),
        ("PUT", "/variables/long", json!({"value": long, "reason": "x"})),
        ("PATCH", "", json!({"title": PRIVATE})),
        (
            "POST",
            "/directives",
            json!({"text": format!("{PRIVATE}\nContext update: {PRIVATE} x (visible to: ghost)\ny")}),
        ),
    ];
    for (number, (method, path, body)) in puts.into_iter().enumerate() {
        let before = server.get(&s).await.head();
        let call = server.call(method, &format!("{s}{path}")).header("idempotency-key", format!("key-{number}"));
        Answer::of(call.json(&body)).await.is(200);
        written.extend(before + 1..=server.get(&s).await.head());
    }
    for n in 0..60 {
        server.say(&s, "main", &format!("Hour {n}: the sea comes and goes. ").repeat(9)).await;
    }
    let compress = json!({"method": "extractive", "target_tokens": 900});
    server.send("POST", &format!("{s}/threads/main/compress"), compress).await.is(200);
    let reads =
        ["", "/journal", "/threads/main/messages", "/context-sets", "/variables", "/variables/it", "/why?text=zq"];
    let prompt = async || server.send("POST", &format!("{s}/prompt"), json!({"agent": "lead"})).await.is(200).raw;
    assert!(prompt().await.contains(PRIVATE) && is_in_a_file(folder.path(), PRIVATE));

    for seq in written {
        let answer = erase(&server, &s, seq).await;
        assert!(answer.status == 200 || answer.body["code"] == "nothing_to_erase", "{}", answer.raw);
    }
    for path in reads {
        let answer = server.get(&format!("{s}{path}")).await.is(200);
        assert!(!answer.raw.contains(PRIVATE), "{path}: {}", answer.raw);
    }
    assert!(!prompt().await.contains(PRIVATE));
    assert_eq!(server.get(&format!("{s}/variables/long")).await.is(200).body["value"], "[erased]");
    server.stop().await;
    assert!(!is_in_a_file(folder.path(), PRIVATE));

    // It opens again, and says the same.
    let server = Server::with(sqlite(&folder.path().join("callboard.db")).await, settings()).await;
    assert_eq!(
        server.get(&format!("{s}/threads/main/messages?limit=62")).await.body["messages"][0]["content"],
        "[erased]"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_request_whose_answer_was_erased_is_not_done_again() {
    let (server, s) = Server::with_team().await;
    let text = format!("What is {PRIVATE}?\nMessage to writer: hello");
    let body = json!({ "text": text });
    let send = || {
        let call = server.call("POST", &format!("{s}/directives")).header("idempotency-key", "k");
        Answer::of(call.json(&body))
    };
    let first = send().await.is(200);
    assert!(first.raw.contains(PRIVATE), "{}", first.raw);
    assert_eq!(send().await.is(200).raw, first.raw);
    let journal = server.get(&format!("{s}/journal")).await.is(200);
    let of_type = |kind: &str| {
        let entries = journal.body["entries"].as_array().unwrap();
        entries.iter().find(|one| one["type"] == kind).unwrap()["seq"].as_u64().unwrap()
    };
    let erased = erase(&server, &s, of_type("directive.received")).await.is(200);
    assert_eq!(erased.body["copies"], json!([of_type("request.answered")]));
    send().await.problem(409, "answer_erased");
    assert!(!server.get(&format!("{s}/journal")).await.raw.contains(PRIVATE));
    assert_eq!(server.get(&s).await.head(), erased.head());
}
