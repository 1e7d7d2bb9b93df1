//! Where the pieces of a prompt stand in it, and which entries they came from.

use serde_json::{Value, json};

use crate::fixtures::Server;

/// The text in which a piece stands, as its documentation says it.
fn text_of(prompt: &Value, piece: &Value) -> Vec<char> {
    let blocks = |blocks: &Value| -> String {
        let text = |block: &Value| block["text"].as_str().or(block["content"].as_str()).unwrap_or_default().to_owned();
        blocks.as_array().into_iter().flatten().map(text).collect()
    };
    let text = match (&prompt["text"], piece["message"].as_u64()) {
        (Value::String(text), _) => text.clone(),
        (_, None) => blocks(&prompt["system"]),
        (_, Some(message)) => match &prompt["messages"][usize::try_from(message).unwrap()]["content"] {
            Value::String(text) => text.clone(),
            content => blocks(content),
        },
    };
    text.chars().collect()
}

/// What a piece shows.
fn shown(prompt: &Value, piece: &Value) -> String {
    let place = |field: &str| usize::try_from(piece[field].as_u64().unwrap()).unwrap();
    text_of(prompt, piece)[place("start")..place("end")].iter().collect()
}

/// Checks that the pieces follow on each other and are as large as the parts, and gives them with what they show.
fn pieces(prompt: &Value) -> Vec<(Value, String)> {
    let all = prompt["pieces"].as_array().unwrap();
    for of_text in all.chunk_by(|one, next| one["message"] == next["message"]) {
        let mut at = 0;
        for piece in of_text {
            assert_eq!(piece["start"], at, "{piece}");
            at = piece["end"].as_u64().unwrap();
        }
        assert_eq!(at, text_of(prompt, &of_text[0]).len() as u64, "{of_text:?}");
    }
    for part in prompt["parts"].as_array().unwrap() {
        let of_part = all.iter().filter(|piece| piece["part"] == part["name"]);
        assert_eq!(of_part.map(|piece| piece["tokens"].as_u64().unwrap()).sum::<u64>(), part["tokens"], "{part}");
    }
    assert_eq!(all.iter().map(|piece| piece["tokens"].as_u64().unwrap()).sum::<u64>(), prompt["tokens"]);
    all.iter().map(|piece| (piece.clone(), shown(prompt, piece))).collect()
}

async fn ask(server: &Server, team: &str, body: Value) -> Value {
    server.send("POST", &format!("{team}/prompt"), body).await.is(200).body
}

#[tokio::test]
async fn each_piece_says_which_entry_it_came_from() {
    let (server, team) = Server::with_team().await;
    let set = json!({"content": "Ünïcode — 日本語 🦀\n".repeat(30)});
    let set = server.send("PUT", &format!("{team}/context-sets/facts"), set).await.is(200).etag();
    let said: Vec<_> =
        (0..20).map(|n| json!({"role": "user", "content": format!("größer {n} 🦀 ").repeat(20)})).collect();
    let added = server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await;
    let added = added.is(200).body;
    for format in ["text", "openai", "anthropic"] {
        for budget in [2000, 100_000] {
            let prompt =
                ask(&server, &team, json!({"agent": "writer", "budget": budget, "pieces": true, "format": format}))
                    .await;
            let is_whole = budget == 100_000;
            let pieces = pieces(&prompt);
            let of_set: Vec<_> = pieces.iter().filter(|(_, shown)| shown.contains("日本語")).collect();
            assert_eq!(of_set.len(), 1);
            let (piece, _) = of_set[0];
            assert_eq!((&piece["part"], &piece["seq"]), (&json!("context_sets"), &json!(set)), "{format}");
            let last = &added["messages"][19];
            let of_last: Vec<_> = pieces.iter().filter(|(piece, _)| piece["seq"] == last["seq"]).collect();
            assert!(of_last.len() == 1 && of_last[0].1.contains("größer 19"), "{of_last:?}");
            assert_eq!(of_last[0].0["part"], "task");
            let is_shortened = pieces.iter().any(|(piece, _)| piece["shortened"] == true);
            assert_eq!(is_shortened, !is_whole, "{format}");
        }
    }
    let unasked = ask(&server, &team, json!({"agent": "writer"})).await;
    assert!(unasked.get("pieces").is_none());
}

