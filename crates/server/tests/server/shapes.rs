//! Messages as the message objects of OpenAI and Anthropic.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

#[tokio::test]
async fn message_objects_are_taken_and_given_back() {
    let (server, team) = Server::with_team().await;
    let openai = json!([
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
        {"role": "assistant", "content": null, "refusal": null, "reasoning_content": "I look.",
         "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": 1}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        {"role": "assistant", "content": "A cat.", "name": "ann"},
    ]);
    let at = format!("{team}/threads/main/messages");
    let added = server.send("POST", &at, json!({"messages": openai})).await.is(200);
    assert_eq!(added.body["messages"].as_array().unwrap().len(), 4);
    let shaped = server.get(&format!("{at}?shape=openai")).await.is(200).body;
    let mut expected = openai.clone();
    expected[1].as_object_mut().unwrap().remove("refusal");
    assert_eq!(shaped["messages"], expected);
    let id = added.body["messages"][1]["message_id"].as_str().unwrap();
    let one = server.get(&format!("{at}/{id}?shape=anthropic")).await.is(200).body;
    assert_eq!(
        one,
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}}]})
    );
    let own = server.get(&format!("{at}/{id}")).await.is(200).body;
    assert_eq!((&own["role"], &own["tool_calls"][0]["arguments"]), (&json!("AI"), &json!("{\"at\": 1}")));

    let anthropic = json!([
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Two things.", "signature": "c2ln"}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {}}, {"type": "tool_use", "id": "t2", "name": "look", "input": {"at": 2}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": [{"type": "text", "text": "two"}]},
            {"type": "text", "text": "And now?"}]},
    ]);
    let at = format!("{team}/threads/other/messages");
    let added = server.send("POST", &at, json!({"messages": anthropic})).await.is(200).body;
    assert_eq!(added["messages"].as_array().unwrap().len(), 4, "results are messages of their own");
    assert_eq!(server.get(&format!("{at}?shape=anthropic")).await.body["messages"], anthropic);
    let own = server.get(&at).await.body;
    let roles: Vec<_> = own["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["AI", "TOOL", "TOOL", "USER"]);
}

#[tokio::test]
async fn a_pdf_is_a_file_for_openai_and_a_document_for_anthropic() {
    let server = Server::start().await;
    let at = format!("{}/threads/main/messages", server.team("s").await);
    let file = json!({"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0x"});
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"});
    let parts =
        [json!({"type": "file", "file": file}), json!({"type": "document", "source": source, "title": "a.pdf"})];
    for part in &parts {
        server.send("POST", &at, json!({"messages": [{"role": "user", "content": [part]}]})).await.is(200);
    }
    for (shape, part) in ["openai", "anthropic"].into_iter().zip(&parts) {
        let shaped = server.get(&format!("{at}?shape={shape}")).await.is(200).body;
        let expected = json!({"role": "user", "content": [part]});
        assert_eq!(shaped["messages"], json!([expected, expected]), "{shape}");
    }
    let damaged = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0"}});
    let refused = server.send("POST", &at, json!({"messages": [{"role": "user", "content": [damaged]}]})).await;
    let refused = refused.problem(422, "invalid");
    assert!(refused.raw.contains("/messages/0/content/0/file/file_data"), "{}", refused.raw);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_by_name() {
    let server = Server::start().await;
    let at = format!("{}/threads/main/messages", server.team("s").await);
    let call = |call: Value| json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let cases = [
        (call(json!({"id": "c", "type": "search", "name": "x"})), "/messages/0/tool_calls/0/type"),
        (call(json!({"id": "c", "type": "function"})), "/messages/0/tool_calls/0/name"),
        (
            json!({"role": "user", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}]}),
            "/messages/0/content/0/type",
        ),
        (
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": "{}"}]}),
            "/messages/0/content/0/input",
        ),
        (json!({"role": "user", "content": "x", "reasoning_content": "y"}), "/messages/0/reasoning"),
    ];
    for (message, pointer) in cases {
        let refused = server.send("POST", &at, json!({"messages": [message]})).await.problem(422, "invalid");
        assert!(refused.raw.contains(pointer), "{pointer}: {}", refused.raw);
    }
    let unknown = json!({"messages": [{"role": "assistant", "content": "x", "colour": "red"}]});
    assert!(server.send("POST", &at, unknown).await.problem(422, "invalid").raw.contains("colour"));
    assert_eq!(server.get(&at).await.body["messages"], json!([]));
}

