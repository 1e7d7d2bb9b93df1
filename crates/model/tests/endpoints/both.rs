//! What holds whatever an endpoint speaks.

use std::time::Duration;

use callboard_model::scripted::{Reply, Scripted, last_text};
use callboard_model::{ApiKey, ChatModel as _, Endpoints, Finish, ModelError, ResponseSchema, Settings, Usage};
use serde_json::json;

use crate::{BOTH, always, ask, request, settings};

#[tokio::test]
async fn a_text_comes_piece_by_piece_with_its_usage() {
    for provider in BOTH {
        let endpoint =
            Scripted::start(|request, _| Reply::text(format!("You said {}", last_text(request))).with_usage(7, 3));
        let (answer, pieces) = ask(settings(&endpoint), &request(provider, "hello")).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("You said hello", Finish::Stop));
        assert_eq!(answer.usage, Some(Usage { prompt_tokens: 7, completion_tokens: 3 }));
        assert_eq!(pieces, ["You ", "said ", "hello"]);
        assert_eq!(endpoint.requests()[0]["model"], "small");
    }
}

#[tokio::test]
async fn calls_of_tools_come_whole() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, _| Reply::tool_calls([("find", json!({"q": "é"})), ("stop", json!({}))]));
        let mut request = request(provider, "look");
        request.tools = vec![json!({"type": "function", "function": {"name": "find"}})];
        let answer = ask(settings(&endpoint), &request).await.0.unwrap();
        let calls: Vec<_> =
            answer.tool_calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
        assert_eq!(calls, [r#"call_1 find {"q":"é"}"#, "call_2 stop {}"]);
        assert_eq!(answer.finish, Finish::ToolCalls);
        let tool = &endpoint.requests()[0]["tools"][0];
        assert!(tool["name"] == "find" || tool["function"]["name"] == "find", "{tool}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, nth| match nth {
            0 => Reply::text("All at once.").ignoring_stream().with_usage(1, 2),
            _ => Reply::tool_calls([("find", json!({}))]).ignoring_stream(),
        });
        let (answer, pieces) = ask(settings(&endpoint), &request(provider, "hi")).await;
        assert_eq!(answer.unwrap().usage, Some(Usage { prompt_tokens: 1, completion_tokens: 2 }));
        assert_eq!(pieces, ["All at once."]);
        assert_eq!(ask(settings(&endpoint), &request(provider, "hi")).await.0.unwrap().tool_calls[0].name, "find");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_short_says_so_and_usage_may_be_missing() {
    for provider in BOTH {
        let answer = always(provider, Reply::text("Once upon").finish("length").without_usage()).await.0.unwrap();
        assert_eq!((answer.finish, answer.usage), (Finish::Length, None));
    }
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again_and_then_given_up() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, nth| match nth {
            0 => Reply::error(503, "starting"),
            1 => Reply::error(429, "slow down").retry_after(0),
            2 => Reply::cut_off(""),
            _ => Reply::text("At last."),
        });
        assert_eq!(ask(settings(&endpoint), &request(provider, "hi")).await.0.unwrap().text, "At last.");
        assert_eq!(endpoint.requests().len(), 4);

        let (answer, asked) = always(provider, Reply::error(500, "broken")).await;
        let error = answer.unwrap_err();
        assert_eq!((error.code(), asked), ("model_refused", 4));
        assert!(error.to_string().contains("status 500: broken"), "{error}");
    }
}

