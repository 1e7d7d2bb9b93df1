//! A real small model, as `cargo xtask test` brings it.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may")]

use callboard_model::{ChatAnswer, ChatModel, ChatRequest, Endpoints, Finish, Provider, ResponseSchema, Settings};
use serde_json::{Value, json};

fn url() -> String {
    std::env::var("CALLBOARD_TEST_MODEL_URL").expect("CALLBOARD_TEST_MODEL_URL is not set: run `cargo xtask test`")
}

/// The same model over both APIs.
const BOTH: [&str; 2] = ["openai:small", "anthropic:small"];

fn request(model: &str, text: &str) -> ChatRequest {
    let mut request = ChatRequest::new(model.parse().unwrap());
    request.messages = vec![json!({"role": "user", "content": text})];
    request.max_tokens = Some(60);
    request.temperature = Some(0.0);
    request
}

fn settings() -> Settings {
    Settings { openai_base_url: Some(url()), anthropic_base_url: Some(url()), ..Settings::default() }
}

/// Asks the model; the pieces on the way must be the answer.
async fn ask(request: &ChatRequest) -> ChatAnswer {
    let endpoints = Endpoints::from(settings());
    let mut heard = String::new();
    let answer = endpoints.chat(request, &mut |piece| heard.push_str(piece)).await.unwrap();
    assert_eq!(heard, answer.text);
    answer
}

#[tokio::test]
async fn it_chats_and_says_what_it_cost() {
    for model in BOTH {
        let answer = ask(&request(model, "Reply with the single word: ready")).await;
        assert!(answer.text.to_lowercase().contains("ready"), "{answer:?}");
        assert_eq!(answer.finish, Finish::Stop);
        let usage = answer.usage.unwrap();
        assert!(usage.prompt_tokens > 5 && usage.completion_tokens > 0, "{usage:?}");
    }
}

#[tokio::test]
async fn it_keeps_to_a_schema() {
    for model in BOTH {
        let mut request = request(model, "Name a colour of the rainbow and whether it is warm.");
        let schema = json!({
            "type": "object",
            "properties": {"colour": {"type": "string", "maxLength": 20}, "warm": {"type": "boolean"}},
            "required": ["colour", "warm"],
            "additionalProperties": false,
        });
        request.response_schema = Some(ResponseSchema { name: "colour".to_owned(), schema, strict: true, plain: None });
        let answer = ask(&request).await;
        let colour: Value = serde_json::from_str(&answer.text).unwrap();
        assert!(colour["colour"].is_string() && colour["warm"].is_boolean(), "{colour}");
    }
}

#[tokio::test]
async fn it_calls_a_tool() {
    for model in BOTH {
        let mut request = request(model, "What is the weather in Berlin?");
        let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        let function = json!({"name": "weather", "description": "The weather in a city", "parameters": parameters});
        request.tools = vec![json!({"type": "function", "function": function})];
        request.tool_choice = Some(json!("required"));
        let answer = ask(&request).await;
        let call = answer.tool_calls.first().expect("a call");
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(
            (call.name.as_str(), arguments["city"].is_string(), answer.finish),
            ("weather", true, Finish::ToolCalls)
        );
    }
}

#[tokio::test]
async fn it_stops_at_the_longest_answer() {
    for model in BOTH {
        let mut request = request(model, "Count from one to a hundred in words.");
        request.max_tokens = Some(5);
        assert_eq!(ask(&request).await.finish, Finish::Length);
    }
}

#[tokio::test]
async fn it_is_listed() {
    let endpoints = Endpoints::from(settings());
    let models = endpoints.models(Provider::OpenAi).await.unwrap();
    assert!(matches!(&models[..], [name] if !name.contains('/')), "{models:?}");
    assert_eq!(endpoints.models(Provider::Anthropic).await.unwrap(), models);
}
