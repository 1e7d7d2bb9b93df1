//! A workflow is built over HTTP, exported, imported elsewhere, and executed there without any director: with real pages, in a
//! server and straight on a store.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::{
    browser::{home, page},
    home::{Home, Way},
    server::{Http, PATIENCE, until},
};

both_ways!(a_workflow_is_executed_on_the_command_line, a_workflow_that_fails_says_why);

/// Nodes that need no browser.
fn nodes() -> Value {
    json!([
        {"type": "iterate", "config": {"over": "{{cities}}", "last": "node_2", "collect": "node2.line"}},
        {"type": "transform", "config": {"set": {"line": "node1.item|upper"}}},
        {"type": "transform", "config": {"set": {"text": "node1.collected|join(' ')"}}},
    ])
}

fn built(way: Way) -> Home {
    let home = way(Home::new()).with_session("--id one --agent director:manager");
    home.write("nodes.json", nodes().to_string());
    home.json("workflow set nodes.json --session one");
    home
}

fn a_workflow_is_executed_on_the_command_line(way: Way) {
    let home = built(way);
    home.json("workflow name Cities --session one");
    let exported = home.json("workflow export cities.json --session one");
    assert_eq!(exported["nodes"], 3);
    home.json("session new --id two --agent director:manager");
    let imported = home.json("workflow import cities.json --session two");
    assert_eq!((&imported["workflow"]["name"], imported["nodes"].as_array().unwrap().len()), (&json!("Cities"), 3));
    let done = home.run("workflow run --input 'cities=[\"rome\", \"oslo\"]' --session two");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.contains("completed: 4 nodes started"), "{}", done.stdout);
    assert!(done.stderr.starts_with("node_1 …\nnode_2 …\nnode_2 success\n"), "{}", done.stderr);
    assert_eq!(home.json("var get node3.text --session two")["value"], "ROME OSLO");
    let alone = home.json("workflow run --node node_3 --session two");
    assert_eq!((&alone["status"], &alone["node_runs"]), (&json!("completed"), &json!(1)));
    let tested = home.json("tools call test_single_node '{\"nodeId\": \"node_3\"}' --session two");
    assert_eq!(tested["result"], "{\"text\":\"ROME OSLO\"}");
    let status = home.json("workflow status --session two");
    assert_eq!(status["executions"].as_array().unwrap().len(), 3);
    let (status, error) = home.error("workflow cancel --session two");
    assert_eq!((status, &error["code"]), (1, &json!("execution_ended")));
    home.assert_sound();
}

fn a_workflow_that_fails_says_why(way: Way) {
    let home = built(way);
    let (status, error) = home.error("workflow run --session one");
    assert_eq!((status, &error["code"]), (1, &json!("execution_failed")), "{error}");
    assert!(error["detail"].as_str().unwrap().contains("{{cities}} does not resolve"), "{error}");
    assert_eq!(home.json("workflow result node_1 --session one")["result"]["error"]["pointer"], "/config/over");
    let (status, error) = home.error("workflow run --from node_9 --session one");
    assert_eq!((status, &error["code"]), (1, &json!("invalid")), "{error}");
    let (status, _) = home.error("workflow run --from node_1 --node node_2 --session one");
    assert_eq!(status, 2);
    let (status, error) = home.error("workflow cancel --session one");
    assert_eq!((status, &error["code"]), (1, &json!("execution_ended")), "{error}");
}

#[test]
fn an_execution_on_a_store_that_was_killed_is_interrupted_once_its_lease_has_run_out() {
    let endpoint = Scripted::start(|_, nth| match nth {
        0 => Reply::silence(),
        _ => Reply::json(&json!({"kind": "letter"})),
    });
    let home = Home::with(&endpoint).with_session("--id one --agent director:manager");
    let nodes = json!([
        {"type": "transform", "config": {"set": {"mail": "'a letter'"}}},
        {"type": "model", "config": {"prompt": "What is {{node1.mail}}?", "schema": {"type": "object"}}},
    ]);
    home.write("nodes.json", nodes.to_string());
    home.json("workflow set nodes.json --session one");
    let mut child = home.start("workflow run --session one");
    assert!(endpoint.wait_for(1, PATIENCE), "the model was not asked");
    child.kill().unwrap();
    child.wait().unwrap();
    // It counts as under way as long as whoever was killed has the lease.
    let done = until("the end of the lease", || {
        let done = home.run("workflow run --session one --json");
        let said: Value = serde_json::from_str(&done.stdout).unwrap();
        if done.status != 0 {
            assert_eq!(said["error"]["code"], "execution_unfinished", "{said}");
            return None;
        }
        Some(said)
    });
    assert_eq!((&done["status"], &done["node_runs"]), (&json!("completed"), &json!(2)));
    let all = home.json("workflow status --session one")["executions"].clone();
    let statuses: Vec<_> = all.as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["completed", "interrupted"]);
    assert!(all[1]["reason"].as_str().unwrap().contains("whoever executed it is gone"), "{all}");
    assert_eq!(home.json("var get node2.kind --session one")["value"], "letter");
    home.assert_sound();
}

#[test]
fn a_workflow_works_with_a_page_and_without_a_director() {
    let port = page();
    let (home, server) = home(port);
    let run = |line: &str| home.json(&format!("{line} --url {}", server.url));
    run("session new --id built --agent director:manager");
    let nodes = json!({"nodes": [
        {"type": "browser_action", "config": {"action": "navigate", "url": "{{site}}/"}},
        {"type": "browser_action", "config": {"actions": [
            {"action": "type", "selector": "#mail", "value": "{{name}}"}, {"action": "press", "value": "Enter"}]}},
        {"type": "browser_query", "config": {"fields": {"said": {"selector": "#done"}}, "expect": "'Welcome' in said"}},
    ]});
    Http::new(&server).done("PUT", "/v1/sessions/built/workflow", &nodes);
    run("workflow export login.json --session built");
    run("session new --id used --agent director:manager");
    run("workflow import login.json --session used");
    let ended = run(&format!("workflow run --input site=http://127.0.0.1:{port} --input name=ann --session used"));
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(run("var get node3.said --session used")["value"], "Welcome ann");
}
