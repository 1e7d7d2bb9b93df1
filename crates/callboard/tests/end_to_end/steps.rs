//! Steps on the command line: as people see them, and in a run.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::home::{Home, Way};

both_ways!(
    steps,
    steps_come_and_go_with_the_team_file,
    what_is_no_step_is_refused_with_every_fault,
    a_run_offers_the_tools_that_are_due
);

const TEAM: &str = r#"
[[agent]]
name = "lead"
role = "manager"

[[agent]]
name = "writer"
role = "worker"
tools = [{name = "look_up"}, {name = "note"}, {name = "publish"}]

[[step]]
name = "research"
description = "Gather before you write."
is_default = true
sequence = ["look_up", "note"]

[[step]]
name = "draft"
conditions = [{type = "tool_used", value = "note"}]
available_tools = {denied = ["look_*"]}
"#;

fn team(way: Way) -> Home {
    let home = way(Home::new());
    home.write("TEAM.toml", TEAM);
    home.json("session new TEAM.toml --id demo");
    home
}

fn steps(way: Way) {
    let home = team(way);
    insta::assert_snapshot!(
        "steps",
        home.transcript(&[
            "session show --session demo",
            "steps show --session demo",
            "steps allowed look_up note publish --session demo",
            "steps allowed note --session demo",
            "steps use publish --session demo",
            "steps use look_up --session demo",
            "steps use note --session demo",
            "steps allowed look_up note publish --session demo",
            "steps allowed look_up publish --session demo --json",
            "steps usage --prompt 1200 --completion 300 --session demo",
            "steps usage --completion 5 --session demo --json",
            "steps show --session demo --as writer",
            "steps use publish --session demo --as writer",
            "steps set --default --session demo",
            "steps advance --session demo --as lead",
            "steps set --step draft --ttl never --session demo",
            "steps set --step research --index 1 --session demo",
            "steps set --step nowhere --session demo",
            "steps set --index 3 --session demo",
            "steps set --session demo",
            "steps set --step draft --default --session demo",
            "steps usage --session demo",
            "steps usage --prompt -1 --session demo",
            "steps allowed --session demo",
            "steps reset --session demo",
            "prompt --agent writer --thread agent:writer --session demo",
        ])
    );
    let many = "note ".repeat(12);
    home.json("steps set --step draft --session demo");
    many.split_whitespace().for_each(|tool| drop(home.json(&format!("steps use {tool} --session demo"))));
    let shown = home.run("steps show --session demo").stdout;
    assert!(shown.contains("used       2 more, then note, note"), "{shown}");
}

fn steps_come_and_go_with_the_team_file(way: Way) {
    let home = way(Home::new());
    home.write("TEAM.toml", TEAM);
    home.json("session new --id bare --agent lead:manager");
    let none = home.run("steps show --session bare");
    assert!(none.status == 1 && none.stderr.contains("no steps"), "{}", none.stderr);
    assert_eq!(home.json("session update --session bare --team TEAM.toml")["steps"][1]["name"], "draft");
    home.write("OTHER.toml", "[[agent]]\nname = \"lead\"\nrole = \"manager\"\n");
    assert_eq!(home.json("session update --session bare --team OTHER.toml")["steps"][1]["name"], "draft", "they stay");
}

fn what_is_no_step_is_refused_with_every_fault(way: Way) {
    let home = way(Home::new());
    home.write("TWICE.toml", format!("{TEAM}\n[[step]]\nname = \"draft\"\nis_default = true\n"));
    let twice = home.run("session new TWICE.toml");
    assert!(twice.status == 1, "{}", twice.stderr);
    for fault in ["the name draft is taken", "at most one step is the default"] {
        assert!(twice.stderr.contains(fault), "{}", twice.stderr);
    }
    home.write("ODD.toml", "[[step]]\nname = \"a\"\ntools = []\n");
    let odd = home.run("session new ODD.toml");
    assert!(odd.status == 1 && odd.stderr.contains("line 3") && odd.stderr.contains("tools"), "{}", odd.stderr);
}

fn a_run_offers_the_tools_that_are_due(way: Way) {
    let endpoint = Scripted::start(|request, _| {
        let tools = request["tools"].as_array().into_iter().flatten();
        let offered: Vec<_> = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
        let done = request["messages"].to_string().contains("It is written.");
        match (request["response_format"].is_object(), offered.as_slice()) {
            (true, _) if done => {
                Reply::json(&json!({"messageTo": "user", "message": "Here.", "workflowComplete": true}))
            }
            (true, _) => Reply::json(&json!({"messageTo": "writer", "message": "Find out."})),
            (false, [only]) => Reply::tool_calls([(*only, json!({}))]),
            (false, _) => Reply::text("It is written."),
        }
    });
    let home = way(Home::with(&endpoint));
    home.write("TEAM.toml", TEAM);
    home.json("session new TEAM.toml --id demo");
    home.run("run --session demo 'Write.' --json");
    for tool in ["look_up", "note"] {
        let run = settled(&home);
        assert_eq!((&run["status"], &run["tool_calls"][0]["name"]), (&json!("awaiting_tool"), &json!(tool)), "{run}");
        home.json("runs tool-result call_1 found --session demo");
    }
    assert_eq!(settled(&home)["status"], "completed");
    let state = home.json("steps show --session demo");
    assert_eq!(state["recently_used_tools"], json!(["look_up", "note"]));
    assert_eq!(state["active_step"], "draft");
    home.assert_sound();
}

/// The run, once it does not go on by itself: a server goes on with one, a store waits for a command that does.
fn settled(home: &Home) -> Value {
    for _ in 0..100 {
        home.run("run --session demo --json");
        let run = home.json("runs show --session demo");
        if run["status"] != "running" {
            return run;
        }
    }
    panic!("the run never waits and never ends");
}
