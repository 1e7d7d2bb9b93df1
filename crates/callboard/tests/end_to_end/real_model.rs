//! A whole team on a real small model, as `cargo xtask test` brings it.

use serde_json::{Value, json};

use crate::{home::Home, play::Played};

const TEAM: &str = r#"
title = "A colour"
input = "Find a warm colour."

[prompt]
budget = 3000
answer_tokens = 120

[limits]
turns = 6

[[agent]]
name = "lead"
role = "manager"
instructions = """
First you ask the painter:
{"messageTo": "painter", "message": "Name a warm colour.", "contextSetUpdate": {"contextSets": [{"name": "Theme", \
"context": "warm colours", "visibleToAgents": ["painter"]}]}}
When the painter has answered, the work is complete:
{"messageTo": "user", "message": "The colour is found.", "workflowComplete": true}
"""

[[agent]]
name = "painter"
role = "worker"
instructions = "You name one colour, in one word."
"#;

/// Where the small model is.
pub fn model_url() -> String {
    let url = std::env::var("CALLBOARD_TEST_MODEL_URL");
    url.expect("CALLBOARD_TEST_MODEL_URL is not set: run `cargo xtask test`, which brings a small model")
}

fn home(model: &'static str) -> Home {
    let home = Home::at(model_url(), model);
    home.write("team.toml", TEAM);
    home
}

#[test]
fn a_team_works_on_a_real_model() {
    works_on("openai:qwen2.5-coder-0.5b");
}

#[test]
fn a_team_works_on_a_real_model_over_anthropics_api() {
    works_on("anthropic:qwen2.5-coder-0.5b");
}

/// A program that asks as it would ask the model, but for the base URL.
#[test]
fn a_program_talks_with_a_real_model_at_a_base_url() {
    for (model, path) in [
        ("openai:qwen2.5-coder-0.5b", "openai/v1/chat/completions"),
        ("anthropic:qwen2.5-coder-0.5b", "anthropic/v1/messages"),
    ] {
        let home = home(model).over_http();
        let http = home.http();
        let mut messages = vec![json!({"role": "user", "content": "Name a warm colour, in one word."})];
        for question in ["And a cold one?", "Which of them is darker?"] {
            let body = json!({"model": "qwen2.5-coder-0.5b", "max_tokens": 16, "messages": messages});
            let answer = http.done("POST", &format!("/gateway/talk/helper/{path}"), &body);
            let said = answer.pointer("/choices/0/message/content").or(answer.pointer("/content/0/text"));
            let said = said.and_then(Value::as_str).unwrap_or_else(|| panic!("{answer}"));
            assert!(!said.trim().is_empty(), "{answer}");
            messages.push(json!({"role": "assistant", "content": said}));
            messages.push(json!({"role": "user", "content": question}));
        }
        let (_, threads) = http.get("/v1/sessions/talk/threads");
        let [thread] = threads["threads"].as_array().unwrap().as_slice() else { panic!("{threads}") };
        assert_eq!((&thread["name"], &thread["messages"]), (&json!("chat:helper"), &json!(4)));
        let (_, turns) = http.get("/v1/sessions/talk/turns");
        for turn in turns["turns"].as_array().unwrap() {
            assert!(turn["failed"] != true && turn["usage"]["completion_tokens"].as_u64() > Some(0), "{turn}");
        }
    }
}

