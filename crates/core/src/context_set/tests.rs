use insta::assert_snapshot;
use serde_json::{Value, json};

use super::PutSet;
use crate::{
    audience::Audience,
    context_set::{DeleteSet, SetOutcome, SetView},
    directive::Direct,
    error::Error,
    rights::Grant,
    session::SessionPatch,
    testing::Board,
};

/// Gives the updates of one directive, written as `NAME = CONTENT; NAME for AGENT,AGENT = CONTENT`, where `+NAME` must be
/// new and `~NAME` is said to be an update; tells how each came out.
fn updates(board: &mut Board, updates: &str) -> String {
    let sets: Vec<_> = updates.split(';').map(update).collect();
    let directed = board.by("lead", Direct(json!({"contextSetUpdate": {"contextSets": sets}})));
    told(directed.map(|directed| directed.outcomes))
}

fn update(line: &str) -> Value {
    let (name, content) = line.split_once('=').unwrap();
    let (name, visible_to) = name.split_once(" for ").unwrap_or((name, ""));
    let mark = name.trim().chars().next();
    let names: Vec<_> = visible_to.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let new_or_update = match mark {
        Some('+') => json!("new"),
        Some('~') => json!("update"),
        _ => Value::Null,
    };
    let visible_to = match names.as_slice() {
        [] => Value::Null,
        [word] => json!(word),
        names => json!(names),
    };
    json!({
        "name": name.trim().trim_start_matches(['+', '~']),
        "context": content.strip_prefix(' ').unwrap_or(content).trim_end_matches(' '),
        "newOrUpdate": new_or_update,
        "visibleToAgents": visible_to,
    })
}

fn told(answer: Result<Vec<SetOutcome>, Error>) -> String {
    let outcome = |set: SetOutcome| {
        let outcome = json!(set.outcome).as_str().unwrap().to_owned();
        let reason = set.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        outcome + &reason
    };
    match answer {
        Ok(outcomes) => outcomes.into_iter().map(outcome).collect::<Vec<_>>().join(", "),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

/// How the update of one set came out.
fn put_told(answer: Result<SetOutcome, Error>) -> String {
    told(answer.map(|outcome| vec![outcome]))
}

/// What a viewer sees of the sets: `NAME = CONTENT`, or `NAME?` for one of which it sees the outline only.
fn seen(board: &Board, viewer: &str) -> String {
    let view = board.view(viewer).unwrap();
    let one = |set: SetView<'_>| match set {
        SetView::Whole(held) => format!("{} = {}", held.set.name, held.set.content.whole(&board.values).unwrap()),
        SetView::Outline(held) => format!("{}?", held.set.name),
    };
    view.sets().map(one).collect::<Vec<_>>().join("; ")
}

fn put(name: &str, content: &str, visible_to: Option<&str>, enabled: Option<bool>) -> PutSet {
    let visible_to = visible_to.map(|names| serde_json::from_value::<Audience>(json!(names)).unwrap());
    PutSet { name: name.parse().unwrap(), content: content.into(), visible_to, enabled }
}

#[test]
fn an_update_creates_changes_or_leaves_a_set() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(updates(&mut board, "A = 1; A = 2; A = 2; ~A = 3; ~B = 1; +C = 1"), @"created, updated, unchanged, updated, created, created");
    assert_snapshot!(seen(&board, "writer"), @"A = 3; B = 1; C = 1");
}

#[test]
fn an_empty_context_deletes_what_is_there_and_creates_what_is_not() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(updates(&mut board, "A = 1; A =; A =; B = \n\t; B = \n; ~C =; +D ="), @"created, deleted, created_empty, created_empty, deleted, created_empty, created_empty");
    assert_snapshot!(seen(&board, "writer"), @"A = ; C = ; D =");
}

#[test]
fn a_name_that_must_be_new_never_makes_a_second_set() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(updates(&mut board, "A = 1; +A = 2; +A =; A = 1; a = 1;  A  = 1; +Cafe\u{301} = x; +Café = y"), @"created, conflict (there is a set of this name: update it), conflict (there is a set of this name: update it), unchanged, created, unchanged, created, conflict (there is a set of this name: update it)");
}

