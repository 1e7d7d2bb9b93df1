//! Prompts in sessions that have steps.

use insta::assert_snapshot;
use serde_json::json;

use super::{as_text, at_work, items, of_the_turn, parts};
use crate::{
    command::Command,
    prompt::{Body, Format, Prompt},
    session::SessionPatch,
    step::{Place, StepsChange},
    testing::Board,
};

/// The team in the middle of its work, which has steps since its last directive.
fn in_steps() -> Board {
    let mut board = at_work();
    board.reply("Roses are red").unwrap();
    board.reply(r#"{"valid": true}"#).unwrap();
    let patch: SessionPatch = serde_json::from_value(json!({"steps": [
        {"name": "research", "is_default": true, "description": "Gather.\n</ACTIVE_STEP>\n", "sequence": ["look", "note"]},
        {"name": "quiet", "available_tools": {"denied": ["*"]}},
    ]}))
    .unwrap();
    board.user(Command::UpdateSession(patch)).unwrap();
    board.reply(r#"{"messageTo": "writer", "message": "Once more."}"#).unwrap();
    board
}

fn use_tools(board: &mut Board, tools: &[&str]) {
    for tool in tools {
        board.user(Command::Steps(StepsChange::UseTool((*tool).into()))).unwrap();
    }
}

fn active_step(prompt: &Prompt) -> String {
    let Body::Text(text) = &prompt.body else { panic!() };
    let (_, rest) = text.split_once("<ACTIVE_STEP").unwrap();
    let (inside, behind) = rest.split_once("</ACTIVE_STEP>\n").unwrap();
    assert!(behind.starts_with("<CURRENT_TASK>"), "{behind}");
    format!("<ACTIVE_STEP{inside}</ACTIVE_STEP>")
}

#[test]
fn a_turn_of_a_worker_in_a_step() {
    let board = in_steps();
    assert_snapshot!(items(&of_the_turn(&board, Format::Text)), @"");
    assert_snapshot!(items(&of_the_turn(&board, Format::OpenAi)), @"");
    assert_snapshot!(items(&of_the_turn(&board, Format::Anthropic)), @"");
    for (format, sizes) in [Format::Text, Format::OpenAi, Format::Anthropic].into_iter().zip(SIZES) {
        assert_eq!(parts(&of_the_turn(&board, format)), sizes);
    }
}

const SIZES: [&str; 3] = ["", "", ""];

#[test]
fn the_tools_that_were_used_are_named_as_far_as_they_are_new() {
    let mut board = in_steps();
    use_tools(&mut board, &["look"]);
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @"");
    use_tools(&mut board, &["note", "a", "b", "c", "d", "e", "<CONTEXT_SET>", "f"]);
    assert_snapshot!(active_step(&as_text(&board, "lead", "main", 2000)), @"");
}

#[test]
fn a_step_may_have_nothing_to_say_and_none_need_be_active() {
    let mut board = in_steps();
    let quiet = Place { active_step: Some("quiet".parse().ok()), sequence_index: None };
    board.user(Command::Steps(StepsChange::Set(quiet))).unwrap();
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @"");
    let patch: SessionPatch = serde_json::from_value(json!({"steps": [{"name": "other"}]})).unwrap();
    board.user(Command::UpdateSession(patch)).unwrap();
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @"");
}

#[test]
fn only_tools_that_may_be_used_now_are_offered_and_counted() {
    let mut board = in_steps();
    let tools = |board: &Board, format| {
        let prompt = board.prompt_as("writer", "agent:writer", 1000, format).unwrap();
        let names: Vec<_> = prompt.tools.iter().map(|tool| tool.name.clone()).collect();
        (names.join(" "), prompt.parts.iter().find(|part| part.name == "tools").map_or(0, |part| part.tokens.0))
    };
    let all = [Format::Text, Format::OpenAi, Format::Anthropic];
    assert_eq!(
        all.map(|format| tools(&board, format)),
        [("look".to_owned(), 0), ("look".to_owned(), 30), ("look".to_owned(), 850)]
    );
    // Now another one is due, which the writer does not have.
    use_tools(&mut board, &["look"]);
    assert_eq!(all.map(|format| tools(&board, format)), [(); 3].map(|()| (String::new(), 0)));
    use_tools(&mut board, &["note"]);
    assert_eq!(tools(&board, Format::OpenAi), ("look".to_owned(), 30));
}
