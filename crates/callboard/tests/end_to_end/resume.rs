//! A run that is killed at any point goes on where it was: no turn that was answered is asked twice.

use callboard_model::scripted::Reply;
use serde_json::{Value, json};

use crate::{
    home::Home,
    play::{Played, answered, ask, complete, go_on, model, play, stage, storyteller},
    server::{PATIENCE, lines},
};

fn story() -> Vec<Reply> {
    vec![
        Reply::json(&json!({
            "messageTo": "writer", "message": "Write.", "expectedOutput": "a poem",
            "contextSetUpdate": {"contextSets": [{"name": "Theme", "context": "spring", "visibleToAgents": ["writer"]}]},
        })),
        Reply::text("Roses are red."),
        Reply::json(&json!({"valid": true, "reason": "it rhymes"})),
        Reply::json(&complete()),
    ]
}

/// Starts the run, kills it with `kill -9` as soon as it has printed `count` entries, and says how many turns were
/// answered by then.
fn kill_after_entries(home: &Home, count: usize) -> usize {
    let mut child = home.start("run team.toml --id demo --json");
    let mut lines = lines(&mut child);
    for _ in 0..count {
        lines.next().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    answered(&home.journal("demo"))
}

fn distinct(requests: &[Value]) -> usize {
    let mut seen: Vec<&Value> = Vec::new();
    for request in requests {
        if !seen.contains(&request) {
            seen.push(request);
        }
    }
    seen.len()
}

#[test]
fn a_run_that_is_killed_at_any_entry_goes_on_with_the_same_turn() {
    let endpoint = model(story());
    let undisturbed = play(&stage(&endpoint), "");
    assert_eq!(undisturbed.run(), "completed");
    for count in 1..undisturbed.entries.len() {
        let endpoint = storyteller(story(), |_| None);
        let home = stage(&endpoint);
        let before = kill_after_entries(&home, count);
        let asked_before = endpoint.requests().len();
        if before < 4 {
            let after = go_on(&home);
            assert_eq!(after.run(), "completed", "killed after entry {count}: {}", after.result);
        }
        let (journal, requests) = (home.journal("demo"), endpoint.requests());
        assert_eq!(answered(&journal), 4, "killed after entry {count}");
        // What was answered before is not asked again; what was asked again is the same to the byte.
        assert_eq!(requests.len() - asked_before, 4 - before, "killed after entry {count}");
        assert_eq!(distinct(&requests), 4, "killed after entry {count}");
        assert_eq!(said(&journal), said(&undisturbed.entries), "killed after entry {count}");
        home.assert_sound();
    }
}

/// What was said, without when.
fn said(journal: &[Value]) -> Vec<(Value, Value)> {
    let messages = journal.iter().filter(|entry| entry["type"] == "message.added");
    messages.map(|entry| (entry["data"]["thread_id"].clone(), entry["data"]["content"].clone())).collect()
}

#[test]
fn a_run_that_is_killed_while_its_model_thinks_asks_again_the_same() {
    for turn in 0..4 {
        for silent in [true, false] {
            let pause = move || if silent { Reply::silence() } else { Reply::stall("{\"messageTo\": \"wri") };
            let endpoint = storyteller(story(), move |nth| (nth == turn).then(pause));
            let home = stage(&endpoint);
            let mut child = home.start("run team.toml --id demo");
            assert!(endpoint.wait_for(turn + 1, PATIENCE), "turn {turn} was never asked");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(answered(&home.journal("demo")), turn);
            let after = go_on(&home);
            assert_eq!(after.run(), "completed", "{}", after.result);
            let requests = endpoint.requests();
            assert_eq!((requests.len(), distinct(&requests)), (5, 4));
            assert_eq!(requests[turn], requests[turn + 1]);
            home.assert_sound();
        }
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_comes_to_its_end() {
    let endpoint = storyteller(story(), |nth| (nth % 2 == 0).then(Reply::silence));
    let home = stage(&endpoint);
    let mut child = home.start("run team.toml --id demo");
    for killed in 0..4 {
        assert!(endpoint.wait_for(2 * killed + 1, PATIENCE), "turn {killed} was never asked");
        child.kill().unwrap();
        child.wait().unwrap();
        child = home.start("run --session demo");
    }
    assert!(child.wait().unwrap().success());
    assert_eq!((endpoint.requests().len(), distinct(&endpoint.requests())), (8, 4));
    home.assert_sound();
}

#[test]
fn waiting_for_a_form_survives_the_end_of_the_process() {
    let question = json!({
        "messageTo": "user", "message": "How long?", "isInfoRequest": true,
        "form": {"name": "Length", "fields": [{"key": "n", "valueType": "NUMBER", "label": "Lines", "required": true}]},
    });
    let endpoint = model(vec![Reply::json(&question), Reply::json(&ask("writer", "Write."))]);
    let home = stage(&endpoint);
    let mut child = home.start("run team.toml --id demo --json --no-answers");
    let mut lines = lines(&mut child);
    // It is killed when the form is there, or has just ended by itself.
    lines.find(|line| line.contains("turn.answered")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let again = Played::of(&home.command("run --session demo --json --no-answers".split(' ')).output().unwrap());
    assert_eq!((again.run(), endpoint.requests().len()), ("awaiting_user", 1));
    let (status, wrong) = home.error("form answer Length n=many --session demo");
    assert_eq!((status, &wrong["errors"][0]["pointer"]), (1, &json!("/answers/n")));
    home.json("form answer Length n=4 --session demo");
    assert_eq!(go_on(&home).run(), "completed");
    let asked = endpoint.requests()[1].to_string();
    assert!(asked.contains("Lines: 4") && asked.contains("has answered the form Length"), "{asked}");
    home.assert_sound();
}

#[test]
fn a_run_that_somebody_else_takes_over_is_left_to_them() {
    let endpoint = storyteller(story(), |nth| (nth == 0).then(Reply::silence));
    let home = stage(&endpoint);
    let mut first = home.start("run team.toml --id demo");
    assert!(endpoint.wait_for(1, PATIENCE));
    assert_eq!(go_on(&home).run(), "completed");
    // Whoever was left behind sees how it ended, and asks nothing more.
    assert!(first.wait().unwrap().success());
    assert_eq!(endpoint.requests().len(), 5);
    assert_eq!(answered(&home.journal("demo")), 4);
    home.assert_sound();
}
