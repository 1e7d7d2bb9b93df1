use insta::assert_snapshot;
use serde_json::json;

use callboard_core::{
    count::Tokens,
    error::Error,
    prompt::{Layout, LayoutName, profile::Profile},
    session::SessionPatch,
    testing::Board,
};

use crate::{
    Provider, ResolvedSpec,
    testing::Shows as _,
    tests::{Body, Format, at_work, items},
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
    assert_eq!(prompt.layout.name(), "session");
    let Body::Text(text) = &prompt.body else { panic!() };
    assert!(text.starts_with("Be brief.\nNever swear.\n<SHARED_CONTEXT_SETS>\n"), "{text}");
    assert_eq!(board.count.count(text), prompt.tokens);
    // A layout that is named is that one whatever the session lists.
    let team = ResolvedSpec { layout: Layout::of(Some(LayoutName::Team), &[]), ..own(&board, Format::Text) };
    assert!(items(&board.prompt_for("lead", &team, 2).unwrap()).contains("TEAM_MEMBERS"));
}

#[test]
fn a_text_that_is_called_like_what_stands_beside_all_texts_has_its_own_size() {
    let text = |name: &str| json!({"name": name, "text": "Be brief."});
    let board = board_with(json!([text("tools"), text("format"), "history", "task"])).unwrap();
    for provider in [Provider::OpenAi, Provider::Unknown] {
        let spec = ResolvedSpec { provider, ..own(&board, Format::OpenAi) };
        let prompt = board.prompt_for("lead", &spec, 2).unwrap();
        for name in ["tools", "format"] {
            let reports: Vec<_> = prompt.parts.iter().filter(|part| part.name == name).collect();
            assert_eq!(reports.last().unwrap().tokens, board.count.count("Be brief.\n"), "{provider:?}: {reports:?}");
            let of_parts: Tokens = reports.iter().map(|part| part.tokens).sum();
            let pieces = prompt.pieces.iter().filter(|piece| *piece.part == *name);
            assert_eq!(pieces.map(|piece| piece.tokens).sum::<Tokens>(), of_parts, "{provider:?}");
        }
    }
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
    /prompt/layout_parts/0/name: a text cannot take the place of `task`: choose another name for it
    /prompt/layout_parts/0/text: the text is blank: leave the part out
    /prompt/layout_parts/0/name: a name has 1 to 100 bytes and no control characters
    "#);
}

#[test]
fn each_part_can_be_left_out_or_replaced() {
    let team = ["instructions", "team", "duties", "files", "context_sets", "history", "recall", "steps", "task"];
    let names = |board: &Board| {
        let prompt = board.prompt_for("lead", &own(board, Format::Text), 2).unwrap();
        let Body::Text(text) = &prompt.body else { panic!() };
        assert_eq!(board.count.count(text), prompt.tokens);
        prompt.parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>()
    };
    let all = names(&board_with(json!(team)).unwrap());
    assert_eq!(all, ["instructions", "team", "duties", "context_sets", "history", "task"]);
    for part in &team[..8] {
        let without: Vec<_> = team.iter().filter(|other| *other != part).collect();
        let expected: Vec<_> = all.iter().filter(|other| other != part).cloned().collect();
        assert_eq!(names(&board_with(json!(without)).unwrap()), expected, "{part}");
        if *part == "history" {
            continue;
        }
        let text = json!({"name": part, "text": "Be brief."});
        let replaced: Vec<_> =
            team.iter().map(|other| if other == part { text.clone() } else { json!(other) }).collect();
        let shown = names(&board_with(json!(replaced)).unwrap());
        assert!(shown.contains(&(*part).to_owned()) && shown.len() >= all.len(), "{part}: {shown:?}");
    }
}

#[test]
fn a_plain_prompt_says_what_the_session_asks_for_and_no_more() {
    let layout = Layout::Named(LayoutName::Plain);
    let plain = |board: &Board, agent: &str, thread: &str, format| {
        let (layout, agent) = (layout.clone(), agent.parse().unwrap());
        let spec = ResolvedSpec::new(agent, thread.parse().unwrap(), Tokens(4000), board.count);
        board.prompt_for(spec.agent.as_str(), &ResolvedSpec { layout, format, ..spec.clone() }, 2).unwrap()
    };
    let board = at_work();
    let prompt = plain(&board, "writer", "agent:writer", Format::OpenAi);
    let Body::Messages(messages) = &prompt.body else { panic!() };
    assert_snapshot!(serde_json::to_string_pretty(messages).unwrap());
    // Nothing stands before what was said, where the session asks for nothing.
    let board = Board::team("lead writer");
    let bare = plain(&board, "lead", "main", Format::OpenAi);
    let turn = serde_json::json!({"role": "user", "content": "[it is your turn]"});
    assert_eq!(bare.body, Body::Messages(vec![turn]));
}

#[test]
fn a_session_names_its_layout_or_lists_its_parts() {
    let patch = |profile: serde_json::Value| {
        let prompt = Some(serde_json::from_value(profile).unwrap());
        at_work().user(SessionPatch { prompt, ..SessionPatch::default() })
    };
    patch(json!({"layout": "plain"})).unwrap();
    let refused = patch(json!({"layout": "plain", "layout_parts": ["task"]})).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "/prompt/layout: the session lists parts of its own in `layout_parts`: name a layout or list parts, not both"
    );
}
