//! A team at work, as it is shown.

use std::sync::mpsc;

use callboard_model::scripted::{Reply, last_text};
use serde_json::json;

use crate::{
    home::{Home, Way},
    play::{TEAM, ask, complete, go_on, model, play, stage, stage_on},
    server::{PATIENCE, until},
};

both_ways!(
    a_team_at_work_is_shown_from_the_task_to_the_result,
    programs_get_each_entry_and_then_the_result,
    a_worker_is_shown_what_is_shared_with_it_and_nothing_else,
    what_a_model_was_asked_can_be_read_afterwards,
    a_run_is_held_at_its_limit_and_goes_on_when_it_is_resumed,
    a_session_goes_on_with_another_task,
    a_form_waits_where_there_is_no_terminal,
    a_question_without_a_form_is_answered_with_a_line,
    a_team_that_asks_on_and_on_is_left_alone,
    ctrl_c_holds_the_run,
);

fn whole_story() -> Vec<Reply> {
    let question = json!({
        "messageTo": "user", "message": "How long?", "isInfoRequest": true,
        "form": {"name": "Length", "fields": [
            {"key": "length", "valueType": "ENUM", "label": "Length", "required": true, "enumValues": ["short", "long"]},
        ]},
        "contextSetUpdate": {"contextSets": [{"name": "Process Steps", "context": "1. Ask [In Progress]\n2. Write [Pending]"}]},
    });
    let work = json!({
        "messageTo": "writer", "message": "Write four lines.", "expectedOutput": "four lines",
        "contextSetUpdate": {"contextSets": [{"name": "Theme", "context": "spring", "visibleToAgents": ["writer"]}]},
    });
    vec![
        Reply::json(&question).with_usage(100, 20),
        Reply::json(&work).with_usage(120, 30),
        Reply::text("Roses are red,\nviolets are blue.").with_usage(40, 10),
        Reply::json(&json!({"valid": false, "reason": "there are two lines"})).with_usage(150, 8),
        Reply::json(&ask("writer", "Two more lines.")).with_usage(160, 9),
        Reply::text("Sugar is sweet,\nand so are you.").with_usage(60, 10),
        Reply::json(&complete()).with_usage(200, 12),
    ]
}

fn a_team_at_work_is_shown_from_the_task_to_the_result(way: Way) {
    let endpoint = model(whole_story());
    let home = stage_on(&endpoint, way);
    insta::assert_snapshot!(
        "a_team_at_work_is_shown_from_the_task_to_the_result",
        home.transcript(&["run team.toml --id demo --yes", "runs show --session demo"])
    );
    home.assert_sound();
}

fn programs_get_each_entry_and_then_the_result(way: Way) {
    let endpoint = model(whole_story());
    let home = stage_on(&endpoint, way);
    let played = play(&home, "--yes");
    assert_eq!((played.run(), played.status), ("completed", Some(0)));
    assert_eq!(played.result["message"], "It is done.");
    assert_eq!(played.result["run"]["used"]["prompt_tokens"], 830);
    let journal = home.journal("demo");
    assert_eq!(journal[journal.len() - played.entries.len()..], played.entries);
    let verdict = &played.data("message.checked")[0];
    assert_eq!((&verdict["valid"], &verdict["reason"]), (&json!(false), &json!("there are two lines")));
}

fn a_worker_is_shown_what_is_shared_with_it_and_nothing_else(way: Way) {
    let endpoint = model(whole_story());
    let home = stage_on(&endpoint, way);
    play(&home, "--yes");
    let prompt = endpoint.requests()[2].to_string();
    for seen in ["You write.", "cheerful", "spring", "Write four lines."] {
        assert!(prompt.contains(seen), "{seen} is missing: {prompt}");
    }
    for hidden in ["Process Steps", "In Progress", "Write a poem", "How long", "short"] {
        assert!(!prompt.contains(hidden), "{hidden} is shown: {prompt}");
    }
}

