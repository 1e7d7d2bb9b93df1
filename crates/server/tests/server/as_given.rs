//! What SDKs give is taken as it is, and what goes out is what the provider takes.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

const S: &str = "/v1/sessions/s";

async fn team() -> Server {
    let server = Server::start().await;
    server.team("s").await;
    server.say(S, "main", "Write on tides.").await;
    server
}

async fn prompt(server: &Server, body: Value) -> Answer {
    let mut wanted = json!({"agent": "writer", "thread": "main"});
    wanted.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    server.send("POST", &format!("{S}/prompt"), wanted).await.is(200)
}

/// What a model answers to a recorded prompt, and the messages that it becomes.
async fn answered(server: &Server, body: Value) -> (Value, Value) {
    let turn = prompt(server, json!({"record": true, "format": "openai"})).await.body["turn"].clone();
    let answer = server.send("POST", &format!("{S}/turns/{turn}"), body).await.is(200);
    let id = answer.body["messages"][0]["message_id"].as_str().unwrap().to_owned();
    let message = server.get(&format!("{S}/threads/main/messages/{id}")).await.is(200).body;
    let usage = server.get(&format!("{S}/turns/{turn}")).await.is(200).body["usage"].clone();
    (message, usage)
}

#[tokio::test]
async fn an_answer_is_taken_as_its_provider_gives_it() {
    let server = team().await;
    let used = json!({"prompt_tokens": 80, "completion_tokens": 20});
    let completion = json!({"message": {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1737210622, "model": "gpt-4o", "system_fingerprint": null,
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null, "message": {
            "role": "assistant", "content": "It turns.", "refusal": null, "annotations": [], "function_call": null, "tool_calls": null,
        }}],
        "usage": {"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}},
    }});
    let (message, usage) = answered(&server, completion).await;
    assert_eq!((&message["content"], usage), (&json!("It turns."), used.clone()));

    let anthropic = json!({
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn", "stop_sequence": null,
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "It turns."}],
        },
        "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 70, "cache_creation_input_tokens": null},
    });
    let (message, usage) = answered(&server, anthropic).await;
    assert_eq!((&message["reasoning"][0]["thinking"], usage), (&json!("hm"), used.clone()));

    let calling = json!({
        "message": {
            "id": "msg_2", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "stop_sequence": null,
            "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "sea"}}],
        },
        "usage": {"input_tokens": 80, "output_tokens": 20},
    });
    let (message, usage) = answered(&server, calling).await;
    let called = json!([{"id": "toolu_1", "name": "look", "arguments": {"at": "sea"}}]);
    assert_eq!((&message["tool_calls"], usage), (&called, used.clone()));
    assert_eq!(message["content"][0]["text"], "I look.");

    let response = json!({"message": {
        "id": "resp_1", "object": "response", "status": "completed", "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}", "status": "completed"},
        ],
        "usage": {"input_tokens": 80, "output_tokens": 20, "total_tokens": 100},
    }});
    let (message, usage) = answered(&server, response).await;
    assert_eq!((&message["tool_calls"][0]["id"], usage), (&json!("c1"), used));

    let twice =
        json!({"text": "", "tool_calls": [{"id": "c1", "name": "look"}, {"id": "c1", "name": "look"}], "usage": null});
    let (message, _) = answered(&server, twice).await;
    assert_eq!((&message["tool_calls"][0]["id"], &message["tool_calls"][1]["id"]), (&json!("c1"), &json!("c1-2")));
    let (message, _) = answered(&server, json!({"text": ""})).await;
    assert_eq!(message["content"], "");
}