#[tokio::test]
async fn a_batch_with_a_broken_object_of_any_provider_is_refused_whole_with_the_field() {
    let server = Server::start().await;
    let at = format!("{}/threads/main/messages", server.team("s").await);
    let said = |field: &str, value: Value| {
        let mut object = json!({"role": "assistant", "content": "x"});
        object[field] = value;
        object
    };
    let calls = |call: Value| json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let called = |field: &str, value: Value| {
        let mut call = json!({"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}});
        call[field] = value;
        calls(call)
    };
    let block = |role: &str, block: Value| json!({"role": role, "content": [block]});
    for (broken, field) in [
        (said("refusal", json!(7)), "refusal"),
        (said("annotations", json!("y")), "annotations"),
        (said("audio", json!("y")), "audio"),
        (said("name", json!(7)), "name"),
        (said("reasoning_content", json!([])), "reasoning_content"),
        (said("reasoning", json!(7)), "reasoning"),
        (said("reasoning_details", json!("y")), "reasoning_details"),
        (said("thinking_blocks", json!(["y"])), "thinking_blocks/0"),
        (said("executed_tools", json!("y")), "executed_tools"),
        (said("prefix", json!("y")), "prefix"),
        (said("stop_reason", json!(7)), "stop_reason"),
        (said("tool_calls", json!({})), "tool_calls"),
        (said("function_call", json!({"arguments": "{}"})), "function_call/name"),
        (called("index", json!("first")), "tool_calls/0/index"),
        (called("colour", json!(1)), "tool_calls/0/colour"),
        (called("function", json!({"arguments": "{}"})), "tool_calls/0/function/name"),
        (called("function", json!({"name": "look", "arguments": {}})), "tool_calls/0/function/arguments"),
        (calls(json!({"id": "c", "type": "custom", "custom": {"input": "x"}})), "tool_calls/0/custom/name"),
        (calls(json!({"type": "function", "function": {"name": "look"}})), "tool_calls/0/id"),
        (json!({"type": "function_call", "name": "look", "arguments": "{}"}), "call_id"),
        (json!({"type": "function_call", "call_id": "c", "arguments": "{}"}), "name"),
        (json!({"type": "function_call", "call_id": "c", "namespace": 7, "name": "look"}), "namespace"),
        (said("namespace", json!("notes")), "namespace"),
        (json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": {}}), "arguments"),
        (json!({"type": "function_call_output", "output": "x"}), "call_id"),
        (json!({"type": "function_call_output", "call_id": "c", "output": 7}), "output"),
        (json!({"type": "reasoning", "encrypted_content": 7}), "encrypted_content"),
        (json!({"type": "reasoning", "summary": "s"}), "summary"),
        (json!({"type": "compaction", "encrypted_content": []}), "encrypted_content"),
        (json!({"type": "message", "content": "x"}), "role"),
        (block("user", json!({"type": "thinking", "thinking": "x", "signature": "s"})), "content/0/type"),
        (block("assistant", json!({"type": "tool_use", "name": "look", "input": {}})), "content/0/id"),
        (block("assistant", json!({"type": "tool_result", "tool_use_id": "c"})), "content/0/type"),
        (block("user", json!({"type": "tool_result", "content": "y"})), "content/0/tool_use_id"),
        (block("user", json!({"type": "tool_result", "tool_use_id": "c", "content": 7})), "content/0/content"),
        (block("user", json!({"text": "x"})), "content"),
        (json!({"role": "user", "content": 7}), "content"),
        (json!({"role": "assistant", "tool_calls": []}), "content"),
    ] {
        let batch = json!({"messages": [{"role": "user", "content": "good"}, broken]});
        let refused = server.send("POST", &at, batch).await.problem(422, "invalid");
        assert_eq!(refused.body["errors"][0]["pointer"], format!("/messages/1/{field}"), "{broken}: {}", refused.raw);
    }
    assert_eq!(server.get(&at).await.body["messages"], json!([]));
}

#[tokio::test]
async fn what_an_agent_thinks_is_for_it_and_the_user() {
    let (server, team) = Server::with_team().await;
    let at = format!("{team}/threads/main/messages");
    let message = json!({"role": "assistant", "content": "Done.", "reasoning": [{"type": "thinking", "thinking": "hush-hush", "signature": "s"}]});
    let added = server.send("POST", &format!("{at}?as=writer"), json!({"messages": [message]})).await.is(200);
    let id = added.body["messages"][0]["message_id"].as_str().unwrap().to_owned();
    for (viewer, sees) in [("", true), ("?as=writer", true), ("?as=lead", false)] {
        for path in [at.clone(), format!("{at}/{id}"), format!("{team}/journal")] {
            // Once from the store, and once from memory.
            for _ in 0..2 {
                let read = server.get(&format!("{path}{viewer}")).await.is(200);
                assert!(read.raw.contains("Done."), "{path}{viewer}");
                assert_eq!(read.raw.contains("hush-hush"), sees, "{path}{viewer}: {}", read.raw);
            }
        }
        let token = server.token(&team, if viewer == "?as=lead" { "lead" } else { "writer" }).await;
        let shaped = Answer::of(server.call("GET", &format!("{at}?shape=anthropic")).bearer_auth(&token)).await.is(200);
        assert_eq!(shaped.raw.contains("hush-hush"), sees);
    }
}
