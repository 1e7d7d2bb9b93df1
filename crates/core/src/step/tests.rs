//! Every rule about steps, case by case: a board with steps, tools that are used, and where that leads.

#![allow(clippy::unwrap_used, reason = "in tests a surprise is a failure")]

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Place, StepsChange, offer::offer};
use crate::{
    count::Usage,
    session::{SessionPatch, Settings},
    state::State,
    testing::Board,
};

fn board(steps: Value) -> Board {
    let settings = Settings { steps: serde_json::from_value(steps).unwrap(), ..Settings::default() };
    let agents =
        serde_json::from_value(json!([{"name": "lead", "role": "manager"}, {"name": "ann", "role": "worker"}]));
    Board::with(agents.unwrap(), settings)
}

/// Does what `words` say, one after the other, and shows where each leads: `!` advances, `=NAME` enters a step, `0`
/// resets, anything else is a tool that is used.
fn go(steps: Value, words: &str) -> String {
    let mut board = board(steps);
    let mut shown = place(&board.state);
    for word in words.split_whitespace() {
        let change = match word {
            "!" => StepsChange::Advance,
            "0" => StepsChange::Reset,
            word => match word.strip_prefix('=') {
                Some("") => StepsChange::Set(Place { active_step: Some(None), ..Place::default() }),
                Some(name) => StepsChange::Set(Place { active_step: Some(name.parse().ok()), ..Place::default() }),
                None => StepsChange::UseTool(word.into()),
            },
        };
        let before = board.state.head;
        match board.user(change) {
            Ok(_) => shown += &format!("  {word} {}", place(&board.state)),
            Err(error) => {
                assert_eq!(board.state.head, before, "a refusal changes nothing");
                shown += &format!("  {word} ({})", error.code());
            }
        }
    }
    shown
}

fn place(state: &State) -> String {
    let active = state.steps.active(&state.session.settings.steps).map_or("-", |step| step.name.as_str());
    format!("{active}/{}", state.steps.index)
}

fn used(tool: &str) -> Value {
    json!({"type": "tool_used", "value": tool})
}

#[test]
fn a_step_is_entered_once_its_conditions_hold() {
    let steps = json!([
        {"name": "both", "conditions": [used("a"), used("b")]},
        {"name": "either", "conditions": [{"any": [used("c"), used("d")]}]},
        {"name": "start", "is_default": true},
    ]);
    assert_snapshot!(go(steps, "x a b c 0 d b a"), @"start/0  x start/0  a start/0  b both/0  c both/0  0 start/0  d either/0  b either/0  a both/0");
}

#[test]
fn without_a_default_no_step_is_active_at_first() {
    let steps = json!([{"name": "later", "conditions": [used("a")]}]);
    assert_snapshot!(go(steps, "x a x"), @"-/0  x -/0  a later/0  x later/0");
}

#[test]
fn a_step_without_conditions_is_entered_by_hand_or_as_the_default_only() {
    let steps = json!([{"name": "by-hand"}, {"name": "start", "is_default": true}]);
    assert_snapshot!(go(steps, "a =by-hand b = =nowhere"), @"start/0  a start/0  =by-hand by-hand/0  b by-hand/0  = start/0  =nowhere (no_step)");
}

#[test]
fn a_sequence_is_gone_through_in_order_and_then_narrows_no_more() {
    let steps = json!([{"name": "start", "is_default": true, "sequence": ["a", "b", "a"]}]);
    assert_snapshot!(go(steps, "b a a b ! ! b"), @"start/0  b (tool_out_of_turn)  a start/1  a (tool_out_of_turn)  b start/2  ! start/3  ! start/3  b start/3");
}

#[test]
fn a_finished_step_is_not_entered_again_by_the_same_log() {
    let steps = json!([
        {"name": "research", "conditions": [used("search")], "sequence": ["read", "note"]},
        {"name": "write", "conditions": [used("note")]},
        {"name": "start", "is_default": true},
    ]);
    let shown = go(steps, "search search read note draft draft search read");
    assert_snapshot!(shown, @"start/0  search research/0  search (tool_out_of_turn)  read research/1  note write/0  draft write/0  draft write/0  search research/0  read research/1");
}