fn what_a_model_was_asked_can_be_read_afterwards(way: Way) {
    let endpoint = model(whole_story());
    let home = stage_on(&endpoint, way);
    let played = play(&home, "--yes");
    for (request, requested) in endpoint.requests().iter().zip(played.data("turn.requested")) {
        if requested["due"]["kind"] != "directive" && requested["due"]["kind"] != "work" {
            continue;
        }
        let (agent, at) = (requested["agent"].as_str().unwrap(), &requested["prompt"]["at"]);
        let thread = if agent == "lead" { "main".to_owned() } else { format!("agent:{agent}") };
        let line = format!("prompt --session demo --agent {agent} --thread {thread} --at {at} --format openai");
        let prompt = home.json(&line);
        assert_eq!(prompt["messages"], request["messages"], "{line}");
        assert_eq!(prompt["tokens"], requested["prompt"]["tokens"], "{line}");
    }
}

#[test]
fn an_agent_whose_tools_the_caller_executes_waits_for_their_results() {
    let endpoint = model(vec![
        Reply::json(&ask("writer", "Look it up.")),
        Reply::tool_calls([("look", json!({"word": "rose"}))]),
        Reply::text("A flower."),
    ]);
    let home = Home::with(&endpoint);
    let tools =
        "[[agent]]\nname = \"writer\"\nrole = \"worker\"\ntools = [{name = \"look\", description = \"Looks up\"}]";
    home.write("team.toml", TEAM.replace("[[agent]]\nname = \"writer\"\nrole = \"worker\"", tools));
    let played = play(&home, "");
    assert_eq!((played.run(), played.status), ("awaiting_tool", Some(1)));
    let wrong = home.error("runs tool-result call_9 red --session demo").1;
    assert!(wrong["detail"].as_str().unwrap().contains("call_9"), "{wrong}");
    home.json("runs tool-result call_1 red --session demo");
    assert_eq!(go_on(&home).run(), "completed");
    assert_eq!(last_text(&endpoint.requests()[2]), "red");
}

fn a_run_is_held_at_its_limit_and_goes_on_when_it_is_resumed(way: Way) {
    let endpoint = model(vec![Reply::json(&ask("writer", "Write."))]);
    let home = stage_on(&endpoint, way);
    let played = play(&home, "--limit-turns 2");
    assert_eq!((played.run(), played.status), ("paused", Some(1)));
    assert!(played.reason().contains("limit of 2 turns"), "{}", played.reason());
    assert_eq!(go_on(&home).run(), "completed");
    assert_eq!(endpoint.requests().len(), 3);
    let sent = |turn: &str| home.json(&format!("turns show {turn} --prompt --session demo"));
    let entry = played.entries.iter().find(|entry| entry["type"] == "turn.requested").unwrap();
    assert_eq!(sent("r7/1"), sent(&entry["seq"].to_string()));
    assert_eq!(home.error("turns show r7/9 --session demo").1["code"], "not_found");
}

fn a_session_goes_on_with_another_task(way: Way) {
    let endpoint = model(Vec::new());
    let home = stage_on(&endpoint, way);
    assert_eq!(play(&home, "").run(), "completed");
    let (status, error) = home.error("run --session demo");
    assert_eq!((status, &error["code"]), (1, &json!("no_run")));
    let again = home.run("run --session demo 'Another one'");
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(last_text(&endpoint.requests()[1]), "Another one");
}

fn a_form_waits_where_there_is_no_terminal(way: Way) {
    let endpoint = model(whole_story());
    let home = stage_on(&endpoint, way);
    let run = home.run("run team.toml --id demo");
    assert_eq!((run.status, endpoint.requests().len()), (1, 1), "{}", run.stdout);
    assert!(run.stderr.contains("nobody can answer here"), "{}", run.stderr);
    assert!(run.stdout.contains("form answer Length KEY=VALUE… --session demo"), "{}", run.stdout);
    home.json("form answer Length length=short --session demo");
    // A server goes on by itself, and may be done before it is asked to.
    go_on(&home);
    let ended = home.journal("demo").into_iter().find(|entry| entry["type"] == "run.ended");
    assert_eq!(ended.unwrap()["data"]["status"], "completed");
}