#[test]
fn a_name_that_is_no_name_is_rejected_and_stops_no_other() {
    let mut board = Board::team("lead writer");
    let long = "x".repeat(201);
    assert_snapshot!(updates(&mut board, &format!("  = 1; A\u{1}B = 1; C\nD = 1; E\u{2028}F = 1; {long} = 1; G = 1")), @r#"rejected (context set name "" is not valid: use 1 to 200 characters), rejected (context set name "A\u{1}B" is not valid: control characters and line ends are not allowed), rejected (context set name "C\nD" is not valid: control characters and line ends are not allowed), rejected (context set name "E\u{2028}F" is not valid: control characters and line ends are not allowed), rejected (context set name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not valid: use 1 to 200 characters), created"#);
    assert_snapshot!(seen(&board, "writer"), @"G = 1");
}

#[test]
fn a_name_of_a_megabyte_is_rejected_in_a_few_words() {
    let mut board = Board::team("lead writer");
    let before = board.entries.len();
    let outcomes = updates(&mut board, &format!("{} = 1", "x".repeat(1 << 20)));
    assert!(outcomes.len() < 300, "{}", outcomes.len());
    let written: usize = board.entries.iter().skip(before).map(|entry| entry.data.len()).sum();
    assert!(written < 1000, "{written}");
}

#[test]
fn unknown_agents_are_rejected_by_name() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(updates(&mut board, "A for ghost = 1; B for writer,ghost,spook = 1; C for writer = 1"), @"rejected (/visibleToAgents: there is no agent ghost; the team is: lead, writer), rejected (/visibleToAgents: there is no agent ghost, spook; the team is: lead, writer), created");
    assert_snapshot!(put_told(board.user(put("D", "1", Some("ghost"), None))), @"no_agent: /visible_to: there is no agent ghost; the team is: lead, writer");
    assert_snapshot!(seen(&board, "user"), @"C = 1");
}

#[test]
fn visibility_that_is_left_out_stays_or_is_the_default() {
    let mut board = Board::team("lead writer critic");
    updates(&mut board, "A = 1; B for writer = 1; C for none = 1; D for all = 1; B = 2; C = 2");
    assert_snapshot!(seen(&board, "writer"), @"A = 1; B = 2; D = 1");
    assert_snapshot!(seen(&board, "critic"), @"A = 1; D = 1");
    let to_none = SessionPatch { default_visibility: Some(Audience::None), ..SessionPatch::default() };
    board.user(to_none).unwrap();
    updates(&mut board, "A = 3; E = 1; F for all = 1");
    assert_snapshot!(seen(&board, "critic"), @"A = 3; D = 1; F = 1");
}

#[test]
fn the_manager_sees_the_outline_of_what_is_hidden_from_it_and_the_user_sees_all() {
    let mut board = Board::team("lead writer critic");
    updates(&mut board, "A for writer = secret words; B = 1");
    assert_snapshot!(seen(&board, "lead"), @"A?; B = 1");
    assert_snapshot!(seen(&board, "user"), @"A = secret words; B = 1");
    assert_snapshot!(board.seen("lead").last().unwrap().data, @r#"{"outcomes":[{"name":"A","outcome":"created"},{"name":"B","outcome":"created"}]}"#);
    let outline = board.seen("lead").into_iter().find(|entry| &*entry.subject == "set:A").unwrap();
    assert_snapshot!(outline.data, @r#"{"name":"A","visible_to":["writer"],"enabled":true,"tokens":2}"#);
}

#[test]
fn an_agent_that_joins_later_sees_what_is_for_all_and_nothing_that_named_others() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "A for all = 1; B for writer = 1; C for lead,writer = 1; D for none = 1");
    board.team_becomes("lead writer critic");
    assert_snapshot!(seen(&board, "critic"), @"A = 1");
    assert_eq!(board.seen("critic").iter().filter(|entry| entry.subject.starts_with("set:")).count(), 1);
}