#[tokio::test]
async fn a_call_by_the_name_that_a_prompt_has_for_a_tool_is_kept_by_that_of_the_tool() {
    let server = team().await;
    let function = json!({"name": "fs.read", "arguments": "{}"});
    let said = json!({"messages": [
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c0", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c0", "content": "wet"},
    ]});
    server.send("POST", &format!("{S}/threads/main/messages?as=writer"), said).await.is(200);
    let shown = prompt(&server, json!({"format": "openai"})).await.body["messages"].to_string();
    assert!(shown.contains("\"fs_read_4074bc\"") && !shown.contains("\"fs.read\""), "{shown}");

    let function = json!({"name": "fs_read_4074bc", "arguments": "{}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let block = json!({"type": "tool_use", "id": "c1", "name": "fs_read_4074bc", "input": {}});
    let item = json!({"type": "function_call", "call_id": "c1", "name": "fs_read_4074bc", "arguments": "{}"});
    for answer in [
        json!({"text": "", "tool_calls": [{"id": "c1", "name": "fs_read_4074bc"}]}),
        json!({"message": {"role": "assistant", "content": null, "tool_calls": [call]}}),
        json!({"message": {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [block]}}),
        json!({"message": {"output": [item]}}),
    ] {
        let (message, _) = answered(&server, answer).await;
        assert_eq!(message["tool_calls"][0]["name"], "fs.read", "{message}");
    }
}

#[tokio::test]
async fn integers_of_more_than_64_bits_keep_their_digits_in_what_is_said() {
    const LARGE: &str = "123456789012345678901234567890";
    let server = team().await;
    let block = json!({"type": "tool_use", "id": "c1", "name": "pay", "input": {"wei": "LARGE"}});
    let said = json!({"role": "assistant", "content": [block]});
    let turn = prompt(&server, json!({"record": true, "format": "openai"})).await.body["turn"].clone();
    for (path, body) in [
        (format!("turns/{turn}"), json!({"message": said})),
        ("threads/main/messages?as=writer".to_owned(), json!({"messages": [said]})),
    ] {
        let body = body.to_string().replace("\"LARGE\"", LARGE);
        let call = server.call("POST", &format!("{S}/{path}")).header("content-type", "application/json").body(body);
        Answer::of(call).await.is(200);
        let last = server.get(&format!("{S}/threads/main/messages?limit=1")).await.is(200).body;
        assert_eq!(last["messages"][0]["tool_calls"][0]["arguments"], json!({"wei": LARGE}), "{path}");
    }
}

#[tokio::test]
async fn a_broken_answer_of_any_provider_is_refused_with_the_field_and_leaves_its_turn_open() {
    let server = team().await;
    let turn = prompt(&server, json!({"record": true, "format": "openai"})).await.body["turn"].clone();
    let blocks = json!([{"type": "tool_use", "id": "a", "name": "look", "input": "{}"}]);
    for (broken, pointer) in [
        (json!({"message": "x"}), "/message"),
        (json!({"message": {"role": "user", "content": "x"}}), "/message"),
        (json!({"message": {"role": "assistant", "content": "x", "colour": 1}}), "/message/colour"),
        (json!({"message": {"object": "chat.completion", "choices": []}}), "/message"),
        (json!({"message": {"choices": [{"message": {"content": "x"}}]}}), "/message/choices/0/message/role"),
        (
            json!({"message": {"choices": [{"message": {"role": "assistant", "content": 7}}]}}),
            "/message/choices/0/message/content",
        ),
        (
            json!({"message": {"choices": [{"message": {"role": "assistant", "tool_calls": {}}}]}}),
            "/message/choices/0/message/tool_calls",
        ),
        (json!({"message": {"output": []}}), "/message"),
        (json!({"message": {"output": [{"type": "function_call", "name": "look"}]}}), "/message/output/0/call_id"),
        (json!({"message": {"output": [{"type": "reasoning", "summary": "s"}]}}), "/message/output/0/summary"),
        (
            json!({"message": {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": blocks}}),
            "/message/content/0/input",
        ),
        (json!({"text": 7}), "/text"),
        (json!({"text": "", "tool_calls": [{"id": "c", "type": "search", "name": "x"}]}), "/tool_calls/0/type"),
        (json!({"text": "", "tool_calls": [{"id": "c"}]}), "/tool_calls/0/name"),
        (json!({"text": "x", "usage": "many"}), "/usage"),
        (json!({"text": "x", "usage": {"input_tokens": "7"}}), "/usage/input_tokens"),
        (json!({"text": "x", "usage": {"completion_tokens": -1}}), "/usage/completion_tokens"),
    ] {
        let refused = server.send("POST", &format!("{S}/turns/{turn}"), broken.clone()).await.problem(422, "invalid");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{broken}: {}", refused.raw);
    }
    let open = server.get(&format!("{S}/turns/{turn}")).await.is(200).body;
    assert_eq!(open["answered"], false, "{open}");
}

#[tokio::test]
async fn half_a_character_is_replaced_and_the_answer_says_so() {
    let server = team().await;
    let body = r#"{"messages": [{"role": "user", "content": "whole \ud83d\ude00"}, {"role": "user", "content": "half \ud83d"}]}"#;
    let added = server
        .call("POST", &format!("{S}/threads/main/messages"))
        .header("content-type", "application/json")
        .body(body);
    let added = Answer::of(added).await.is(200);
    assert_eq!(added.body["repaired"], json!([1]));
    let read = server.get(&format!("{S}/threads/main/messages")).await.is(200).body;
    assert_eq!(read["messages"][2]["content"], "half \u{fffd}");
}

#[tokio::test]
async fn a_prompt_is_one_that_the_provider_of_its_model_takes() {
    let server = team().await;
    let said = json!({"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a b", "type": "function", "function": {"name": "fs.read", "arguments": "{broken"}}]},
        {"role": "tool", "tool_call_id": "a b", "content": "wet"},
        {"role": "user", "content": "And?", "name": "ada"},
    ]});
    server
        .send(
            "POST",
            &format!("{S}/threads/main/messages?as=writer"),
            json!({"messages": [said["messages"][1], said["messages"][2]]}),
        )
        .await
        .is(200);
    server
        .send(
            "POST",
            &format!("{S}/threads/main/messages"),
            json!({"messages": [said["messages"][0], said["messages"][3]]}),
        )
        .await
        .is(200);
    let talk = async |model: &str| {
        let prompt = prompt(&server, json!({"format": "openai", "model": model, "layout": "plain"})).await;
        let messages = prompt.body["messages"].as_array().unwrap().clone();
        messages
            .iter()
            .filter(|message| message["role"] != "system" || message["content"] == "Be brief.")
            .cloned()
            .collect::<Vec<_>>()
    };
    let call = |id: &str| json!([{"id": id, "type": "function", "function": {"name": "fs_read_4074bc", "arguments": "{\"_raw\":\"{broken\"}"}}]);
    assert_eq!(
        talk("openai:gpt-4o").await,
        [
            json!({"role": "user", "content": "Write on tides."}),
            json!({"role": "assistant", "content": null, "tool_calls": call("a_b")}),
            json!({"role": "tool", "tool_call_id": "a_b", "content": "wet"}),
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "name": "ada", "content": "And?"}),
        ]
    );
    assert_eq!(
        talk("openai:qwen2.5").await[3],
        json!({"role": "user", "content": "[from system] Be brief.\n\n[from user: ada] And?"})
    );

    let responses = prompt(&server, json!({"format": "responses", "model": "gpt-4o", "pieces": true})).await.body;
    let input = &responses["input"];
    assert!(responses["instructions"].is_string() && responses.get("messages").is_none(), "{responses}");
    assert_eq!(
        input[1],
        json!({"type": "function_call", "call_id": "a_b", "name": "fs_read_4074bc", "arguments": "{\"_raw\":\"{broken\"}"})
    );
    assert_eq!(input[2], json!({"type": "function_call_output", "call_id": "a_b", "output": "wet"}));
    assert_eq!(input[4], json!({"role": "user", "content": "[from user: ada] And?"}));
    let anthropic = prompt(&server, json!({"format": "anthropic", "model": "anthropic:claude-sonnet-4-5"})).await.body;
    assert!(anthropic["messages"].to_string().contains("[from user: ada] And?"), "{anthropic}");

    // What calls the tool by the name that it has there calls it by its own.
    let begun = prompt(&server, json!({"format": "openai", "model": "openai:gpt-4o", "record": true})).await.body;
    let answer = json!({"message": {"role": "assistant", "content": null, "tool_calls": call("d")}});
    server.send("POST", &format!("{S}/turns/{}", begun["turn"]), answer).await.is(200);
    let last = server.get(&format!("{S}/threads/main/messages?limit=1")).await.is(200).body;
    assert_eq!(last["messages"][0]["tool_calls"][0]["name"], "fs.read");
}

