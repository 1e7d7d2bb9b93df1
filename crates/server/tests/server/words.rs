//! Secrets whose values are words of the API: they are hidden in texts, and change no shape of what is sent and answered.

use callboard_core::api_words::API_WORDS;
use serde_json::{Value, json};

use crate::fixtures::Server;

/// Makes all words of the API secrets.
async fn with_words_as_secrets(server: &Server, session: &str) {
    let mut words: Vec<&str> = API_WORDS.all().map(|(key, word)| word.unwrap_or(key)).collect();
    words.extend(["messages", "context_sets", "created", "entries", "user", "assistant", "thread_id", "timestamp"]);
    words.sort_unstable();
    words.dedup();
    assert!(words.len() > 100, "{words:?}");
    let secret = json!({"value": words, "secret": true, "reason": "to try them"});
    server.send("PUT", &format!("{session}/variables/words"), secret).await.is(200);
}

/// Everything that has texts is written, as it is sent.
async fn write_all(server: &Server, s: &str) {
    let task = json!({"task_id": 1, "description": "the description", "status": "completed", "notes": "a note"});
    let phase = json!({"phase_name": "first phase", "status": "in_progress", "tasks": [task]});
    let plan = json!({"overall_goal": "the overall_goal", "current_phase": "first phase", "phases": [phase], "next_actions": ["go"]});
    server.send("PUT", &format!("{s}/plan"), json!({"plan": plan, "reason": "begin"})).await.is(200);
    let sets = json!([{"name": "Facts", "context": "what we know", "visibleToAgents": "all", "newOrUpdate": "new"}]);
    let directive = json!({"messageTo": "writer", "message": "write it", "contextSetUpdate": {"contextSets": sets}});
    for given in [directive.clone(), json!({ "text": directive.to_string() })] {
        server.send("POST", &format!("{s}/directives"), given).await.is(200);
    }
    let call = json!({"id": "c1", "name": "look", "arguments": {"description": "x", "selector": "y"}});
    let said = json!([
        {"role": "user", "content": [{"type": "text", "text": "a picture"}, {"type": "image_url", "image_url": {"url": "http://x/y"}}]},
        {"role": "assistant", "content": "on it", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "{\"description\": 1}"},
    ]);
    server.send("POST", &format!("{s}/threads/main/messages"), json!({ "messages": said })).await.is(200);
    let config = json!({"actions": [{"action": "navigate", "value": "http://x/"}], "tab_name": "main"});
    let node = json!({"type": "browser_action", "config": config, "description": "opens it"});
    server.send("POST", &format!("{s}/workflow/nodes"), node).await;
    let value = json!({"description": "d", "selector": "s"});
    server.send("PUT", &format!("{s}/variables/found"), json!({"value": value, "reason": "found"})).await.is(200);
}

/// The shape of an answer: its keys, and what stands there that is no text.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        Value::Array(all) => all.iter().map(shape).collect(),
        Value::String(_) => json!("text"),
        Value::Number(_) => json!(0),
        other => other.clone(),
    }
}

const READS: &[&str] =
    &["", "/plan", "/context-sets", "/threads", "/threads/main/messages", "/workflow", "/variables/found"];

#[tokio::test]
async fn i6_words_of_the_api_as_secrets_change_no_shape_whether_they_are_known_before_or_after() {
    let server = Server::start_with_key().await;
    let plain = server.team("plain").await;
    write_all(&server, &plain).await;
    let after = server.team("after").await;
    write_all(&server, &after).await;
    with_words_as_secrets(&server, &after).await;
    let before = server.team("before").await;
    with_words_as_secrets(&server, &before).await;
    write_all(&server, &before).await;
    for path in READS {
        let expected = shape(&server.get(&format!("{plain}{path}")).await.is(200).body);
        for s in [&after, &before] {
            let mut found = shape(&server.get(&format!("{s}{path}")).await.is(200).body);
            if path.is_empty() {
                found["head"] = expected["head"].clone();
            }
            assert_eq!(found, expected, "{s}{path}");
        }
    }
    for s in [&after, &before] {
        let read = server.get(&format!("{s}/plan")).await.is(200);
        assert_eq!(read.body["plan"]["phases"][0]["tasks"][0]["status"], "completed", "{}", read.raw);
        assert_eq!(read.body["plan"]["overall_goal"], "the [hidden]", "{}", read.raw);
        for format in ["openai", "anthropic", "text"] {
            let wanted = json!({"agent": "lead", "format": format, "layout": "director"});
            server.send("POST", &format!("{s}/prompt"), wanted).await.is(200);
        }
        // All of it can be sent once more.
        write_all(&server, s).await;
    }
    server.stop().await;
}
