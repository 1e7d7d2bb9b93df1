//! The base URL for programs with OpenAI's or Anthropic's clients: their conversations are kept, and go on within the budget.

use std::sync::Arc;

use callboard_engine::{MasterKey, Settings as BoardSettings};
use callboard_model::{
    Endpoints, Settings as ModelSettings,
    scripted::{Reply, Scripted},
};
use callboard_server::Settings;
use serde_json::{Value, json};

use crate::fixtures::{self, Answer, Server, memory, moment, settings, soon};

const OPENAI: &str = "/gateway/s/writer/openai/v1/chat/completions";
const ANTHROPIC: &str = "/gateway/s/writer/anthropic/v1/messages";

async fn with(endpoint: &Scripted) -> Server {
    let (openai_base_url, anthropic_base_url) = (Some(endpoint.base_url()), Some(endpoint.base_url()));
    let models = ModelSettings { openai_base_url, anthropic_base_url, ..ModelSettings::default() };
    Server::with(memory().await, Settings { models: Arc::new(Endpoints::from(models)), ..settings() }).await
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

async fn chat(server: &Server, messages: Value) -> Answer {
    server.send("POST", OPENAI, json!({"model": "gpt-4o", "messages": messages})).await
}

fn said(answer: &Answer) -> &str {
    answer.body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{}", answer.raw))
}

async fn messages(server: &Server, thread: &str) -> Vec<String> {
    let list = server.get(&format!("/v1/sessions/s/threads/{thread}/messages")).await.is(200);
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    list.body["messages"].as_array().unwrap().iter().map(text).collect()
}

async fn turns(server: &Server) -> Vec<Value> {
    server.get("/v1/sessions/s/turns").await.is(200).body["turns"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_conversation_is_kept_and_each_request_adds_what_is_new() {
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("answer {nth}")).with_usage(90, 5));
    let server = with(&endpoint).await;
    // The first request of the user makes the session.
    let system = json!({"role": "system", "content": "You answer in one word."});
    let first = chat(&server, json!([system, user("One?")])).await.is(200);
    assert_eq!(said(&first), "answer 0");
    let mut again = assistant("answer 0");
    // Clients send back what they were given, with fields that say nothing.
    let nothing = json!({"refusal": null, "function_call": null, "audio": null, "annotations": []});
    again.as_object_mut().unwrap().extend(nothing.as_object().unwrap().clone());
    let second = chat(&server, json!([system, user("One?"), again, user("Two?")])).await.is(200);
    assert_eq!(said(&second), "answer 1");
    assert_eq!(messages(&server, "chat:writer").await, ["One?", "answer 0", "Two?", "answer 1"]);
    let asked = endpoint.requests().last().unwrap().to_string();
    assert!(["You answer in one word.", "One?", "answer 0", "Two?"].iter().all(|text| asked.contains(text)), "{asked}");
    let turns = turns(&server).await;
    assert!(turns.iter().all(|turn| turn["answered"] == true && turn["usage"]["prompt_tokens"] == 90), "{turns:?}");
    // Another history is another branch: nothing is lost.
    chat(&server, json!([system, user("One?"), assistant("something else"), user("Three?")])).await.is(200);
    assert_eq!(messages(&server, "chat:writer").await.len(), 4);
    assert_eq!(messages(&server, "chat:writer:2").await, ["One?", "something else", "Three?", "answer 2"]);
    // What was known goes on where it was.
    chat(
        &server,
        json!([system, user("One?"), assistant("answer 0"), user("Two?"), assistant("answer 1"), user("Four?")]),
    )
    .await
    .is(200);
    assert_eq!(messages(&server, "chat:writer").await.len(), 6);
    let thread = server.get("/v1/sessions/s/threads").await.is(200).body["threads"][0].clone();
    assert_eq!((&thread["name"], &thread["visible_to"]), (&json!("chat:writer"), &json!(["writer"])), "{thread}");
}

#[tokio::test]
async fn a_secret_that_the_client_sends_again_is_no_new_conversation() {
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("answer {nth}")));
    let master_keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let models = ModelSettings { openai_base_url: Some(endpoint.base_url()), ..ModelSettings::default() };
    let settings = Settings { models: Arc::new(Endpoints::from(models)), ..settings() };
    let board = BoardSettings { master_keys, ..fixtures::board() };
    let server = Server::of(memory().await, settings, board).await;
    chat(&server, json!([user("Hello.")])).await.is(200);
    let secret = json!({"value": {"password": "quokkafish"}, "reason": "given"});
    server.send("PUT", "/v1/sessions/s/variables/mail", secret).await.is(200);
    let told = [user("Hello."), assistant("answer 0"), user("It is quokkafish.")];
    chat(&server, json!(told)).await.is(200);
    let [one, two, three] = told;
    chat(&server, json!([one, two, three, assistant("answer 1"), user("Did you get it?")])).await.is(200);
    assert_eq!(messages(&server, "chat:writer").await.len(), 6);
    assert!(endpoint.requests().iter().all(|request| !request.to_string().contains("quokkafish")));
}