#[tokio::test]
async fn pieces_stand_where_they_say_after_a_secret_was_hidden_in_them() {
    let server = Server::start_with_key().await;
    let team = server.team("s").await;
    let value = "hunter2-hunter2-hunter2";
    let call = json!([{"id": "c1", "name": "log_in", "arguments": {"password": value}}]);
    let said = [
        ("user", json!({"role": "user", "content": format!("it is {value}, and {value}")})),
        ("writer", json!({"role": "assistant", "content": "on it", "tool_calls": call})),
        ("writer", json!({"role": "tool", "tool_call_id": "c1", "content": format!("logged in with {value}")})),
        ("user", json!({"role": "user", "content": "go on"})),
    ];
    let mut seqs = Vec::new();
    for (who, message) in said {
        let path = format!("{team}/threads/main/messages{}", if who == "user" { "" } else { "?as=writer" });
        let added = server.send("POST", &path, json!({"messages": [message]})).await.is(200).body;
        seqs.push(added["messages"][0]["seq"].clone());
    }
    let secret = json!({"value": value, "reason": "to log in", "secret": true});
    server.send("PUT", &format!("{team}/variables/pw"), secret).await.is(200);
    for format in ["text", "openai", "anthropic"] {
        let prompt = ask(&server, &team, json!({"agent": "writer", "pieces": true, "format": format})).await;
        assert!(!prompt.to_string().contains(value), "{format}");
        let pieces = pieces(&prompt);
        let of = |n: usize| pieces.iter().find(|(piece, _)| piece["seq"] == seqs[n]).unwrap();
        assert!(of(0).1.contains("it is [hidden], and [hidden]"), "{format}: {}", of(0).1);
        assert!(of(2).1.contains("logged in with [hidden]"), "{format}: {}", of(2).1);
        assert!(of(3).1.contains("go on"), "{format}: {}", of(3).1);
    }
}

#[tokio::test]
async fn pictures_stand_among_the_pieces_of_what_was_said() {
    let (server, team) = Server::with_team().await;
    let picture = |n: usize| json!({"type": "image_url", "image_url": {"url": format!("https://example.com/{n}.png")}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let said = json!([
        {"role": "user", "content": [text("größer 1"), picture(1), text("and so on")]},
        {"role": "user", "content": [picture(2), picture(3)]},
    ]);
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    let count = |prompt: &Value| prompt["messages"].to_string().matches("https://example.com/").count();
    for format in ["openai", "anthropic"] {
        let model = "anthropic:claude-sonnet-4-5";
        let wanted = json!({"agent": "lead", "budget": 60_000, "pieces": true, "format": format, "model": model});
        let prompt = ask(&server, &team, wanted).await;
        assert_eq!(count(&prompt), 3, "{prompt}");
        assert!(prompt["tokens"].as_u64().unwrap() > 3 * 4000, "{prompt}");
        let shown: String = pieces(&prompt).into_iter().map(|(_, shown)| shown).collect();
        assert!(shown.contains("größer 1") && !shown.contains("not shown"), "{shown}");
    }
    let settings = |media: u8| json!({"prompt": {"media": media}});
    server.send("PATCH", &team, settings(101)).await.problem(422, "invalid");
    server.send("PATCH", &team, settings(2)).await.is(200);
    // The session says so for any model.
    let prompt = ask(&server, &team, json!({"agent": "lead", "budget": 60_000, "format": "openai"})).await;
    assert_eq!(count(&prompt), 2, "{prompt}");
    assert!(prompt["messages"].to_string().contains("[image_url not shown; "), "{prompt}");
}
