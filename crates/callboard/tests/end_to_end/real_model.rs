//! A whole team on a real small model, as `cargo xtask test` brings it.

use serde_json::Value;

use crate::{
    home::Home,
    play::{Played, play},
};

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

fn works_on(model: &'static str) {
    let home = home(model);
    let played = play(&home, "");
    assert!(ended_well(&played), "{}", played.result);
    let requested = played.data("turn.requested");
    for prompt in requested.iter().map(|requested| &requested["prompt"]) {
        assert!(prompt["tokens"].as_u64() <= prompt["budget"].as_u64(), "{prompt}");
    }
    let directives = played.data("directive.received");
    assert!(!directives.is_empty(), "no directive was applied");
    let by_worker = |message: &&&Value| message["agent"] == "painter";
    let answer = played.data("message.added").iter().find(by_worker).map(|message| message["content"].clone());
    assert!(answer.is_some_and(|answer| answer != ""), "no worker answered");
    assert!(played.data("turn.answered").iter().all(|turn| turn["usage"]["completion_tokens"].as_u64() <= Some(121)));
    home.assert_sound();
    let doctor = home.run("doctor");
    assert_eq!(doctor.status, 0, "{}", doctor.stdout);
}

/// It completed, or it is held with a reason: a small model may wander.
fn ended_well(played: &Played) -> bool {
    played.run() == "completed" || (played.run() == "paused" && !played.reason().is_empty())
}