#[tokio::test]
async fn fields_of_a_client_that_say_nothing_are_taken() {
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("answer {nth}")));
    let server = with(&endpoint).await;
    let said = json!({"role": "assistant", "content": "Zero.", "refusal": null, "function_call": null, "audio": null});
    chat(&server, json!([user("Zero?"), said, user("One?")])).await.is(200);
    assert_eq!(messages(&server, "chat:writer").await, ["Zero?", "Zero.", "One?", "answer 0"]);
}

#[tokio::test]
async fn requests_that_come_at_once_are_answered_each() {
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("answer {nth}")));
    let server = with(&endpoint).await;
    chat(&server, json!([user("Hello.")])).await.is(200);
    let asked = json!([user("Hello."), assistant("answer 0"), user("Again.")]);
    let (one, two) = tokio::join!(chat(&server, asked.clone()), chat(&server, asked.clone()));
    assert!(one.status == 200 && two.status == 200, "{} {}", one.raw, two.raw);
    let said: Vec<_> = messages(&server, "chat:writer").await;
    assert_eq!(said.iter().filter(|text| *text == "Again.").count(), 1, "{said:?}");
}

#[tokio::test]
async fn a_stream_passes_as_it_comes_and_is_kept_as_a_whole() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::text("The tide turns.").with_usage(70, 4),
        _ => Reply::tool_calls([("look", json!({"word": "tide"}))]),
    });
    let server = with(&endpoint).await;
    let tools = json!([{"type": "function", "function": {"name": "look", "description": "Looks up", "parameters": {"type": "object", "properties": {}}}}]);
    let body = |messages: Value| json!({"model": "gpt-4o", "messages": messages, "stream": true, "tools": tools});
    let text =
        server.call("POST", OPENAI).json(&body(json!([user("Well?")]))).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("data: [DONE]") && !text.contains("\"choices\":[]"), "{text}");
    kept(&server, "chat:writer", 2).await;
    let asked = json!([user("Well?"), assistant("The tide turns."), user("Look it up.")]);
    server.call("POST", OPENAI).json(&body(asked)).send().await.unwrap().text().await.unwrap();
    kept(&server, "chat:writer", 4).await;
    let list = server.get("/v1/sessions/s/threads/chat:writer/messages?shape=openai").await.is(200);
    let call = list.body["messages"][3]["tool_calls"][0].clone();
    assert_eq!(
        (&call["function"]["name"], &call["function"]["arguments"]),
        (&json!("look"), &json!("{\"word\":\"tide\"}")),
        "{call}"
    );
    assert_eq!(turns(&server).await.len(), 2);
    // The result of the tool goes on from there.
    let result = json!({"role": "tool", "tool_call_id": call["id"], "content": "It rises."});
    let called = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let asked = json!([user("Well?"), assistant("The tide turns."), user("Look it up."), called, result]);
    server.call("POST", OPENAI).json(&body(asked)).send().await.unwrap().text().await.unwrap();
    kept(&server, "chat:writer", 6).await;
    let sent = endpoint.requests().last().unwrap()["messages"].clone();
    assert!(sent.as_array().unwrap().iter().any(|message| message["role"] == "tool"), "{sent}");
}

