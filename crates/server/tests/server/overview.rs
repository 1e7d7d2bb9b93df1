//! What lists say of sessions at a glance.

use callboard_server::{Prices, Settings};
use serde_json::{Value, json};

use crate::fixtures::{Server, memory, settings};

async fn listed(server: &Server, query: &str) -> Vec<Value> {
    let list = server.get(&format!("/v1/sessions{query}")).await.is(200).body;
    list["sessions"].as_array().unwrap().clone()
}

/// A turn of the writer that used so many tokens.
async fn turn(server: &Server, team: &str, usage: (u64, u64)) -> Value {
    let ask = json!({"agent": "writer", "record": true, "model": "openai:gpt-4o"});
    let prompt = server.send("POST", &format!("{team}/prompt"), ask).await.is(200).body;
    let answer = json!({"text": "done", "usage": {"prompt_tokens": usage.0, "completion_tokens": usage.1}});
    server.send("POST", &format!("{team}/turns/{}", prompt["turn"]), answer).await.is(200);
    prompt
}

#[tokio::test]
async fn the_list_says_what_happened_last_and_who_has_to_act() {
    let (server, team) = Server::with_team().await;
    server.say(&team, "main", &"Is it\nready? ".repeat(40)).await;
    let session = listed(&server, "").await.remove(0);
    let last = &session["last"];
    assert_eq!((&last["seq"], &last["by"], &last["type"]), (&session["head"], &json!("user"), &json!("message.added")));
    let sentence = last["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("user in main: Is it ready? Is it") && sentence.chars().count() == 120, "{sentence}");
    assert_eq!((&session["entries"], &session["needs_user"]), (&session["head"], &json!(false)));
    assert!(session["size_bytes"].as_u64().unwrap() > 400 && session.get("largest_prompt").is_none(), "{session}");

    let prompt = turn(&server, &team, (1200, 30)).await;
    turn(&server, &team, (1300, 40)).await;
    let session = listed(&server, "").await.remove(0);
    let usage = json!({"prompt_tokens": 2500, "completion_tokens": 70, "total_tokens": 2570});
    assert_eq!((&session["usage"], session.get("cost")), (&usage, None));
    let largest = &session["largest_prompt"];
    assert_eq!((&largest["agent"], &largest["window"]), (&json!("writer"), &prompt["budget"]));
    assert!(largest["tokens"].as_u64() >= prompt["tokens"].as_u64() && largest["warn_at"].is_u64(), "{largest}");

    let form = json!({"name": "Trip", "fields": [{"key": "to", "valueType": "STRING", "label": "Where to?", "required": true}]});
    let directive = json!({"isInfoRequest": true, "message": "Where to?", "form": form});
    server.send("POST", &format!("{team}/directives?as=lead"), directive).await.is(200);
    let session = listed(&server, "").await.remove(0);
    assert_eq!(session["needs_user"], true, "{session}");
    assert_eq!(server.get(&team).await.is(200).body["needs_user"], true);
    server.send("POST", &format!("{team}/forms/Trip"), json!({"answers": {"to": "Rome"}})).await.is(200);
    assert_eq!(listed(&server, "").await.remove(0)["needs_user"], false);
}

#[tokio::test]
async fn workers_see_nothing_of_it_and_secrets_are_in_no_sentence() {
    let server = Server::start_with_key().await;
    let team = server.team("s").await;
    let value = "hunter2-hunter2-hunter2";
    let secret = json!({"value": value, "reason": "to log in", "secret": true});
    server
        .send(
            "PUT",
            &format!("{team}/variables/other"),
            json!({"value": "other-secret", "reason": "r", "secret": true}),
        )
        .await
        .is(200);
    // The secret would be cut in the middle.
    server.say(&team, "main", &format!("{}{value}", "x".repeat(95))).await;
    let before = server.get(&format!("{team}/journal?order=desc&limit=1&sentences=true")).await.is(200).body;
    assert!(before["entries"][0]["sentence"].as_str().unwrap().contains("hunter"));
    server.send("PUT", &format!("{team}/variables/pw"), secret).await.is(200);
    let entries = server.get(&format!("{team}/journal?types=message.added&sentences=true")).await.is(200);
    assert!(!entries.raw.contains("hunter"), "{}", entries.raw);
    let found = server.get(&format!("{team}/journal?q=hunter2-hunter2")).await.is(200);
    assert_eq!(found.body["entries"], json!([]));
    let worker = server.get(&format!("{team}?as=writer")).await.is(200).body;
    for field in ["last", "entries", "needs_user", "usage", "size_bytes", "run", "share"] {
        assert!(worker.get(field).is_none(), "{field} of {worker}");
    }
}

#[tokio::test]
async fn sessions_are_found_by_title_and_id_and_the_last_used_come_page_by_page() {
    let server = Server::start().await;
    for n in 0..7 {
        let title = if n % 2 == 0 { "Größer" } else { "Other" };
        server.send("POST", "/v1/sessions", json!({"id": format!("s-{n}"), "title": title})).await.is(201);
    }
    let ids =
        |sessions: &[Value]| sessions.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&listed(&server, "?q=gr%C3%B6SS").await), Vec::<String>::new());
    assert_eq!(ids(&listed(&server, "?order=id&q=GR%C3%96%C3%9F").await), ["s-0", "s-2", "s-4", "s-6"]);
    assert_eq!(ids(&listed(&server, "?q=S-3").await), ["s-3"]);
    let all = ids(&listed(&server, "?order=recent").await);
    assert_eq!(ids(&listed(&server, "").await), all, "the last used come first");
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/sessions?order=recent&limit=3{cursor}")).await.is(200).body;
        paged.extend(ids(page["sessions"].as_array().unwrap()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((paged.len(), &paged), (7, &all));
}

#[tokio::test]
async fn turns_and_sessions_say_what_they_cost_where_prices_are_known() {
    let prices = json!({"currency": "USD", "models": {"gpt-4o": {"prompt": 2.5, "completion": 10.0}}});
    let prices: Prices = serde_json::from_value(prices).unwrap();
    let server = Server::with(memory().await, Settings { prices: Some(prices), ..settings() }).await;
    let team = server.team("s").await;
    server.say(&team, "main", "Begin.").await;
    turn(&server, &team, (1_000_000, 100_000)).await;
    turn(&server, &team, (200_000, 0)).await;
    let ask = json!({"agent": "critic", "record": true, "model": "openai:unknown"});
    let prompt = server.send("POST", &format!("{team}/prompt"), ask).await.is(200).body;
    let answer = json!({"text": "no", "usage": {"prompt_tokens": 5, "completion_tokens": 5}});
    server.send("POST", &format!("{team}/turns/{}", prompt["turn"]), answer).await.is(200);
    let turns = server.get(&format!("{team}/turns")).await.is(200).body;
    let costs: Vec<_> = turns["turns"].as_array().unwrap().iter().map(|turn| turn["cost"]["amount"].as_f64()).collect();
    assert_eq!(costs, [None, Some(0.5), Some(3.5)]);
    for session in [listed(&server, "").await.remove(0), server.get(&team).await.is(200).body] {
        assert_eq!(session["cost"], json!({"amount": 4.0, "currency": "USD"}));
    }
}