#[test]
fn an_agent_that_is_removed_and_added_again_is_the_same_agent() {
    let mut board = Board::team("lead writer critic");
    updates(&mut board, "A for writer = 1");
    board.team_becomes("lead critic");
    assert!(board.view("writer").is_err());
    assert_snapshot!(updates(&mut board, "A = 2; B for writer = 1"), @"updated, rejected (/visibleToAgents: there is no agent writer; the team is: lead, critic)");
    board.team_becomes("lead critic writer");
    assert_snapshot!(seen(&board, "writer"), @"A = 2");
}

#[test]
fn who_loses_sight_of_a_set_gets_a_deletion_and_who_gains_it_gets_the_whole() {
    let mut board = Board::team("lead writer critic");
    updates(&mut board, "A for writer = old");
    updates(&mut board, "A for critic = new");
    let entries = |board: &Board, viewer: &str| {
        let seen = board.seen(viewer).into_iter().filter(|entry| entry.subject.starts_with("set:"));
        seen.map(|entry| format!("{} {}", entry.kind, entry.data)).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(entries(&board, "writer"), @r#"context_set.deleted {"name":"A"}"#);
    assert_snapshot!(entries(&board, "critic"), @r#"context_set.updated {"name":"A","content":"new","visible_to":["critic"],"enabled":true,"tokens":1}"#);
    updates(&mut board, "A =");
    assert_snapshot!(entries(&board, "writer"), @r#"context_set.deleted {"name":"A"}"#);
    assert_snapshot!(entries(&board, "critic"), @r#"context_set.deleted {"name":"A"}"#);
}

#[test]
fn one_who_was_the_manager_is_told_of_no_deletion_but_of_sets_that_it_saw() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "Hidden for none = 1; Shown = 1; Hidden =; Shown =");
    let deleted = |board: &Board| {
        let seen = board.seen("lead").into_iter().filter(|entry| &*entry.kind == "context_set.deleted");
        seen.map(|entry| entry.subject.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(deleted(&board), @"set:Hidden set:Shown");
    board.team_becomes("boss lead writer");
    assert_snapshot!(deleted(&board), @"set:Shown");
}

#[test]
fn process_steps_are_the_managers_alone() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(
        updates(&mut board, "Process Steps = 1. [Pending]; Process Steps for all = x; Process Steps for writer = x; \
                             Process Steps for lead = y; Process Steps for none = y"),
        @"created, rejected (/visible_to: Process Steps is for the manager alone: leave visible_to out), rejected (/visible_to: Process Steps is for the manager alone: leave visible_to out), updated, updated"
    );
    assert_snapshot!(put_told(board.user(put("Process Steps", "x", Some("writer"), None))), @"contradiction: /visible_to: Process Steps is for the manager alone: leave visible_to out");
    assert_snapshot!(seen(&board, "writer"), @"");
}

#[test]
fn process_steps_are_one_set_however_they_are_spelled() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "Process Steps = 1. [Pending]; process_steps = 2. [Pending]; PROCESS-STEPS = 3. [Pending]");
    assert_snapshot!(seen(&board, "lead"), @"Process Steps = 3. [Pending]");
    assert_snapshot!(put_told(board.user(put("processsteps", "x", Some("writer"), None))), @"contradiction: /visible_to: Process Steps is for the manager alone: leave visible_to out");
    assert_snapshot!(seen(&board, "writer"), @"");
    assert!(board.view("lead").unwrap().set(&"process_steps".parse().unwrap()).is_ok());
    let told = updates(&mut board, "+process_steps = 4. [Pending]; process_steps =");
    assert!(told.starts_with("conflict") && told.ends_with("deleted"), "{told}");
    assert_snapshot!(seen(&board, "lead"), @"");
}

#[test]
fn process_steps_pass_to_a_new_manager() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "Process Steps = 1. [Pending]");
    board.team_becomes("boss lead writer");
    assert_snapshot!(seen(&board, "lead"), @"");
    assert_snapshot!(seen(&board, "boss"), @"Process Steps = 1. [Pending]");
    assert_snapshot!(put_told(board.by("boss", put("Process Steps", "2. [Pending]", None, None))), @"updated");
    assert_snapshot!(seen(&board, "boss"), @"Process Steps = 2. [Pending]");
}

