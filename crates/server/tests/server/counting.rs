//! Counting the tokens of models whose own vocabulary is not at hand: an estimate that learns from what is reported.

use callboard_engine::sizes;
use serde_json::{Value, json};

use crate::fixtures::Server;

const MODEL: &str = "anthropic:claude-sonnet-4-5";

async fn prompt(server: &Server, session: &str, more: Value) -> Value {
    let mut wanted = json!({"agent": "writer", "model": MODEL});
    wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.send("POST", &format!("/v1/sessions/{session}/prompt"), wanted).await.is(200).body
}

fn number(of: &Value, field: &str) -> u64 {
    of[field].as_u64().unwrap_or_else(|| panic!("no {field} in {of}"))
}

/// What a provider would count that has so many tokens for a thousand of another vocabulary.
fn counted(prompt: &Value, thousandths: u64) -> u64 {
    sizes().count(prompt["text"].as_str().unwrap()).0 * thousandths / 1000
}

#[tokio::test]
async fn a_budget_that_is_too_small_for_a_model_of_unknown_name_says_how_that_is_counted() {
    let server = Server::start().await;
    let team = server.team("s").await;
    for (model, is_known) in [("openai:gpt-4o", true), ("openai:nobody-knows-it", false)] {
        let wanted = json!({"agent": "writer", "model": model, "budget": 20});
        let refused = server.send("POST", &format!("{team}/prompt"), wanted).await;
        let refused = refused.problem(422, "budget_exceeded");
        let says_so =
            refused.text("detail").ends_with("; the name of the model is not known, so each byte counts as a token");
        assert_eq!(says_so, !is_known, "{}", refused.raw);
    }
}

#[tokio::test]
async fn an_estimate_comes_near_what_a_loop_reports_and_stays_in_its_session() {
    for truth in [700, 2000] {
        let server = Server::start().await;
        for session in ["s", "other"] {
            let team = server.team(session).await;
            server.send("PATCH", &team, json!({"compression": {"auto": false}})).await.is(200);
            let words = "The tide turns twice a day, and the harbour with it. ".repeat(40);
            let said: Vec<_> =
                (0..20).map(|day| json!({"role": "user", "content": format!("Day {day}. {words}")})).collect();
            let thread = format!("/v1/sessions/{session}/threads/main/messages");
            server.send("POST", &thread, json!({"messages": said})).await.is(200);
        }
        let first = prompt(&server, "s", json!({"record": true, "budget": 9000})).await;
        assert_eq!((&first["counting"], &first["factor"]), (&json!("estimated"), &json!(1.35)));
        assert!(number(&first, "tokens") <= 9000 && number(&first, "tokens") > 6000, "{}", first["parts"]);
        let parts = first["parts"].as_array().unwrap();
        assert_eq!(parts.iter().map(|part| number(part, "tokens")).sum::<u64>(), number(&first, "tokens"));

        let mut sent = first.clone();
        for turn in 0..10 {
            let used = json!({"prompt_tokens": counted(&sent, truth), "completion_tokens": 3});
            let answered = format!("/v1/sessions/s/turns/{}", sent["turn"]);
            server.send("POST", &answered, json!({"text": "It does.", "usage": used})).await.is(200);
            sent = prompt(&server, "s", json!({"record": true, "budget": 9000})).await;
            let (estimated, real) = (number(&sent, "tokens"), counted(&sent, truth));
            if turn > 6 {
                assert!(estimated.abs_diff(real) * 100 <= real * 8, "{estimated} of {real} after {turn}");
                assert!(real <= 9000, "{real} tokens do not fit");
            }
        }

        // What was sent is rendered as it was, whatever was learned since.
        let again = server.get(&format!("/v1/sessions/s/turns/{}/prompt", first["turn"])).await.is(200);
        assert_eq!((&again.body["text"], &again.body["tokens"]), (&first["text"], &first["tokens"]));
        // Who drives a loop of its own teaches its own session alone.
        assert_eq!(prompt(&server, "other", json!({})).await["factor"], 1.35);
    }
}

#[tokio::test]
async fn reports_of_the_uncached_part_alone_halve_an_estimate_at_the_most() {
    let (server, team) = Server::with_team().await;
    server.send("PATCH", &team, json!({"compression": {"auto": false}})).await.is(200);
    let words = "The tide turns twice a day, and the harbour with it. ".repeat(40);
    let said: Vec<_> = (0..40).map(|day| json!({"role": "user", "content": format!("Day {day}. {words}")})).collect();
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    let wanted = json!({"record": true, "budget": 9000});
    let mut sent = prompt(&server, "s", wanted.clone()).await;
    for _ in 0..130 {
        let used = json!({"input_tokens": 120, "output_tokens": 3});
        let answered = format!("{team}/turns/{}", sent["turn"]);
        server.send("POST", &answered, json!({"text": "It does.", "usage": used})).await.is(200);
        sent = prompt(&server, "s", wanted.clone()).await;
    }
    assert!(sent["factor"].as_f64().unwrap() >= 0.675, "{}", sent["factor"]);
    assert!(counted(&sent, 1350) <= 2 * 9000, "{} tokens for a budget of 9000", counted(&sent, 1350));
}

#[tokio::test]
async fn a_model_that_nobody_knows_is_bounded_until_its_provider_reports() {
    let (server, team) = Server::with_team().await;
    let words = "The tide turns twice a day, and the harbour with it. ".repeat(40);
    server.say(&team, "main", &words).await;
    let unknown = json!({"model": "openai:nobody-knows-it", "record": true});
    let first = prompt(&server, "s", unknown.clone()).await;
    assert_eq!((&first["counting"], &first["vocabulary"]), (&json!("upper_bound"), &json!("bytes")));
    let mut sent = first;
    for _ in 0..10 {
        let used = json!({"prompt_tokens": counted(&sent, 1000), "completion_tokens": 3});
        let answered = format!("{team}/turns/{}", sent["turn"]);
        server.send("POST", &answered, json!({"text": "Yes.", "usage": used})).await.is(200);
        sent = prompt(&server, "s", unknown.clone()).await;
        assert_eq!(sent["counting"], "estimated");
    }
    let (estimated, real) = (number(&sent, "tokens"), counted(&sent, 1000));
    assert!(estimated.abs_diff(real) * 100 <= real * 8, "{estimated} of {real}");
}
