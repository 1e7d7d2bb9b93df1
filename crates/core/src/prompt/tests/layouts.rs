use insta::assert_snapshot;
use serde_json::json;

use super::{Body, Format, at_work, items};
use crate::{
    count::Tokens,
    error::Error,
    prompt::{Layout, LayoutName, ResolvedSpec, profile::Profile},
    session::SessionPatch,
    testing::Board,
};

/// The board of the other tests, in a session that lists its own parts.
fn board_with(layout_parts: serde_json::Value) -> Result<Board, Error> {
    let profile: Profile = serde_json::from_value(json!({"layout_parts": layout_parts})).unwrap();
    let mut board = at_work();
    board.user(SessionPatch { prompt: Some(profile), ..SessionPatch::default() })?;
    Ok(board)
}

fn own(board: &Board, format: Format) -> ResolvedSpec {
    let layout = Layout::of(None, &board.state.session.settings.prompt.layout_parts);
    let (agent, thread) = ("lead".parse().unwrap(), "main".parse().unwrap());
    ResolvedSpec { layout, format, ..ResolvedSpec::new(agent, thread, Tokens(4000), board.count) }
}

#[test]
fn a_session_lists_its_own_parts_and_texts() {
    let rules = json!({"name": "house rules", "text": "  Be brief.\nNever swear. "});
    let board = board_with(json!([rules, "context_sets", "history", "task"])).unwrap();
    let prompt = board.prompt_for("lead", &own(&board, Format::Text), 2).unwrap();
    let names: Vec<_> = prompt.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["house rules", "context_sets", "history", "task"]);
    assert_eq!((prompt.layout.name(), prompt.layout.version()), ("session", 3));
    let Body::Text(text) = &prompt.body else { panic!() };
    assert!(text.starts_with("Be brief.\nNever swear.\n<SHARED_CONTEXT_SETS>\n"), "{text}");
    assert_eq!(board.count.count(text), prompt.tokens);
    // A layout that is named is that one whatever the session lists.
    let team = ResolvedSpec { layout: Layout::of(Some(LayoutName::Team), &[]), ..own(&board, Format::Text) };
    assert!(items(&board.prompt_for("lead", &team, 2).unwrap()).contains("TEAM_MEMBERS"));
}

#[test]
fn what_is_listed_behind_the_task_is_a_message_of_its_own() {
    let board = board_with(json!(["history", "task", {"name": "last word", "text": "Answer in verse."}])).unwrap();
    let prompt = board.prompt_for("lead", &own(&board, Format::OpenAi), 2).unwrap();
    let Body::Messages(messages) = &prompt.body else { panic!() };
    assert_eq!(messages.last(), Some(&json!({"role": "user", "content": "Answer in verse."})));
}

#[test]
fn a_list_of_parts_that_makes_no_prompt_is_refused() {
    let text = |name: &str, text: &str| json!({"name": name, "text": text});
    let cases = [
        json!(["history"]),
        json!(["task", "history"]),
        json!(["task", "task"]),
        json!([text("task", "x"), "task"]),
        json!([text("a", " "), "task"]),
        json!([text("a\nb", "x"), "task"]),
    ];
    let refusals = cases.map(|parts| board_with(parts).err().unwrap().to_string());
    assert_snapshot!(refusals.join("\n"), @r#"
    /prompt/layout_parts: a layout has the part `task` or `conversation_history`: without one a model is not told what to do
    /prompt/layout_parts/1: `history` is what was said before the task: list it before `task`
    /prompt/layout_parts/1: the part "task" is listed twice
    /prompt/layout_parts/0/name: "task" is the name of a part that every session has: choose another
    /prompt/layout_parts/0/text: the text is blank: leave the part out
    /prompt/layout_parts/0/name: a name has 1 to 100 bytes and no control characters
    "#);
}