#[tokio::test]
async fn an_endpoint_that_wants_too_long_a_wait_is_not_waited_for() {
    for provider in BOTH {
        let (answer, asked) = always(provider, Reply::error(429, "tomorrow").retry_after(86_400)).await;
        assert_eq!((answer.unwrap_err().code(), asked), ("model_refused", 1));
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_request_is_not_sent_again() {
    for provider in BOTH {
        for status in [400, 401, 404, 422, 307] {
            let (answer, asked) = always(provider, Reply::error(status, "no")).await;
            assert!(matches!(answer, Err(ModelError::Refused { status: is, .. }) if is == status), "{answer:?}");
            assert_eq!(asked, 1);
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_after_its_first_words_is_not_begun_again() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, _| Reply::cut_off("Once upon a"));
        let (answer, pieces) = ask(settings(&endpoint), &request(provider, "hi")).await;
        assert!(matches!(answer, Err(ModelError::CutOff { received_chars: 11, .. })), "{answer:?}");
        assert_eq!((pieces.concat().as_str(), endpoint.requests().len()), ("Once upon a", 1));
    }
}

#[tokio::test]
async fn silence_and_a_stall_end_in_time() {
    for provider in BOTH {
        for reply in [Reply::silence(), Reply::stall("Well")] {
            let endpoint = Scripted::start(move |_, _| reply.clone());
            let mut settings = settings(&endpoint);
            settings.timeouts.idle = Duration::from_secs(2);
            let error = ask(settings, &request(provider, "hi")).await.0.unwrap_err();
            assert_eq!((error.code(), endpoint.requests().len()), ("model_timed_out", 1), "{error}");
        }
        let endpoint = Scripted::start(|_, _| Reply::error(503, "busy"));
        let mut settings = settings(&endpoint);
        settings.timeouts.whole = Duration::from_secs(2);
        settings.retries.first_wait = Duration::from_secs(60);
        let error = ask(settings, &request(provider, "hi")).await.0.unwrap_err();
        assert!(error.to_string().contains("whole answer"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_may_take_its_time_as_long_as_it_begins() {
    for provider in BOTH {
        let answer = always(provider, Reply::text("Here.").after(Duration::from_secs(1))).await.0.unwrap();
        assert_eq!(answer.text, "Here.");
    }
}

#[tokio::test]
async fn an_error_without_a_word_is_still_told() {
    for provider in BOTH {
        let error = always(provider, Reply::raw(404, "text/plain", "")).await.0.unwrap_err();
        assert!(error.to_string().contains("status 404: it gives no reason; check the base URL"), "{error}");
    }
}

#[tokio::test]
async fn a_key_is_sent_and_is_in_no_error() {
    for (provider, sent) in BOTH.into_iter().zip(["Bearer sk-secret", "sk-secret"]) {
        let endpoint = Scripted::start(|_, _| Reply::error(401, "Incorrect API key provided: sk-secret"));
        let mut settings = settings(&endpoint);
        let url = Some(endpoint.base_url().replace("//", "//user:password@"));
        (settings.openai_base_url, settings.anthropic_base_url) = (url.clone(), url);
        let key = ApiKey::new("sk-secret");
        (settings.openai_api_key, settings.anthropic_api_key) = (key.clone(), key);
        let error = ask(settings, &request(provider, "hi")).await.0.unwrap_err();
        assert_eq!(endpoint.keys(), [Some(sent.to_owned())]);
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("[hidden]") && !shown.contains("secret") && !shown.contains("password"), "{shown}");
    }
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, _| Reply::silence());
        let settings = settings(&endpoint);
        let url = endpoint.base_url();
        drop(endpoint);
        let listed = Endpoints::from(settings.clone()).models(provider).await;
        assert_eq!(listed.unwrap_err().code(), "model_unreachable");
        let error = ask(settings, &request(provider, "hi")).await.0.unwrap_err();
        assert_eq!(error.code(), "model_unreachable");
        let shown = error.to_string();
        assert!(shown.contains(url.trim_end_matches("/v1")) && shown.contains("refused"), "{shown}");
    }
}

#[tokio::test]
async fn models_are_listed() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    let endpoints = Endpoints::from(settings(&endpoint));
    for provider in BOTH {
        assert_eq!(endpoints.models(provider).await.unwrap(), ["scripted"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_ends_in_the_middle_of_an_answer_when_it_is_dropped() {
    for provider in BOTH {
        let endpoint = Scripted::start(|_, _| Reply::stall("Well"));
        let mut settings = settings(&endpoint);
        settings.timeouts.idle = Duration::from_secs(600);
        let asked = tokio::spawn(async move { ask(settings, &request(provider, "hi")).await.0 });
        assert!(endpoint.wait_for(1, Duration::from_secs(60)), "nothing was asked");
        assert!(!endpoint.wait_for(2, Duration::ZERO), "it was asked twice");
        drop(endpoint);
        assert!(matches!(asked.await.unwrap(), Err(ModelError::CutOff { .. } | ModelError::Unreachable { .. })));
    }
}

#[tokio::test]
async fn an_answer_without_end_is_no_answer() {
    let flood = Reply::raw(200, "application/json", " ".repeat((64 << 20) + 1));
    for provider in BOTH {
        let (answer, asked) = always(provider, flood.clone()).await;
        let error = answer.unwrap_err();
        assert_eq!((error.code(), asked), ("model_not_understood", 1));
        assert!(error.to_string().contains("does not end"), "{error}");
    }
}

#[tokio::test]
async fn what_is_not_set_up_is_said_at_once() {
    for (provider, variable) in BOTH.into_iter().zip(["OPENAI_BASE_URL", "ANTHROPIC_API_KEY"]) {
        let nowhere = ask(Settings::default(), &request(provider, "hi")).await.0.unwrap_err();
        assert_eq!(nowhere.code(), "model_not_configured");
        assert!(nowhere.to_string().contains(variable), "{nowhere}");

        let url = Some("localhost:11434".to_owned());
        let odd = Settings { openai_base_url: url.clone(), anthropic_base_url: url, ..Settings::default() };
        let odd = ask(odd, &request(provider, "hi")).await.0.unwrap_err();
        assert!(odd.to_string().contains("http://"), "{odd}");
    }
}

#[tokio::test]
async fn a_schema_that_an_endpoint_refused_to_enforce_is_asked_for_plainly_from_then_on() {
    for provider in BOTH {
        let endpoint = Scripted::start(|request, _| match request.to_string().contains("\"strict\":true") {
            true => Reply::error(400, "Invalid schema: it is too complex"),
            false => Reply::json(&json!({"done": true})),
        });
        let endpoints = Endpoints::from(settings(&endpoint));
        let mut request = request(provider, "hi");
        for (name, asked) in [("directive", 2), ("directive", 3), ("form", 5)] {
            let (schema, plain) = (json!({"type": "object"}), Some(json!({"type": "object"})));
            request.response_schema = Some(ResponseSchema { name: name.to_owned(), schema, strict: true, plain });
            endpoints.chat(&request, &mut |_| {}).await.unwrap();
            assert_eq!(endpoint.requests().len(), asked, "{provider:?} {name}");
        }
    }
}