#[tokio::test]
async fn what_has_text_goes_out_as_text_and_what_has_none_is_not_said_by_the_agent_itself() {
    let server = team().await;
    let text = json!({"type": "text", "text": "Read:"});
    let source = json!({"type": "text", "media_type": "text/plain", "data": "High water at noon."});
    let document = json!({"type": "document", "source": source, "title": "Tides"});
    let found = json!([{"type": "text", "text": "Spring tides."}]);
    let found = json!({"type": "search_result", "source": "https://example.com", "title": "Moon", "content": found});
    let picture = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    for (by, message) in [
        ("", json!({"role": "user", "content": [text, document]})),
        ("?as=writer", json!({"role": "assistant", "content": null, "refusal": "I will not."})),
        ("", json!({"role": "user", "content": [found]})),
        ("?as=writer", json!({"role": "assistant", "content": [picture]})),
        ("", json!({"role": "user", "content": "And?"})),
    ] {
        let said = json!({"messages": [message]});
        server.send("POST", &format!("{S}/threads/main/messages{by}"), said).await.is(200);
    }
    let wanted = json!({"format": "openai", "model": "gpt-4o", "layout": "plain"});
    let prompt = prompt(&server, wanted).await.body;
    let said = prompt["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system");
    let said: Vec<_> = said.map(|message| (message["role"].as_str().unwrap(), &message["content"])).collect();
    assert_eq!(
        said,
        [
            ("user", &json!("Write on tides.")),
            ("user", &json!("Read:\nHigh water at noon.")),
            ("assistant", &json!("I will not.")),
            ("user", &json!("Spring tides.")),
            ("user", &json!("And?")),
        ]
    );
}

#[tokio::test]
async fn the_schema_of_directives_is_in_the_form_of_an_api() {
    let server = team().await;
    let schema = async |query: &str| server.get(&format!("{S}/directives/schema{query}")).await.is(200).body;
    assert_eq!(schema("").await, schema("?for=plain").await);
    let strict = schema("?for=openai").await;
    assert_eq!(strict["required"].as_array().unwrap().len(), strict["properties"].as_object().unwrap().len());
    assert!(!schema("?for=anthropic").await.to_string().contains("maxLength"));
    server.get(&format!("{S}/directives/schema?for=all")).await.problem(422, "invalid");
}
