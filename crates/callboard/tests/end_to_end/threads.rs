//! Threads with settings of their own, on the command line and in runs.

use serde_json::{Value, json};

use crate::{
    home::{Home, Way},
    play::{Played, ask, complete, model, stage, wants_directive},
};
use callboard_model::scripted::Reply;

both_ways!(a_thread_has_settings_of_its_own, who_does_not_see_a_thread_does_not_set_it_up);

fn a_thread_has_settings_of_its_own(way: Way) {
    let home = way(Home::new()).with_session("--id demo --agent lead:manager --agent writer --agent critic");
    home.write(
        "tools.json",
        r#"[{"name": "look_up", "description": "Looks it up.", "parameters": {"type": "object"}}]"#,
    );
    insta::assert_snapshot!(
        "thread_settings",
        home.transcript(&[
            "thread put review --instructions 'Argue both sides.' --history-tokens 4000",
            "thread put review --visible-to lead,critic --model openai:gpt-4o",
            "thread put review --tools callboard:read --unset history_tokens",
            "thread put review --tools tools.json --json",
            "say 'Is it good?' --thread review",
            "prompt critic --thread review",
            "thread put review --unset instructions,model,tools",
            "thread list",
            "thread put review --tools callboard:fly",
            "thread put review --history-tokens many",
            "threads list --as writer",
        ])
    );
    home.assert_sound();
}

fn who_does_not_see_a_thread_does_not_set_it_up(way: Way) {
    let home = way(Home::new()).with_session("--id demo --agent lead:manager --agent writer --agent critic");
    home.json("thread put aside --visible-to critic --instructions 'Be frank.'");
    assert_eq!(home.error("thread put aside --instructions 'Be kind.' --as critic").1["code"], "forbidden");
    assert_eq!(home.error("thread put aside --instructions 'Be kind.' --as lead").1["code"], "not_found");
    let seen = |agent: &str| home.json(&format!("thread list --as {agent}"))["threads"].to_string();
    assert!(seen("critic").contains("Be frank.") && !seen("lead").contains("Be frank."));
    let journal = |agent: &str| home.json(&format!("session journal --as {agent}"))["entries"].to_string();
    assert!(journal("critic").contains("Be frank.") && !journal("writer").contains("Be frank."));
}

#[test]
fn a_run_follows_the_settings_of_the_threads_that_its_agents_speak_in() {
    let directive = |value: &Value| Reply::json(value);
    let endpoint = model(vec![directive(&ask("writer", "Write.")), Reply::text("Here."), directive(&complete())]);
    let home = stage(&endpoint);
    home.json("session new team.toml --id poem");
    home.json("thread put agent:writer --model openai:large --instructions 'Rhyme.' --tools callboard:read_messages");
    let played = Played::of(&home.command(["run", "--session", "poem", "Go.", "--json", "--yes"]).output().unwrap());
    assert_eq!(played.run(), "completed", "{}", played.reason());
    let requests = endpoint.requests();
    let of_writer: Vec<_> = requests.iter().filter(|request| !wants_directive(request)).collect();
    let [request] = of_writer.as_slice() else { panic!("{} requests", of_writer.len()) };
    assert_eq!(request["model"], "large");
    assert!(request["messages"][0]["content"].as_str().unwrap().contains("You write.\nIn this thread: Rhyme."));
    assert_eq!(request["tools"][0]["function"]["name"], "read_messages");
    assert!(requests.iter().filter(|request| wants_directive(request)).all(|request| request["model"] == "scripted"));
    let turns = home.json("turns --session poem");
    let models: Vec<_> = turns["turns"].as_array().unwrap().iter().map(|turn| &turn["model"]).collect();
    assert_eq!(json!(models), json!(["openai:scripted", "openai:large", "openai:scripted"]));
}

#[test]
fn the_model_of_a_thread_is_enough_for_agents_without_one() {
    let endpoint = model(vec![Reply::json(&ask("writer", "Write.")), Reply::text("Here."), Reply::json(&complete())]);
    let home = stage(&endpoint);
    home.json("session new --id poem --agent lead:manager --agent writer");
    let run = || {
        let mut run = home.command(["run", "--session", "poem", "Go.", "--json", "--yes"]);
        run.env_remove("CALLBOARD_MODEL").output().unwrap()
    };
    home.json("thread put main --visible-to lead --model openai:large");
    let refused = Played::of(&run());
    assert_eq!((refused.status, refused.run()), (Some(1), "unknown"), "the writer has none");
    home.json("thread put agent:writer --model openai:small");
    let played = Played::of(&run());
    assert_eq!(played.run(), "completed", "{}", played.reason());
    let models: Vec<_> = endpoint.requests().iter().map(|request| request["model"].clone()).collect();
    assert_eq!(models, ["large", "small", "large"]);
}

#[test]
fn a_run_is_started_and_watched_as_the_manager() {
    let endpoint = model(vec![Reply::json(&complete())]);
    let home = stage(&endpoint);
    home.json("session new team.toml --id poem");
    let run = |agent: &str| home.run(&format!("run --session poem 'Go.' --as {agent} --json"));
    assert_eq!(run("writer").status, 1);
    let done = run("lead");
    assert_eq!(done.status, 0, "{}", done.stderr);
    let journal = home.journal("poem");
    let by = |kind: &str| journal.iter().find(|entry| entry["type"] == kind).unwrap()["by"].clone();
    assert_eq!(by("run.started"), "agent:lead");
}