/// What a program asks of the real model, which answers the same each time.
fn asked(messages: &[Value], more: &Value) -> Value {
    let mut body = json!({
        "model": "qwen2.5-coder-0.5b", "max_tokens": 48, "temperature": 0, "seed": 7, "messages": messages,
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A stream comes in pieces and is kept as one message, with which the conversation goes on.
#[test]
fn a_program_streams_from_a_real_model_at_a_base_url() {
    let home = home("openai:qwen2.5-coder-0.5b").over_http();
    let http = home.http();
    let mut messages = vec![json!({"role": "user", "content": "Count from one to five, in words."})];
    for count in [2, 4] {
        let body = asked(&messages, &json!({"stream": true}));
        let events = http.streamed("/gateway/flow/helper/openai/v1/chat/completions", &body);
        assert_eq!(events.last().map(String::as_str), Some("[DONE]"), "{events:?}");
        let chunks = events.iter().filter_map(|event| serde_json::from_str::<Value>(event).ok());
        let pieces = chunks.filter_map(|chunk| Some(chunk.pointer("/choices/0/delta/content")?.as_str()?.to_owned()));
        let pieces: Vec<String> = pieces.filter(|piece| !piece.is_empty()).collect();
        assert!(pieces.len() > 1, "{events:?}");
        let (_, all) = http.get("/v1/sessions/flow/threads/chat:helper/messages");
        let all = all["messages"].as_array().unwrap().clone();
        assert_eq!((all.len(), &all[count - 1]["content"]), (count, &json!(pieces.concat())));
        messages.push(json!({"role": "assistant", "content": pieces.concat()}));
        messages.push(json!({"role": "user", "content": "And from six to nine?"}));
    }
}

/// Tools that a program brings are taken. Whether the model calls one or says something, that is kept, and the conversation goes on
/// with it.
#[test]
fn a_program_brings_tools_to_a_real_model_at_a_base_url() {
    let home = home("openai:qwen2.5-coder-0.5b").over_http();
    let http = home.http();
    let parameters = json!({"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]});
    let function =
        json!({"name": "water_level", "description": "The height of the water in a port", "parameters": parameters});
    let tools = json!({"tools": [{"type": "function", "function": function}]});
    let mut messages = vec![json!({"role": "user", "content": "How high is the water in Dover?"})];
    for _ in 0..2 {
        let body = asked(&messages, &tools);
        let answer = http.done("POST", "/gateway/tools/helper/openai/v1/chat/completions", &body);
        let said = &answer["choices"][0]["message"];
        let calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
        let has_text = said["content"].as_str().is_some_and(|text| !text.trim().is_empty());
        assert!(has_text || !calls.is_empty(), "{answer}");
        messages.push(said.clone());
        let (_, list) = http.get("/v1/sessions/tools/threads/chat:helper/messages?shape=openai");
        let kept = list["messages"].as_array().unwrap();
        assert_eq!(kept.len(), messages.len(), "{list}");
        let last = kept.last().unwrap();
        assert_eq!(last["tool_calls"].as_array().map_or(0, Vec::len), calls.len(), "{list}");
        let result = |call: &Value| json!({"role": "tool", "tool_call_id": call["id"], "content": "87 centimetres"});
        messages.extend(calls.iter().map(result));
        messages.push(json!({"role": "user", "content": "Is that high?"}));
    }
    let (_, threads) = http.get("/v1/sessions/tools/threads");
    assert_eq!(threads["threads"].as_array().map(Vec::len), Some(1), "{threads}");
    let (_, turns) = http.get("/v1/sessions/tools/turns");
    assert!(turns["turns"].as_array().unwrap().iter().all(|turn| turn["answered"] == true), "{turns}");
}

/// A conversation that gets too large goes on: the model writes what takes the place of its older part, and what was said
/// newly names is still known.
#[test]
fn a_long_conversation_is_compressed_by_a_real_model() {
    let home = home("openai:qwen2.5-coder-0.5b").over_http();
    let http = home.http();
    let settings = json!({
        "id": "demo",
        "agents": [{"name": "lead", "role": "manager"}, {"name": "painter", "role": "worker"}],
        "prompt": {"budget": 4000, "answer_tokens": 120},
        // A busy machine may take minutes for what is asked of its model.
        "compression": {"compress_tokens": 3000, "target_tokens": 750, "timeout_seconds": 500},
        "limits": {"turns": 2},
    });
    http.done("POST", "/v1/sessions", &settings);
    let said = history();
    http.done("POST", "/v1/sessions/demo/threads/main/messages", &json!({ "messages": said }));
    let before = home.json("context --session demo");
    assert!(before["tokens"].as_u64() >= Some(3000), "{before}");

    let output = home.command(["run", "--session", "demo", "--json", "--yes", NEWEST]).output().unwrap();
    let played = Played::of(&output);
    assert!(ended_well(&played), "{}", played.result);
    let compressed = home.journal("demo").into_iter().filter(|entry| entry["type"] == "conversation.compressed");
    let compressed: Vec<Value> = compressed.map(|mut entry| entry["data"].take()).collect();
    let [done] = compressed.as_slice() else { panic!("compressed {} times", compressed.len()) };
    // A small model may write nothing that can be used. Then the summary is made of excerpts, and says why.
    assert!(done["spent"]["completion_tokens"].as_u64() > Some(0), "{done}");
    assert!(done["model"] == "openai:qwen2.5-coder-0.5b" || done["reason"].is_string(), "{done}");
    assert!(done["tokens_before"].as_u64() > Some(2500) && done["tokens_after"].as_u64() <= Some(750), "{done}");
    let prompt = home.json("prompt --session demo --agent lead");
    let text = prompt["text"].as_str().unwrap();
    // The newest message names the facts itself: what stands before it must hold them.
    let (before, _) = text.split_once(NEWEST).unwrap();
    for fact in FACTS {
        assert!(before.contains(fact), "{fact} is lost: {before}");
    }
    assert!(played.data("turn.requested").iter().all(|turn| turn["prompt"]["tokens"].as_u64() < Some(3000)));
    let (_, all) = http.get("/v1/sessions/demo/threads/main/messages?limit=1000");
    let texts: Vec<&Value> = all["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert!(said.iter().all(|message| texts.contains(&&message["content"])), "an original is lost");
}

/// What old messages hold and the newest names.
const FACTS: [&str; 4] = ["/srv/data/tides-2026.csv", "https://tides.example/api/v2?port=7", "#buoy-4711", "12.5 m"];

const NEWEST: &str = "Compare /srv/data/tides-2026.csv with https://tides.example/api/v2?port=7 for #buoy-4711, and mind the \
                      12.5 m. Then end the work.";

/// Talk of more than 3,000 tokens, with the facts in its older part.
fn history() -> Vec<Value> {
    let [file, address, buoy, depth] = FACTS;
    let facts = [
        format!("The measured tides are in {file}."),
        format!("The forecast comes from {address}, which answers with JSON."),
        format!("The buoy that failed is {buoy}."),
        format!("Below {depth} the sensor is not to be trusted."),
    ];
    let ports = ["Aberdeen", "Bergen", "Calais", "Dover", "Esbjerg", "Faro", "Galway", "Hull"];
    let talk = (0..42).map(|day| {
        let port = ports[day % ports.len()];
        format!(
            "Day {day}: in {port} high water came {} minutes late and stood {} centimetres over the forecast. The wind was \
             from the west, the pressure fell, and the harbour master asked for the reason. We looked at the gauge, found \
             nothing wrong, and agreed to look again tomorrow.",
            day * 7 % 50,
            day * 13 % 90
        )
    });
    facts.into_iter().chain(talk).map(|text| json!({"role": "user", "content": text})).collect()
}

/// What the team may look for: a small model wanders, and may end the work before it has asked anybody. Each
/// try asks for something else.
const COLOURS: [&str; 8] = ["warm", "cold", "dark", "bright", "pale", "deep", "soft", "rich"];

fn works_on(model: &'static str) {
    let home = home(model);
    let has_answered = COLOURS.iter().any(|colour| a_worker_answers(&home, colour));
    assert!(has_answered, "no worker answered in {} tries", COLOURS.len());
    home.assert_sound();
    let doctor = home.run("doctor");
    assert_eq!(doctor.status, 0, "{}", doctor.stdout);
}

/// Lets the team look for a colour in a session of its own, which holds whatever the model says. Whether the worker was
/// asked and answered.
fn a_worker_answers(home: &Home, colour: &str) -> bool {
    home.write("team.toml", TEAM.replace("warm", colour));
    let session = &format!("a-{colour}-colour");
    let played = Played::of(&home.command(["run", "team.toml", "--id", session, "--json", "--yes"]).output().unwrap());
    assert!(ended_well(&played), "{}", played.result);
    let journal = home.journal(session);
    assert_eq!(journal[journal.len() - played.entries.len()..], played.entries, "what is shown is what is stored");
    let requested = played.data("turn.requested");
    assert!(!requested.is_empty());
    for prompt in requested.iter().map(|requested| &requested["prompt"]) {
        assert!(prompt["tokens"].as_u64() <= prompt["budget"].as_u64(), "{prompt}");
    }
    assert!(played.data("turn.answered").iter().all(|turn| turn["usage"]["completion_tokens"].as_u64() <= Some(121)));
    let by_worker = |message: &&&Value| message["agent"] == "painter";
    let answers = played.data("message.added");
    let has_answered = answers.iter().filter(by_worker).any(|message| message["content"] != "");
    // Nobody asks the worker but a directive.
    assert!(!has_answered || !played.data("directive.received").is_empty(), "no directive was applied");
    has_answered
}

/// It completed, or it is held with a reason: a small model may wander.
fn ended_well(played: &Played) -> bool {
    played.run() == "completed" || (played.run() == "paused" && !played.reason().is_empty())
}
