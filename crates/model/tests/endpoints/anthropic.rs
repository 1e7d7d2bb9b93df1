//! What is Anthropic's messages alone.

use callboard_model::scripted::{Reply, Scripted};
use callboard_model::{ChatRequest, Finish, ModelError, Provider, ResponseSchema, Usage};
use serde_json::{Value, json};

use crate::{always, ask, request, settings};

const ANTHROPIC: Provider = Provider::Anthropic;

/// A request for an answer of a form.
fn structured() -> ChatRequest {
    let mut request = request(ANTHROPIC, "hi");
    let schema = json!({"type": "object"});
    request.response_schema = Some(ResponseSchema { name: "directive".to_owned(), schema, strict: false, plain: None });
    request
}

fn stream(events: &[Value]) -> Reply {
    let events: String = events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"])).collect();
    Reply::raw(200, "text/event-stream", events)
}

fn text(text: &str) -> Value {
    json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
}

fn error(kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": "Not now"}})
}

#[tokio::test]
async fn an_answer_of_a_form_is_what_its_tool_is_called_with() {
    for streams in [true, false] {
        let reply = Reply::json(&json!({"done": true}));
        let reply = if streams { reply } else { reply.ignoring_stream() };
        let endpoint = Scripted::start(move |_, _| reply.clone());
        let (answer, pieces) = ask(settings(&endpoint), &structured()).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), (r#"{"done":true}"#, Finish::Stop));
        assert!(answer.tool_calls.is_empty());
        assert_eq!(pieces.concat(), answer.text);
        let request = &endpoint.requests()[0];
        assert_eq!(
            (&request["tool_choice"]["name"], &request["tools"][0]["name"]),
            (&json!("directive"), &json!("directive"))
        );
    }
}

#[tokio::test]
async fn a_model_whose_tool_cannot_be_chosen_is_told_of_the_form_in_words() {
    let endpoint = Scripted::start(|request, _| match request.get("tool_choice") {
        Some(_) => Reply::error(400, "tool_choice: forcing a tool is not possible with this model"),
        None => Reply::json(&json!({"done": true})),
    });
    assert_eq!(ask(settings(&endpoint), &structured()).await.0.unwrap().text, r#"{"done":true}"#);
    let requests = endpoint.requests();
    let words = requests[1]["system"][0]["text"].as_str().unwrap();
    assert!(requests.len() == 2 && words.contains("JSON Schema"), "{words}");

    let endpoint = Scripted::start(|_, _| Reply::error(400, "the prompt is too long"));
    assert_eq!(ask(settings(&endpoint), &structured()).await.0.unwrap_err().code(), "model_refused");
    assert_eq!(endpoint.requests().len(), 1, "what else is refused is not asked again");
}

#[tokio::test]
async fn thoughts_that_are_bound_to_what_has_changed_are_left_out() {
    let endpoint = Scripted::start(|request, _| match request.get("thinking") {
        None => Reply::error(
            400,
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. \
             Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". The `tools` differ.",
        ),
        Some(_) => Reply::text("High."),
    });
    assert_eq!(ask(settings(&endpoint), &request(ANTHROPIC, "hi")).await.0.unwrap().text, "High.");
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2);
    let expected = json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    assert_eq!(requests[1]["thinking"], expected);
    assert_eq!(requests[1]["messages"], requests[0]["messages"]);

    // Where it thinks no call can be forced: the form is told in words.
    assert_eq!(ask(settings(&endpoint), &structured()).await.0.unwrap().text, "High.");
    let requests = endpoint.requests();
    assert_eq!((requests.len(), &requests[2]["tool_choice"]["type"]), (4, &json!("tool")));
    let words = requests[3]["system"][0]["text"].as_str().unwrap();
    assert!(requests[3].get("tool_choice").is_none() && words.contains("JSON Schema"), "{words}");
}

#[tokio::test]
async fn what_comes_before_the_conversation_is_sent_beside_it() {
    let endpoint = Scripted::start(|_, _| Reply::text("Hi."));
    let mut request = request(ANTHROPIC, "hi");
    request.system = vec![json!({"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}})];
    ask(settings(&endpoint), &request).await.0.unwrap();
    let sent = &endpoint.requests()[0];
    assert_eq!((&sent["system"], &sent["messages"]), (&json!(request.system), &json!(request.messages)));
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&json!("small"), &json!(8192)));
}

#[tokio::test]
async fn an_overloaded_endpoint_is_asked_again() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::error(529, "Overloaded").retry_after(0),
        1 => stream(&[json!({"type": "ping"}), error("overloaded_error")]),
        2 => stream(&[error("rate_limit_error")]),
        _ => Reply::text("At last."),
    });
    assert_eq!(ask(settings(&endpoint), &request(ANTHROPIC, "hi")).await.0.unwrap().text, "At last.");
    assert_eq!(endpoint.requests().len(), 4);
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error() {
    for (kind, is) in [("invalid_request_error", 400), ("api_error", 500)] {
        let (answer, asked) = always(ANTHROPIC, stream(&[text("Well, "), error(kind)])).await;
        let refused = answer.unwrap_err();
        assert!(
            matches!(&refused, ModelError::Refused { status, message, .. } if *status == is && message.contains("Not now")),
            "{refused}"
        );
        assert_eq!(asked, 1, "an answer that was begun is not begun again");
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_its_usual_end_is_complete_if_the_reason_came() {
    let usage = json!({"input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"model": "m", "usage": usage}}),
        text("Hi."),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
    ];
    let answer = always(ANTHROPIC, stream(&events)).await.0.unwrap();
    assert_eq!(answer.text, "Hi.");
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 7, completion_tokens: 3 }));
    let cut = always(ANTHROPIC, stream(&events[..2])).await.0.unwrap_err();
    assert!(matches!(cut, ModelError::CutOff { received_chars: 3, .. }), "{cut}");
}

#[tokio::test]
async fn what_is_no_answer_is_shown_and_not_asked_for_again() {
    let nonsense = [
        Reply::garbage("<html>hello</html>"),
        Reply::raw(200, "application/json", "{}"),
        Reply::raw(200, "application/json", r#"{"type": "novelty"}"#),
        Reply::raw(200, "application/json", ""),
        Reply::raw(200, "text/event-stream", "data: {\"type\": \"content_block_delta\"}\n\n"),
        stream(&[json!({"type": "message_start", "message": 5})]),
    ];
    for reply in nonsense {
        let (answer, asked) = always(ANTHROPIC, reply.clone()).await;
        let error = answer.unwrap_err();
        assert_eq!((error.code(), asked), ("model_not_understood", 1), "{reply:?}: {error}");
        assert!(error.to_string().contains("protocol of anthropic"), "{error}");
    }
}
