//! The plan, the workflow and the variables: as people type them, and as a director's prompt has them.

use serde_json::{Value, json};

use crate::home::{Home, Way};

both_ways!(
    a_plan_is_set_changed_and_compared,
    a_plan_is_followed_as_it_changes,
    a_workflow_is_built_node_by_node,
    a_workflow_is_replaced_by_what_was_printed,
    variables_are_set_shown_and_cleared,
    a_directors_prompt_has_the_plan_the_workflow_and_the_variables,
);

const PLAN: &str = r#"{"overall_goal": "Copy new mails into a table", "current_phase": "Login", "phases": [
    {"phase_name": "Login", "status": "in_progress", "tasks": [
        {"task_id": 1, "description": "Scout the login", "status": "completed", "notes": "Two pages"},
        {"task_id": 2, "description": "Build the node", "status": "in_progress"}]},
    {"phase_name": "Mails", "status": "pending", "tasks": []}], "next_actions": ["Test the node"]}"#;

fn team(way: Way) -> Home {
    let home = way(Home::new()).with_session("--id demo --agent director:manager --agent scout");
    home.write("plan.json", PLAN);
    home
}

fn a_plan_is_set_changed_and_compared(way: Way) {
    let home = team(way);
    home.write("wrong.json", r#"{"overall_goal": "", "phases": [{"status": "done"}]}"#);
    insta::assert_snapshot!(
        "plans",
        home.transcript(&[
            "plan --session demo",
            "plan set plan.json --reason 'to begin' --session demo",
            "plan --session demo",
            "plan task 2 --status completed --notes 'node_1 works' --session demo --as director",
            "plan diff --session demo",
            "plan history --session demo",
            "plan show 1 --session demo",
            "plan set plan.json --reason again --expected-version 1 --session demo",
            "plan set wrong.json --reason wrong --session demo",
            "plan task 7 --status failed --session demo",
            "plan show 3 --session demo",
            "plan --session demo --as scout",
            "plan set plan.json --reason mine --session demo --as scout",
        ])
    );
}

fn a_plan_is_followed_as_it_changes(way: Way) {
    let home = team(way);
    home.json("plan set plan.json --reason begin --session demo");
    let mut follower = home.start("plan --follow --session demo --json");
    let stdout = follower.stdout.take().unwrap();
    let mut shown = serde_json::Deserializer::from_reader(stdout).into_iter::<Value>().map(Result::unwrap);
    assert_eq!(shown.next().unwrap()["version"], 1);
    for version in 2..5 {
        home.json(&format!("plan task 2 --notes 'try {version}' --session demo"));
        let plan = shown.next().unwrap();
        assert_eq!(plan["plan"]["phases"][0]["tasks"][1]["notes"], format!("try {version}"), "{plan}");
    }
    let id = follower.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!((follower.wait().unwrap().code(), shown.next()), (Some(0), None));
}

fn a_workflow_is_built_node_by_node(way: Way) {
    let home = team(way);
    home.write("result.json", r#"{"rows": [1, 2.5, null]}"#);
    insta::assert_snapshot!(
        "workflow",
        home.transcript(&[
            "workflow --session demo",
            "workflow name 'Gmail to Airtable Sync' --description 'Copies new mails.' --session demo",
            "workflow add browser_action --config '{\"action\": \"navigate\", \"url\": \"https://example.com\"}' --description 'Open the page' --session demo",
            "workflow add login --config '{\"user\": \"ann\", \"password\": \"correct horse\"}' --position 1 --session demo",
            "workflow add table --config '{\"rows\": \"{{node1.rows}}\", \"then\": \"node_2\"}' --session demo --as director",
            "workflow --session demo",
            "workflow node node_2 --session demo",
            "workflow change node_3 --position 2 --type sheet --reason 'it is one' --session demo",
            "workflow result node_1 --session demo",
            "workflow record node_1 success --file result.json --variables '{\"rows\": [1]}' --session demo",
            "workflow record node_3 failed 'no such table' --session demo",
            "workflow result node_1 --session demo",
            "workflow result node_3 --session demo",
            "workflow --session demo",
            "var list --session demo",
            "workflow delete node_1 --session demo",
            "workflow change node_3 --config '{}' --session demo",
            "workflow delete node_1 --reason 'no need' --session demo",
            "workflow node node_1 --session demo",
            "workflow add step --config '[1]' --session demo",
            "workflow add step --config '{\"to\": \"node_9\"}' --session demo",
            "workflow add step --expected-version 1 --session demo",
            "workflow change node_2 --session demo",
            "workflow change seven --position 1 --session demo",
            "workflow --session demo --as scout",
            "workflow add step --session demo --as scout",
        ])
    );
}

fn a_workflow_is_replaced_by_what_was_printed(way: Way) {
    let home = team(way);
    home.json("workflow add first --session demo");
    home.json("workflow add second --config '{\"after\": \"node_1\"}' --session demo");
    let mut printed = home.json("workflow --session demo");
    printed["nodes"].as_array_mut().unwrap().reverse();
    let nodes = printed["nodes"].as_array_mut().unwrap();
    nodes.iter_mut().for_each(|node| node["position"] = Value::Null);
    home.write("workflow.json", printed.to_string());
    let set =
        home.json("workflow set workflow.json --reason 'the other way round' --expected-version 2 --session demo");
    assert_eq!((&set["nodes"][0]["id"], &set["nodes"][1]["id"]), (&json!("node_2"), &json!("node_1")));
    home.write("nodes.json", r#"[{"type": "only"}]"#);
    let set = home.json("workflow set nodes.json --session demo");
    assert_eq!(set["nodes"][0]["id"], "node_3");
    home.write("wrong.json", r#"{"nodes": [{"type": 7}], "colour": 1}"#);
    for file in ["wrong.json", "missing.json", "plan.json"] {
        let run = home.run(&format!("workflow set {file} --session demo"));
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    }
    home.write("faulty.json", r#"{"nodes": [{"type": ""}, {"position": 1}]}"#);
    let run = home.run("workflow set faulty.json --session demo");
    let told = ["nodes[0].type", "nodes[1].position", "nodes[1].type"].map(|place| run.stderr.contains(place));
    assert_eq!((run.status, told), (1, [true; 3]), "{}", run.stderr);
    assert_eq!(home.json("workflow --session demo")["workflow"]["version"], 4);
}

fn variables_are_set_shown_and_cleared(way: Way) {
    let home = team(way);
    home.write("emails.json", json!([{"sender": "a@example.com", "subject": "x".repeat(200)}, {}]).to_string());
    let mut written = home.transcript(&[
        "var list --session demo",
        "var set test_email debug@test.com --reason 'to test the login' --session demo",
        "var set node4.loginRequired true --session demo --as director",
        "var set zip_code 01234 --text --session demo",
        "var set node7.emails --file emails.json --session demo",
        "var set gmail_creds '{\"email\": \"user@gmail.com\", \"password\": \"correct horse\"}' --session demo",
        "var set all 1 --session demo",
        "var list --session demo",
        "var get gmail_creds --session demo",
        "var get gmail_creds --session demo --as director --reveal",
        "var get gmail_creds --session demo --reveal",
        "say 'the password is correct horse' --session demo",
        "messages --session demo",
        "var list --session demo --as scout",
        "var set mine 1 --session demo --as scout",
        "var clear node7.emails --reason 'to extract them again' --session demo",
        "var clear node7.emails --session demo",
        "var get node7.emails --session demo",
        "var clear --all --session demo",
        "var list --session demo",
    ]);
    let fed = home.feed("var set page - --session demo", "inbox\n");
    written += &home.normal(&fed.stdout);
    insta::assert_snapshot!("variables", written);
}

fn a_directors_prompt_has_the_plan_the_workflow_and_the_variables(way: Way) {
    let home = team(way);
    home.json("plan set plan.json --reason begin --session demo");
    home.json("workflow add browser_action --config '{\"url\": \"https://example.com\"}' --session demo");
    home.json("workflow record node_1 success 'RESULT' --session demo");
    home.json("var set current_page gmail_inbox --session demo");
    home.json("say 'Please begin.' --session demo");
    let prompt = home.json("prompt --layout director --session demo");
    let parts: Vec<_> = prompt["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    let known = ["current_plan", "workflow_snapshot", "workflow_variables", "browser_state", "conversation_history"];
    for part in known {
        assert!(parts.contains(&part), "{part} is not among {parts:?}");
    }
    let text = prompt["text"].as_str().unwrap();
    let (_, behind) = text.split_once("\nCURRENT PLAN:\n").unwrap();
    let plan: Value = serde_json::Deserializer::from_str(behind).into_iter().next().unwrap().unwrap();
    assert_eq!(plan, home.json("plan --session demo")["plan"]);
    let (_, behind) = text.split_once("\nWORKFLOW SNAPSHOT:\n").unwrap();
    let workflow: Value = serde_json::Deserializer::from_str(behind).into_iter().next().unwrap().unwrap();
    assert_eq!(workflow, home.json("workflow --session demo"));
    assert!(!text.contains("RESULT"), "{text}");
    assert!(text.contains("\nWORKFLOW VARIABLES:\n- current_page = \"gmail_inbox\"\n\n"), "{text}");
    assert!(text.ends_with("\nCONVERSATION HISTORY:\nUser 1: Please begin.\n"), "{text}");
    // To a scout there is neither a plan nor a workflow nor a variable.
    let prompt = home.json("prompt --layout director --agent scout --session demo");
    let text = prompt["text"].as_str().unwrap();
    assert!(
        !text.contains("\nCURRENT PLAN:") && !text.contains("\nWORKFLOW SNAPSHOT:") && !text.contains("gmail_inbox"),
        "{text}"
    );
    assert_eq!(home.run("prompt --layout other --session demo").status, 2);
}