#[test]
fn a_finished_step_stays_where_no_other_is_due() {
    let steps = json!([
        {"name": "research", "conditions": [used("search")], "sequence": ["read"]},
        {"name": "start", "is_default": true},
    ]);
    assert_snapshot!(go(steps, "search read x x search x"), @"start/0  search research/0  read research/1  x research/1  x research/1  search research/1  x research/1");
}

#[test]
fn a_sequence_matches_the_newest_tools_in_their_order() {
    let steps = json!([
        {"name": "done", "conditions": [{"type": "sequence_match"}], "sequence": ["A", "B", "A"]},
        {"name": "start", "is_default": true},
    ]);
    assert_snapshot!(go(steps.clone(), "A B A"), @"start/0  A start/0  B start/0  A done/0");
    assert_snapshot!(go(steps, "A A B B A B x A B A"), @"start/0  A start/0  A start/0  B start/0  B start/0  A start/0  B start/0  x start/0  A start/0  B start/0  A done/0");
}

#[test]
fn conditions_nest() {
    let steps = json!([
        {"name": "n", "conditions": [{"all": [{"not": used("stop")}, {"any": [used("go"), used("run")]}]}]},
        {"name": "start", "is_default": true},
    ]);
    assert_snapshot!(go(steps, "x run stop x"), @"start/0  x start/0  run n/0  stop n/0  x n/0");
}

#[test]
fn entering_a_step_starts_its_sequence() {
    let steps = json!([
        {"name": "one", "sequence": ["a", "b"]},
        {"name": "start", "is_default": true},
    ]);
    assert_snapshot!(go(steps, "=one a =one a b =one"), @"start/0  =one one/0  a one/1  =one one/0  a one/1  b one/2  =one one/0");
}

#[test]
fn the_log_keeps_repeats_and_the_newest_256() {
    let mut board = board(json!([{"name": "s", "is_default": true}]));
    for n in 0..300 {
        board.user(StepsChange::UseTool(format!("t{}", n / 2).into())).unwrap();
    }
    let log: Vec<_> = board.state.steps.log.iter().map(|tool| tool.to_string()).collect();
    assert_eq!((log.len(), &*log[0], &*log[1], &*log[255]), (256, "t22", "t22", "t149"));
    assert!(board.state.steps.was_used("t0", 0), "a tool is used ever since the last reset");
}

