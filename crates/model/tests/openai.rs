//! Every way in which an endpoint behaves, over real HTTP.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may")]

use std::time::Duration;

use callboard_model::scripted::{Reply, Scripted, last_text};
use callboard_model::{
    ApiKey, ChatAnswer, ChatModel, ChatRequest, Endpoints, Finish, ModelError, Provider, ResponseSchema, Retries,
    Settings, Timeouts, Usage, probe,
};
use serde_json::json;

/// Settings for `endpoint` that lose no time.
fn settings(endpoint: &Scripted) -> Settings {
    Settings {
        openai_base_url: Some(endpoint.base_url()),
        timeouts: Timeouts { idle: Duration::from_secs(20), ..Timeouts::default() },
        retries: Retries { first_wait: Duration::from_millis(1), ..Retries::default() },
        ..Settings::default()
    }
}

fn request(text: &str) -> ChatRequest {
    let mut request = ChatRequest::new("small".parse().unwrap());
    request.messages = vec![json!({"role": "user", "content": text})];
    request
}

/// Asks once with `settings` and gives the answer with the pieces that came on the way.
async fn ask(settings: Settings, request: &ChatRequest) -> (Result<ChatAnswer, ModelError>, Vec<String>) {
    let mut pieces = Vec::new();
    let answer = Endpoints::from(settings).chat(request, &mut |piece| pieces.push(piece.to_owned())).await;
    (answer, pieces)
}

/// What comes of it when an endpoint always gives this reply, and how often it was asked.
async fn always(reply: Reply) -> (Result<ChatAnswer, ModelError>, usize) {
    let endpoint = Scripted::start(move |_, _| reply.clone());
    let (answer, _) = ask(settings(&endpoint), &request("hi")).await;
    (answer, endpoint.requests().len())
}

#[tokio::test]
async fn a_text_comes_piece_by_piece_with_its_usage() {
    let endpoint =
        Scripted::start(|request, _| Reply::text(format!("You said {}", last_text(request))).with_usage(7, 3));
    let (answer, pieces) = ask(settings(&endpoint), &request("hello")).await;
    let answer = answer.unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.finish, answer.model.as_str()),
        ("You said hello", Finish::Stop, "scripted")
    );
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 7, completion_tokens: 3 }));
    assert_eq!(pieces, ["You ", "said ", "hello"]);
    assert_eq!(endpoint.requests()[0]["model"], "small");
}

#[tokio::test]
async fn calls_of_tools_come_whole() {
    let endpoint = Scripted::start(|_, _| Reply::tool_calls([("find", json!({"q": "é"})), ("stop", json!({}))]));
    let mut request = request("look");
    request.tools = vec![json!({"type": "function", "function": {"name": "find"}})];
    let answer = ask(settings(&endpoint), &request).await.0.unwrap();
    let calls: Vec<_> =
        answer.tool_calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
    assert_eq!(calls, [r#"call_1 find {"q":"é"}"#, "call_2 stop {}"]);
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(endpoint.requests()[0]["tools"][0]["function"]["name"], "find");
}

#[tokio::test]
async fn a_schema_is_asked_for() {
    let endpoint = Scripted::start(|_, _| Reply::json(&json!({"done": true})));
    let mut request = request("hi");
    let schema = json!({"type": "object"});
    request.response_schema =
        Some(ResponseSchema { name: "directive".to_owned(), schema: schema.clone(), strict: true });
    assert_eq!(ask(settings(&endpoint), &request).await.0.unwrap().text, r#"{"done":true}"#);
    assert_eq!(endpoint.requests()[0]["response_format"]["json_schema"]["schema"], schema);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::text("All at once.").ignoring_stream().with_usage(1, 2),
        _ => Reply::tool_calls([("find", json!({}))]).ignoring_stream(),
    });
    let (answer, pieces) = ask(settings(&endpoint), &request("hi")).await;
    assert_eq!(answer.unwrap().usage, Some(Usage { prompt_tokens: 1, completion_tokens: 2 }));
    assert_eq!(pieces, ["All at once."]);
    assert_eq!(ask(settings(&endpoint), &request("hi")).await.0.unwrap().tool_calls[0].name, "find");
}

#[tokio::test]
async fn an_answer_that_is_cut_short_says_so_and_usage_may_be_missing() {
    let answer = always(Reply::text("Once upon").finish("length").without_usage()).await.0.unwrap();
    assert_eq!((answer.finish, answer.usage), (Finish::Length, None));
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again_and_then_given_up() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::error(503, "starting"),
        1 => Reply::error(429, "slow down").retry_after(0),
        2 => Reply::cut_off(""),
        _ => Reply::text("At last."),
    });
    assert_eq!(ask(settings(&endpoint), &request("hi")).await.0.unwrap().text, "At last.");
    assert_eq!(endpoint.requests().len(), 4);

    let (answer, asked) = always(Reply::error(500, "broken")).await;
    let error = answer.unwrap_err();
    assert_eq!((error.code(), asked), ("model_refused", 4));
    assert!(error.to_string().contains("status 500: broken"), "{error}");
}

#[tokio::test]
async fn an_endpoint_that_wants_too_long_a_wait_is_not_waited_for() {
    let (answer, asked) = always(Reply::error(429, "tomorrow").retry_after(86_400)).await;
    assert_eq!((answer.unwrap_err().code(), asked), ("model_refused", 1));
}

