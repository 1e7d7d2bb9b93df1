//! Recall over HTTP, by each actor.

use serde_json::{Value, json};

use crate::fixtures::Server;

async fn texts(server: &Server, at: &str, body: Value) -> Vec<String> {
    let answer = server.send("POST", at, body).await.is(200);
    let hits = answer.body["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_question_is_answered_with_what_was_said_and_how_to_read_on() {
    let (server, team) = Server::with_team().await;
    let seq = server.say(&team, "main", "Ana moved to Lisbon in May 2023.").await;
    server.say(&team, "main", "The weather is fine.").await;
    let set = json!({"content": "The office in Lisbon has a blue door."});
    server.send("PUT", &format!("{team}/context-sets/The%20office"), set).await.is(200);
    let at = format!("{team}/recall");
    let answer = server.send("POST", &at, json!({"query": "When did Ana move to Lisbon?"})).await.is(200);
    let hit = &answer.body["hits"][0];
    let fields = ["source", "text", "seq", "message_id", "thread", "role", "read_on"].map(|field| hit[field].clone());
    let (text, id) = ("Ana moved to Lisbon in May 2023.", format!("m{seq}"));
    let path = format!("{team}/threads/main/messages/{id}");
    assert_eq!(
        fields,
        [json!("message"), json!(text), json!(seq), json!(id), json!("main"), json!("USER"), json!(path)]
    );
    assert_eq!(hit["bytes"], json!({"start": 0, "end": text.len(), "of": text.len()}));
    assert!(hit["why"]["terms"].as_array().unwrap().contains(&json!("ana")), "{hit}");
    assert!(answer.body.get("behind").is_none() && answer.body.get("note").is_none());
    assert_eq!(server.get(&path).await.is(200).body["content"], text);
    let door = server.send("POST", &at, json!({"query": "blue door", "sources": ["context_set"]})).await.is(200);
    let hit = &door.body["hits"][0];
    assert_eq!((&hit["source"], &hit["name"]), (&json!("context_set"), &json!("The office")));
    assert!(server.get(hit["read_on"].as_str().unwrap()).await.is(200).raw.contains("blue door"));
}

#[tokio::test]
async fn each_agent_finds_only_what_it_may_see() {
    let (server, team) = Server::with_team().await;
    server.send("PUT", &format!("{team}/threads/plans"), json!({"visible_to": ["lead"]})).await.is(200);
    server.say(&team, "plans", "The vault opens with bergamot.").await;
    let seq = server.say(&team, "main", "The vault is in the cellar.").await;
    let at = format!("{team}/recall");
    let question = json!({"query": "vault"});
    assert_eq!(texts(&server, &at, question.clone()).await.len(), 2);
    for path in [format!("{at}?as=writer"), at.clone()] {
        let body = if path == at { json!({"query": "vault", "agent": "writer"}) } else { question.clone() };
        assert_eq!(texts(&server, &path, body).await, ["The vault is in the cellar."]);
    }
    // Through the eyes of a worker the manager may look, a worker not through those of others.
    let as_writer = json!({"query": "vault", "agent": "writer"});
    assert_eq!(texts(&server, &format!("{at}?as=lead"), as_writer.clone()).await.len(), 1);
    server.send("POST", &format!("{at}?as=critic"), as_writer).await.problem(403, "forbidden");
    server.send("POST", &format!("{at}?as=lead"), json!({"query": "vault", "at": seq})).await.problem(403, "forbidden");
    let then = json!({"query": "vault", "at": seq - 1});
    assert_eq!(texts(&server, &at, then).await, ["The vault opens with bergamot."]);
    let hidden = json!({"query": "vault", "thread": "plans"});
    server.send("POST", &format!("{at}?as=writer"), hidden).await.problem(404, "not_found");
}

#[tokio::test]
async fn bad_questions_are_refused_with_their_place() {
    let (server, team) = Server::with_team().await;
    server.say(&team, "main", "hello").await;
    let at = format!("{team}/recall");
    for (body, pointer) in [
        (json!({"query": ""}), "/query"),
        (json!({"query": " \n "}), "/query"),
        (json!({"query": "long ".repeat(200_000)}), "/query"),
        (json!({}), "/query"),
        (json!({"query": "x", "limit": 0}), "/limit"),
        (json!({"query": "x", "limit": 100_000}), "/limit"),
        (json!({"query": "x", "sources": ["dreams"]}), "/sources/0"),
        (json!({"query": "x", "role": "TOOL"}), "/role"),
        (json!({"query": "x", "colour": 1}), "/colour"),
    ] {
        let refused = server.send("POST", &at, body).await.problem(422, "invalid");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{}", refused.raw);
    }
    let nothing = server.send("POST", &at, json!({"query": "what is the of and"})).await.is(200);
    assert_eq!(nothing.body["hits"], json!([]));
    assert!(nothing.text("note").contains("add a name"), "{}", nothing.raw);
    server.send("POST", &at, json!({"query": "x", "at": 999})).await.problem(404, "not_found");
    server.send("POST", &at, json!({"query": "x", "agent": "nobody"})).await.problem(404, "not_found");
}

#[tokio::test]
async fn what_was_compressed_away_is_found() {
    let (server, team) = Server::with_team().await;
    server.say(&team, "main", "The vault opens with bergamot.").await;
    for number in 0..30 {
        server.say(&team, "main", &format!("Chatter {number}: {}", "tea and the weather, ".repeat(20))).await;
    }
    let compress = json!({"method": "extractive", "target_tokens": 500});
    server.send("POST", &format!("{team}/threads/main/compress"), compress).await.is(200);
    let found = texts(&server, &format!("{team}/recall"), json!({"query": "What opens the vault?", "limit": 1})).await;
    assert_eq!(found, ["The vault opens with bergamot."]);
}