fn offered(steps: Value, words: &str, tools: &[&str]) -> String {
    let mut board = board(steps);
    for word in words.split_whitespace() {
        board.user(StepsChange::UseTool(word.into())).unwrap();
    }
    match offer(&board.state, tools.iter().copied()) {
        Ok(offer) => serde_json::to_string(&offer).unwrap(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

#[test]
fn what_is_allowed_and_denied_narrows_the_offer_and_a_sequence_narrows_it_further() {
    let tools = ["web_search", "web_post", "draft", "note"];
    let step = |rest: Value| {
        let mut step = json!({"name": "s", "is_default": true});
        step.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!([step])
    };
    assert_snapshot!(offered(step(json!({})), "", &tools), @r#"{"allowed":["web_search","web_post","draft","note"],"denied":[]}"#);
    let narrow = step(json!({"available_tools": {"allowed": ["web_*", "*ft"], "denied": ["*post"]}}));
    assert_snapshot!(offered(narrow, "", &tools), @r#"{"allowed":["web_search","draft"],"denied":[{"tool":"web_post","reason":"the step s denies *post"},{"tool":"note","reason":"the step s does not allow it"}]}"#);
    let sequence = step(json!({"sequence": ["note", "draft"]}));
    assert_snapshot!(offered(sequence.clone(), "note", &tools[2..]), @r#"{"allowed":["draft"],"denied":[{"tool":"note","reason":"the tool draft is due in the step s"}]}"#);
    assert_snapshot!(offered(sequence.clone(), "note draft", &tools[2..]), @r#"{"allowed":["draft","note"],"denied":[]}"#);
    assert_snapshot!(offered(sequence, "", &tools[..2]), @"due_tool_missing: the tool note is due and not among those that may be used: offer and allow it, advance the sequence, or enter another step");
    let dead = step(json!({"sequence": ["note"], "available_tools": {"denied": ["note"]}}));
    assert_snapshot!(offered(dead, "", &["note"]), @"due_tool_missing: the tool note is due and not among those that may be used: offer and allow it, advance the sequence, or enter another step");
    assert_snapshot!(offered(step(json!({"available_tools": {"allowed": []}})), "", &["note"]), @r#"{"allowed":[],"denied":[{"tool":"note","reason":"the step s does not allow it"}]}"#);
}

#[test]
fn wrong_steps_are_refused_with_every_fault() {
    let refused = |steps: Value| {
        let steps = match serde_json::from_value(steps) {
            Ok(steps) => steps,
            Err(error) => return error.to_string(),
        };
        let patch = SessionPatch { steps: Some(steps), ..SessionPatch::default() };
        board(json!([])).user(patch).unwrap_err().to_string()
    };
    assert_snapshot!(refused(json!([{"name": "a", "is_default": true}, {"name": "a", "is_default": true}])), @"/steps/1/name: the name a is taken by another step; /steps/1/is_default: at most one step is the default, and a is it");
    assert_snapshot!(refused(json!([{"name": "a", "conditions": [{"type": "moon"}]}])), @r#""moon" is no type of condition: use tool_used or sequence_match"#);
    assert_snapshot!(refused(json!([{"name": "a", "conditions": [{"type": "tool_used"}]}])), @"tool_used needs a value: the name of the tool");
    assert_snapshot!(refused(json!([{"name": "a", "conditions": [{"type": "sequence_match"}]}])), @"/steps/0/conditions/0: sequence_match needs a sequence: give the step one, or use tool_used");
    assert_snapshot!(refused(json!([{"name": "a", "conditions": [{"all": []}, {"not": {"type": "tool_used", "value": " "}}]}])), @r#"/steps/0/conditions/0: all and any need at least one condition in them; /steps/0/conditions/1: " " is no name of a tool: use 1 to 128 characters in one line"#);
    assert_snapshot!(refused(json!([{"name": "a", "sequence": vec!["x"; 257]}])), @"/steps/0/sequence: it has 257 tools, and 256 is the most");
    assert_snapshot!(refused(json!([{"name": ""}])), @r#"step name "" is not valid: use 1 to 200 characters"#);
    let deep = (0..40).fold(used("x"), |inner, _| json!({"not": inner}));
    assert_snapshot!(refused(json!([{"name": "a", "conditions": [deep]}])), @"nest conditions at most 16 levels");
}

#[test]
fn without_steps_there_is_no_state() {
    let mut board = board(json!([]));
    let error = board.user(StepsChange::UseTool("x".into())).unwrap_err();
    assert_eq!(error.code(), "no_orchestration");
    assert_eq!(offer(&board.state, ["x"]).unwrap().allowed, ["x"]);
}

#[test]
fn workers_change_nothing_and_see_no_usage() {
    let mut board = board(json!([{"name": "s", "is_default": true}]));
    let change = |change| change;
    assert_eq!(board.by("ann", change(StepsChange::Reset)).unwrap_err().code(), "forbidden");
    board.by("lead", change(StepsChange::UseTool("x".into()))).unwrap();
    board.user(change(StepsChange::Report(Usage { prompt_tokens: 5, completion_tokens: u64::MAX }))).unwrap();
    board.user(change(StepsChange::Report(Usage { prompt_tokens: 6, completion_tokens: 1 }))).unwrap();
    assert_eq!(board.state.steps.usage, Usage { prompt_tokens: 11, completion_tokens: u64::MAX });
    let seen: Vec<_> = board.seen("ann").into_iter().map(|entry| entry.kind.to_string()).collect();
    assert!(seen.contains(&"tool.used".to_owned()) && !seen.contains(&"usage.reported".to_owned()), "{seen:?}");
    board.user(change(StepsChange::Reset)).unwrap();
    assert_eq!(*board.state.steps, super::Progress::default());
}

#[test]
fn where_the_steps_change_what_is_gone_is_not_active() {
    let mut board = board(json!([{"name": "a", "is_default": true, "sequence": ["x", "y"]}, {"name": "b"}]));
    let mut turn_into = |steps: Value| {
        let patch = SessionPatch { steps: Some(serde_json::from_value(steps).unwrap()), ..SessionPatch::default() };
        board.user(patch).unwrap();
        place(&board.state)
    };
    assert_eq!(turn_into(json!([{"name": "a", "is_default": true}])), "a/0");
    assert_eq!(turn_into(json!([{"name": "c"}])), "-/0");
    assert_eq!(turn_into(json!([])), "-/0");
}