fn a_question_without_a_form_is_answered_with_a_line(way: Way) {
    let endpoint = model(vec![Reply::json(&json!({"messageTo": "user", "message": "Shall I?"}))]);
    let home = stage_on(&endpoint, way);
    let played = play(&home, "");
    assert_eq!((played.run(), played.status), ("awaiting_user", Some(1)));
    let done = home.run("run --session demo 'Yes, do.'");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert_eq!(last_text(&endpoint.requests()[1]), "Yes, do.");
}

fn ctrl_c_holds_the_run(way: Way) {
    let ((asked, is_asked), (let_on, is_let_on)) = (mpsc::channel(), mpsc::channel());
    // The first answer comes only when it is let through.
    let endpoint = callboard_model::scripted::Scripted::start(move |request, nth| match nth {
        0 => {
            asked.send(()).unwrap();
            is_let_on.recv_timeout(PATIENCE).unwrap();
            Reply::json(&ask("writer", "Write."))
        }
        _ => crate::play::otherwise(request),
    });
    let home = stage_on(&endpoint, way);
    let mut run = home.start("run team.toml --id demo --json");
    is_asked.recv_timeout(PATIENCE).unwrap();
    let id = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let is_held = || home.journal("demo").iter().any(|entry| entry["type"] == "run.paused");
    until("the pause", || is_held().then_some(()));
    let_on.send(()).unwrap();
    drop(run.stdin.take());
    let played = crate::play::Played::of(&run.wait_with_output().unwrap());
    assert_eq!((played.run(), played.reason(), played.status), ("paused", "paused by the user", Some(1)));
    assert_eq!(go_on(&home).run(), "completed");
    // A server hears the turn out that was under way; this process asks it again.
    assert!(endpoint.requests().len() <= 4, "{:?}", endpoint.requests());
    home.assert_sound();
}

fn a_team_that_asks_on_and_on_is_left_alone(way: Way) {
    let endpoint = callboard_model::scripted::Scripted::start(|_, _| {
        Reply::json(&json!({"messageTo": "user", "message": "Shall I?"}))
    });
    let home = stage_on(&endpoint, way);
    let played = play(&home, "--yes");
    assert_eq!((played.run(), played.status), ("awaiting_user", Some(1)));
    assert_eq!(endpoint.requests().len(), 9);
}

#[test]
fn runs_are_listed_held_resumed_and_cancelled() {
    let endpoint = model(vec![Reply::json(&json!({"messageTo": "user", "message": "Shall I?"}))]);
    let home = stage(&endpoint);
    play(&home, "--no-answers");
    insta::assert_snapshot!(home.transcript(&[
        "runs list --session demo",
        "runs pause --session demo --reason 'lunch'",
        "runs show --session demo --run r9",
        "runs resume --session demo",
        "run --session demo --limit-turns 3",
        "run team.toml --session demo",
        "runs cancel --session demo",
        "runs cancel --session demo",
        "runs tool-result call_1 x --session demo",
        "runs show --session demo --run r99",
    ]));
}

#[test]
fn without_a_model_nothing_is_begun() {
    let home = Home::new();
    home.write("team.toml", TEAM);
    insta::assert_snapshot!(home.transcript(&["run team.toml", "session list"]), @"
    $ callboard run team.toml
    ! error: lead has no model
    ! hint: set CALLBOARD_MODEL=openai:NAME, and OPENAI_BASE_URL or OPENAI_API_KEY
    = 1
    $ callboard session list
    ! there are no sessions
    ");
}

#[test]
fn warnings_stand_among_what_people_read_in_the_same_form() {
    let endpoint = model(vec![Reply::error(503, "busy"), Reply::json(&complete())]);
    let home = stage(&endpoint);
    let output = home.command(["run", "team.toml"]).env_remove("RUST_LOG").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let is_told = |line: &str| {
        line.starts_with("warning: openai:") && line.contains(" answered with status 503: asking again in ")
    };
    assert!(told.lines().any(is_told), "{told}");
    assert!(!told.contains("WARN") && !told.contains("code"), "{told}");
}