#[tokio::test]
async fn what_is_wrong_with_the_request_is_not_sent_again() {
    for status in [400, 401, 404, 422, 307] {
        let (answer, asked) = always(Reply::error(status, "no")).await;
        assert!(matches!(answer, Err(ModelError::Refused { status: is, .. }) if is == status), "{answer:?}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_after_its_first_words_is_not_begun_again() {
    let endpoint = Scripted::start(|_, _| Reply::cut_off("Once upon a"));
    let (answer, pieces) = ask(settings(&endpoint), &request("hi")).await;
    assert!(matches!(answer, Err(ModelError::CutOff { received_chars: 11, .. })), "{answer:?}");
    assert_eq!((pieces.concat().as_str(), endpoint.requests().len()), ("Once upon a", 1));
}

#[tokio::test]
async fn silence_and_a_stall_end_in_time() {
    for reply in [Reply::silence(), Reply::stall("Well")] {
        let endpoint = Scripted::start(move |_, _| reply.clone());
        let mut settings = settings(&endpoint);
        settings.timeouts.idle = Duration::from_millis(100);
        let error = ask(settings, &request("hi")).await.0.unwrap_err();
        assert_eq!((error.code(), endpoint.requests().len()), ("model_timed_out", 1), "{error}");
    }
    let endpoint = Scripted::start(|_, _| Reply::error(503, "busy"));
    let mut settings = settings(&endpoint);
    settings.timeouts.whole = Duration::from_millis(100);
    settings.retries.first_wait = Duration::from_secs(60);
    let error = ask(settings, &request("hi")).await.0.unwrap_err();
    assert!(error.to_string().contains("whole answer"), "{error}");
}

#[tokio::test]
async fn an_answer_may_take_its_time_as_long_as_it_begins() {
    let answer = always(Reply::text("Here.").after(Duration::from_millis(50))).await.0.unwrap();
    assert_eq!(answer.text, "Here.");
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
        let (answer, asked) = always(reply.clone()).await;
        let error = answer.unwrap_err();
        assert_eq!((error.code(), asked), ("model_not_understood", 1), "{reply:?}: {error}");
    }
    let error = always(Reply::garbage("<html>hello</html>")).await.0.unwrap_err();
    assert!(error.to_string().contains("`<html>hello</html>`"), "{error}");
}

#[tokio::test]
async fn an_error_without_a_word_is_still_told() {
    let error = always(Reply::raw(404, "text/plain", "")).await.0.unwrap_err();
    assert!(error.to_string().contains("status 404: it gives no reason; check the base URL"), "{error}");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error() {
    let body = r#"data: {"error": {"message": "context is full", "code": 400}}"#.to_owned() + "\n\n";
    let (answer, asked) = always(Reply::raw(200, "text/event-stream", body)).await;
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
    assert_eq!(always(Reply::raw(200, "text/event-stream", body)).await.0.unwrap().text, "Hi.");
}

#[tokio::test]
async fn a_key_is_sent_and_is_in_no_error() {
    let endpoint = Scripted::start(|_, _| Reply::error(401, "Incorrect API key provided: sk-secret"));
    let mut settings = settings(&endpoint);
    settings.openai_base_url = Some(endpoint.base_url().replace("//", "//user:password@"));
    settings.openai_api_key = ApiKey::new("sk-secret");
    let error = ask(settings, &request("hi")).await.0.unwrap_err();
    assert_eq!(endpoint.keys(), [Some("Bearer sk-secret".to_owned())]);
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("[hidden]") && !shown.contains("secret") && !shown.contains("password"), "{shown}");
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    let settings = settings(&endpoint);
    let url = endpoint.base_url();
    drop(endpoint);
    let error = ask(settings, &request("hi")).await.0.unwrap_err();
    assert_eq!(error.code(), "model_unreachable");
    assert!(error.to_string().contains(&url) && error.to_string().contains("refused"), "{error}");
    assert_eq!(probe(&url, None).await.unwrap_err().code(), "model_unreachable");
}

#[tokio::test]
async fn models_are_listed() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    assert_eq!(probe(&endpoint.base_url(), None).await.unwrap(), ["scripted"]);
    let endpoints = Endpoints::from(settings(&endpoint));
    assert_eq!(endpoints.models(Provider::OpenAi).await.unwrap(), ["scripted"]);
}

#[tokio::test]
async fn what_is_not_set_up_or_not_there_yet_is_said_at_once() {
    let nowhere = ask(Settings::default(), &request("hi")).await.0.unwrap_err();
    assert_eq!(nowhere.code(), "model_not_configured");
    assert!(nowhere.to_string().contains("OPENAI_BASE_URL"), "{nowhere}");

    let odd = Settings { openai_base_url: Some("localhost:11434".to_owned()), ..Settings::default() };
    let odd = ask(odd, &request("hi")).await.0.unwrap_err();
    assert!(odd.to_string().contains("http://"), "{odd}");

    let claude = ChatRequest::new("anthropic:claude".parse().unwrap());
    let error = ask(Settings::default(), &claude).await.0.unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("not supported yet")), ("model_unsupported", true), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_ends_in_the_middle_of_an_answer_when_it_is_dropped() {
    let endpoint = Scripted::start(|_, _| Reply::stall("Well"));
    let mut settings = settings(&endpoint);
    settings.timeouts.idle = Duration::from_secs(600);
    let asked = tokio::spawn(async move { ask(settings, &request("hi")).await.0 });
    assert!(endpoint.wait_for(1, Duration::from_secs(20)), "nothing was asked");
    assert!(!endpoint.wait_for(2, Duration::ZERO), "it was asked twice");
    drop(endpoint);
    assert!(matches!(asked.await.unwrap(), Err(ModelError::CutOff { .. } | ModelError::Unreachable { .. })));
}