/// Waits until a conversation has so many messages: they are kept behind the answer.
async fn kept(server: &Server, thread: &str, count: usize) {
    soon("the messages", async {
        loop {
            let list = server.get(&format!("/v1/sessions/s/threads/{thread}/messages")).await;
            if list.body["messages"].as_array().is_some_and(|messages| messages.len() == count) {
                return;
            }
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn anthropics_clients_are_answered_in_their_own_form() {
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("answer {nth}")).with_usage(90, 5));
    let server = with(&endpoint).await;
    let ask = |messages: Value| {
        server.call("POST", ANTHROPIC).header("x-api-key", "anything").json(
            &json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "You answer in one word.", "messages": messages}),
        )
    };
    let first = Answer::of(ask(json!([user("One?")]))).await.is(200);
    assert_eq!(first.body["content"][0]["text"], "answer 0", "{}", first.raw);
    kept(&server, "chat:writer", 2).await;
    let block = json!([{"type": "text", "text": "Two?", "cache_control": {"type": "ephemeral"}}]);
    let again = json!([user("One?"), {"role": "assistant", "content": first.body["content"]}, {"role": "user", "content": block}]);
    Answer::of(ask(again)).await.is(200);
    kept(&server, "chat:writer", 4).await;
    let sent = endpoint.requests().last().unwrap().to_string();
    assert!(sent.contains("You answer in one word.") && sent.contains("Two?"), "{sent}");
}

#[tokio::test]
async fn what_is_wrong_is_said_in_the_words_of_the_api() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::error(400, "the model does not like it"),
        _ => Reply::cut_off("The tide"),
    });
    let server = with(&endpoint).await;
    for (body, what) in [
        (json!({"messages": [user("x")]}), "/model"),
        (json!({"model": "m"}), "/messages"),
        (json!({"model": "m", "messages": [user("x")], "n": 2}), "/n"),
        (json!({"model": "m", "messages": [user("x")], "functions": []}), "/functions"),
        (json!({"model": "m", "messages": [{"role": "boss", "content": "x"}]}), "/messages"),
        (json!({"model": "m", "messages": [user("x")], "tools": [{"type": "web_search"}]}), "/tools/0"),
    ] {
        let refused = server.send("POST", OPENAI, body).await;
        let message = refused.body["error"]["message"].as_str().unwrap_or_else(|| panic!("{}", refused.raw));
        assert!(refused.status == 400 && message.contains(what), "{}", refused.raw);
    }
    let unknown = server.send("POST", "/gateway/s/writer/openai/v1/responses", json!({})).await;
    assert!(unknown.status == 404 && unknown.raw.contains("POST /v1/chat/completions"), "{}", unknown.raw);
    // The provider's own refusal passes, and the turn says so.
    let refused = chat(&server, json!([user("x")])).await.is(400);
    assert!(refused.raw.contains("does not like it"), "{}", refused.raw);
    soon("the turn that failed", async {
        while !turns(&server).await.iter().any(|turn| turn["failed"] == true) {
            moment().await;
        }
    })
    .await;
    // What was said stands; the same request again adds nothing.
    assert_eq!(messages(&server, "chat:writer").await, ["x"]);
    // A worker's token is its own alone.
    let team = server.team("t").await;
    let token = server.token(&team, "writer").await;
    let other = server.call("POST", "/gateway/t/critic/openai/v1/chat/completions").bearer_auth(&token);
    let other = Answer::of(other.json(&json!({"model": "m", "messages": [user("x")]}))).await;
    assert!(other.status == 403 && other.raw.contains("writer's alone"), "{}", other.raw);
}