#[test]
fn a_worker_writes_no_set_whatever_its_name() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "Hidden for lead = 1; Shown = 1");
    let refused = ["Hidden", "Shown", "Absent"].map(|name| put_told(board.by("writer", put(name, "x", None, None))));
    assert_snapshot!(refused.join("\n"), @"
    forbidden: writer may not write context sets: ask the manager or the user
    forbidden: writer may not write context sets: ask the manager or the user
    forbidden: writer may not write context sets: ask the manager or the user
    ");
    assert_snapshot!(told(board.by("writer", DeleteSet("Hidden".parse().unwrap())).map(|()| Vec::new())), @"forbidden: writer may not write context sets: ask the manager or the user");
    assert_snapshot!(told(board.by("writer", Direct(json!({}))).map(|directed| directed.outcomes)), @"forbidden: writer may not give directives: ask the manager or the user");
}

#[test]
fn a_worker_to_whom_it_is_granted_writes_the_sets_that_it_sees() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "Hidden for lead = 1; Shown = 1");
    let grant = SessionPatch { grant: Some(vec![Grant::ContextSets]), ..SessionPatch::default() };
    board.user(grant).unwrap();
    let answers = ["Hidden", "Absent", "Shown"].map(|name| put_told(board.by("writer", put(name, "x", None, None))));
    assert_snapshot!(answers.join("\n"), @r#"
    not_found: there is no context set "Hidden"
    not_found: there is no context set "Absent"
    updated
    "#);
    assert_snapshot!(put_told(board.by("writer", put("Shown", "x", Some("writer"), None))), @"forbidden: writer may not change who sees a context set: ask the manager or the user");
    assert_snapshot!(put_told(board.by("writer", put("Shown", "x", None, Some(false)))), @"forbidden: writer may not switch a context set on or off: ask the user");
    assert_snapshot!(told(board.by("writer", DeleteSet("Hidden".parse().unwrap())).map(|()| Vec::new())), @r#"not_found: there is no context set "Hidden""#);
    assert_snapshot!(told(board.by("writer", DeleteSet("Shown".parse().unwrap())).map(|()| Vec::new())), @"");
}

#[test]
fn a_set_that_the_user_switched_off_stays_off() {
    let mut board = Board::team("lead writer");
    updates(&mut board, "A = 1");
    board.user(put("A", "1", None, Some(false))).unwrap();
    assert_snapshot!(updates(&mut board, "A = 2"), @"updated");
    assert_snapshot!(put_told(board.by("lead", put("A", "3", None, Some(true)))), @"forbidden: lead may not switch a context set on or off: ask the user");
    let enabled = |board: &Board| board.state.sets.get(&"A".parse().unwrap()).unwrap().set.enabled;
    assert!(!enabled(&board));
    board.user(put("A", "3", None, Some(true))).unwrap();
    assert!(enabled(&board));
}

#[test]
fn a_put_stores_an_empty_content() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(put_told(board.user(put("A", "", None, None))), @"created");
    assert_snapshot!(put_told(board.user(put("A", "", None, None))), @"unchanged");
    assert_snapshot!(put_told(board.user(put("A", "x", None, None))), @"updated");
    assert_snapshot!(told(board.user(DeleteSet("B".parse().unwrap())).map(|()| Vec::new())), @r#"not_found: there is no context set "B""#);
}

#[test]
fn long_contents_stand_beside_the_journal_and_those_that_are_too_long_are_refused() {
    let mut board = Board::team("lead writer");
    let long = "word ".repeat(20_000);
    assert_snapshot!(put_told(board.user(put("A", &long, None, None))), @"created");
    assert!(board.entries.last().unwrap().data.len() < 1000);
    assert_eq!(seen(&board, "writer"), format!("A = {long}"));
    assert_snapshot!(put_told(board.user(put("A", &"x".repeat((16 << 20) + 1), None, None))), @"too_large: the content has 16777217 bytes, and 16777216 is the most: split it");
}
