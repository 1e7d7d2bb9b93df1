//! Threads with settings of their own.

use serde_json::{Value, json};

use crate::fixtures::Server;

/// A thread as the list shows it.
async fn listed(server: &Server, team: &str, name: &str) -> Value {
    let list = server.get(&format!("{team}/threads")).await.is(200);
    let threads = list.body["threads"].as_array().unwrap();
    threads.iter().find(|thread| thread["name"] == name).cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_put_leaves_what_it_does_not_name_and_null_takes_away() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/threads/review");
    let put = async |body: Value| server.send("PUT", &path, body).await.is(200).body;
    let made = put(json!({"instructions": "Be brief.", "history_tokens": 900})).await;
    assert_eq!(made["visible_to"], "all", "as a thread that its first message makes");
    let tools = json!([{"name": "callboard:read"}]);
    let more = put(json!({"visible_to": ["lead", "writer"], "model": "openai:gpt-4o", "tools": tools})).await;
    let expected = json!({
        "name": "review", "visible_to": ["lead", "writer"], "instructions": "Be brief.", "model": "openai:gpt-4o",
        "tools": [{"name": "callboard:read", "description": "", "parameters": {}, "idempotent": false}],
        "history_tokens": 900, "messages": 0, "tokens": 0, "last_at": null,
    });
    assert_eq!(more, expected);
    assert_eq!(listed(&server, &team, "review").await, expected);
    let less = put(json!({"instructions": null, "tools": null, "history_tokens": null})).await;
    let left = json!({"name": "review", "visible_to": ["lead", "writer"], "model": "openai:gpt-4o",
        "messages": 0, "tokens": 0, "last_at": null});
    assert_eq!(less, left);
    let head = server.get(&team).await.body["head"].clone();
    assert_eq!(put(json!({})).await, left);
    assert_eq!(server.get(&team).await.body["head"], head, "nothing changed, and nothing is recorded");
}

#[tokio::test]
async fn settings_that_make_no_sense_are_refused_with_their_place() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/threads/review");
    for (body, status, pointer) in [
        (json!({"model": "a\nb"}), 422, "/model"),
        (json!({"tools": [{"name": "callboard:fly"}]}), 422, "/tools/0/name"),
        (json!({"tools": [{"name": "x"}, {"name": "x"}]}), 409, "/tools/1/name"),
        (json!({"tools": [{"name": "look up"}]}), 422, "/tools/0/name"),
        (json!({"tools": [{"name": "x", "description": "x".repeat(1025)}]}), 422, "/tools/0/description"),
        (json!({"tools": [{"name": "x", "parameters": {"type": "array"}}]}), 422, "/tools/0/parameters"),
        (json!({"history_tokens": -1}), 422, "/history_tokens"),
        (json!({"history_tokens": 0}), 422, "/history_tokens"),
        (json!({"instruction": "x"}), 422, "/instruction"),
        (json!({"visible_to": ["nobody"], "instructions": "x"}), 409, "/visible_to"),
    ] {
        let refused = server.send("PUT", &path, body.clone()).await;
        assert_eq!(
            (refused.status.as_u16(), refused.body["pointer"].as_str()),
            (status, Some(pointer)),
            "{body}: {}",
            refused.raw
        );
    }
    assert_eq!(listed(&server, &team, "review").await, Value::Null, "nothing was made");
    let of_nobody = format!("{team}/threads/agent:wirter");
    server.send("PUT", &of_nobody, json!({})).await.problem(404, "not_found");
    let hello = json!({"messages": [{"role": "user", "content": "hello"}]});
    let refused = server.send("POST", &format!("{of_nobody}/messages"), hello).await.problem(404, "not_found");
    assert!(refused.raw.contains("there is no agent"), "{}", refused.raw);
    server.send("PUT", &format!("{path}?as=writer"), json!({"instructions": "x"})).await.problem(403, "forbidden");
}

#[tokio::test]
async fn prompts_of_a_thread_follow_its_settings() {
    let (server, team) = Server::with_team().await;
    let prompt = async |thread: &str| {
        let body = json!({"agent": "writer", "thread": thread, "format": "openai"});
        server.send("POST", &format!("{team}/prompt"), body).await.is(200).body
    };
    let said: Vec<Value> =
        (0..60).map(|n| json!({"role": "user", "content": format!("Remark {n} on the tides.")})).collect();
    for thread in ["main", "review"] {
        server.send("POST", &format!("{team}/threads/{thread}/messages"), json!({ "messages": said })).await.is(200);
        let answer = json!({"messages": [{"role": "assistant", "content": "I see."}]});
        server.send("POST", &format!("{team}/threads/{thread}/messages?as=writer"), answer).await.is(200);
        server.say(&team, thread, "Go on.").await;
    }
    let settings = json!({"instructions": "Rhyme.", "model": "openai:gpt-4", "history_tokens": 200,
        "tools": [{"name": "callboard:read_messages"}]});
    server.send("PUT", &format!("{team}/threads/review"), settings).await.is(200);
    let (plain, set) = (prompt("main").await, prompt("review").await);
    let part = |prompt: &Value, name: &str| {
        let parts = prompt["parts"].as_array().unwrap();
        parts.iter().find(|part| part["name"] == name).and_then(|part| part["tokens"].as_u64())
    };
    assert!(part(&plain, "history") > Some(500) && part(&set, "history") <= Some(200), "{set}");
    assert!(set["messages"][0]["content"].as_str().unwrap().contains("In this thread: Rhyme."));
    assert!(!plain["messages"][0]["content"].as_str().unwrap().contains("Rhyme."));
    assert_eq!(set["tools"][0]["function"]["name"], "read_messages");
    assert_eq!(set["vocabulary"], "cl100k_base");
    assert!(set["budget"].as_u64() < plain["budget"].as_u64(), "the window is that of the thread's model");
}

#[tokio::test]
async fn the_documents_names_of_fields_are_taken() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/threads/main/messages");
    let message = |id: &str, at: u64| json!({"messageId": id, "threadId": "main", "role": "user", "content": id, "timestamp": at});
    let messages = json!({"messages": [message("a", 1000), message("b", 2000), message("c", 3000)]});
    server.send("POST", &path, messages).await.is(200);
    let found = server.get(&format!("{path}?afterTimestamp=1000&beforeTimestamp=3000&limit=1")).await.is(200);
    assert_eq!(found.body["messages"][0]["message_id"], "b");
    assert_eq!(found.body["messages"].as_array().unwrap().len(), 1);
    let elsewhere = json!({"messages": [{"threadId": "other", "role": "user", "content": "x"}]});
    server.send("POST", &path, elsewhere).await.is(409);
}
