//! What is OpenAI's chat completions alone.

use callboard_model::scripted::{Reply, Scripted};
use callboard_model::{ModelError, Provider, ResponseSchema};
use serde_json::json;

use crate::{always, ask, request, settings};

const OPENAI: Provider = Provider::OpenAi;

#[tokio::test]
async fn a_schema_is_asked_for() {
    let endpoint = Scripted::start(|_, _| Reply::json(&json!({"done": true})));
    let mut request = request(OPENAI, "hi");
    let schema = json!({"type": "object"});
    request.response_schema =
        Some(ResponseSchema { name: "directive".to_owned(), schema: schema.clone(), strict: true, plain: None });
    assert_eq!(ask(settings(&endpoint), &request).await.0.unwrap().text, r#"{"done":true}"#);
    assert_eq!(endpoint.requests()[0]["response_format"]["json_schema"]["schema"], schema);
}

#[tokio::test]
async fn a_schema_is_left_out_where_a_server_takes_none_beside_tools() {
    for refusal in [
        "json mode cannot be combined with tool/function calling",
        "Function calling with a response mime type: 'application/json' is unsupported",
    ] {
        let endpoint = Scripted::start(move |request, _| match request.get("response_format") {
            Some(_) => Reply::error(400, refusal),
            None => Reply::text(r#"{"done":true}"#),
        });
        let mut request = request(OPENAI, "hi");
        let schema = json!({"type": "object"});
        request.response_schema =
            Some(ResponseSchema { name: "directive".to_owned(), schema, strict: false, plain: None });
        let error = ask(settings(&endpoint), &request).await.0.unwrap_err();
        assert!(error.to_string().contains(refusal), "{error}");
        request.tools = vec![json!({"type": "function", "function": {"name": "look", "parameters": {}}})];
        assert_eq!(ask(settings(&endpoint), &request).await.0.unwrap().text, r#"{"done":true}"#);
        let requests = endpoint.requests();
        assert!(requests.len() == 3 && requests[2]["tools"].is_array(), "{requests:?}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_shown_and_not_asked_for_again() {
    let stream = |data: &str| Reply::raw(200, "text/event-stream", format!("data: {data}\n\n"));
    let nonsense = [
        Reply::garbage("<html>hello</html>"),
        Reply::raw(200, "application/json", "{}"),
        Reply::raw(200, "application/json", ""),
        stream("{\"choices\": 5}"),
        stream(r#"{"choices": [{"delta": {"content": "\ud800"}}]}"#),
    ];
    for reply in nonsense {
        let (answer, asked) = always(OPENAI, reply.clone()).await;
        let error = answer.unwrap_err();
        assert_eq!((error.code(), asked), ("model_not_understood", 1), "{reply:?}: {error}");
    }
    let error = always(OPENAI, Reply::garbage("<html>hello</html>")).await.0.unwrap_err();
    assert!(error.to_string().contains("`<html>hello</html>`"), "{error}");
    let page = format!("<html>{}</html>", "x".repeat(400));
    let error = always(OPENAI, Reply::garbage(page)).await.0.unwrap_err().to_string();
    assert!(error.contains("<html>x") && !error.contains(&"x".repeat(60)), "{error}");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error() {
    let body = r#"data: {"error": {"message": "context is full", "code": 400}}"#.to_owned() + "\n\n";
    let (answer, asked) = always(OPENAI, Reply::raw(200, "text/event-stream", body)).await;
    let error = answer.unwrap_err();
    assert!(
        matches!(&error, ModelError::Refused { status: 400, message, .. } if message == "context is full"),
        "{error}"
    );
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn a_stream_that_ends_without_its_usual_end_is_complete_if_the_reason_came() {
    let chunk = json!({"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]});
    let body = format!("data: {chunk}\n\n");
    assert_eq!(always(OPENAI, Reply::raw(200, "text/event-stream", body)).await.0.unwrap().text, "Hi.");
}
