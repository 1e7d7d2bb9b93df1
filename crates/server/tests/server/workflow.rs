//! The workflow over HTTP, by each actor.

use callboard_core::prompt::escape::page_text;
use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

/// A server with a session, and the address of its workflow.
async fn start() -> (Server, String) {
    let (server, team) = Server::with_team().await;
    (server, format!("{team}/workflow"))
}

/// The same with a key, so that secrets can be sealed.
async fn start_with_key() -> (Server, String) {
    let server = Server::start_with_key().await;
    let team = server.team("s").await;
    (server, format!("{team}/workflow"))
}

async fn create(server: &Server, at: &str, node: Value) -> Answer {
    server.send("POST", &format!("{at}/nodes"), node).await
}

/// The ids of the nodes in their order.
async fn order(server: &Server, at: &str) -> Vec<String> {
    let workflow = server.get(at).await.is(200).body;
    let nodes = workflow["nodes"].as_array().unwrap();
    assert!(nodes.iter().enumerate().all(|(place, node)| node["position"] == place + 1));
    nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_session_has_a_workflow_from_the_beginning() {
    let (server, at) = start().await;
    let workflow = server.get(&at).await.is(200).body;
    assert_eq!((&workflow["nodes"], &workflow["edges"]), (&json!([]), &json!([])));
    let about = &workflow["workflow"];
    assert_eq!((&about["version"], &about["created_at"]), (&json!(0), &about["updated_at"]));
    let task = json!({"task_id": 1, "description": "x", "status": "pending"});
    let phase = json!({"phase_name": "p", "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": "g", "current_phase": "p", "phases": [phase]});
    server.send("PUT", "/v1/sessions/s/plan", json!({"plan": plan, "reason": "r"})).await.is(200);
    let plan = server.get("/v1/sessions/s/plan").await.body;
    assert_eq!(about["id"], plan["plan"]["workflow_id"], "the plan and the workflow have one id");
    let name = json!({"name": "Gmail to Airtable Sync", "reason": "so that it has one"});
    let named = server.send("PATCH", &at, name).await.is(200);
    assert_eq!((named.text("name"), &named.body["version"]), ("Gmail to Airtable Sync", &json!(1)));
    assert!(named.body["updated_at"].as_str() > named.body["created_at"].as_str());
    server.send("PATCH", &at, json!({})).await.problem(422, "invalid");
    assert_eq!(
        server.send("PATCH", &at, json!({"name": "a\nb"})).await.problem(422, "invalid").text("pointer"),
        "/name"
    );
    server.send("PATCH", &at, json!({"name": " "})).await.is(200);
    assert_eq!(server.get(&at).await.body["workflow"].get("name"), None);
}

#[tokio::test]
async fn nodes_are_created_changed_moved_and_deleted() {
    let (server, at) = start().await;
    let config = json!({"action": "navigate", "url": "https://mail.google.com"});
    let first = json!({"type": "browser_action", "config": config, "description": "Navigate to Gmail"});
    let first = create(&server, &at, first).await.is(200);
    assert_eq!(
        first.body,
        json!({"id": "node_1", "position": 1, "type": "browser_action", "config": config,
            "description": "Navigate to Gmail", "status": "not_run", "version": 1})
    );
    let read = server.get(&at).await.is(200);
    assert_eq!(read.headers["etag"], first.headers["etag"]);
    let second = create(&server, &at, json!({"type": "iterate", "position": 1, "reason": "first"})).await.is(200);
    assert_eq!((second.text("id"), &second.body["config"]), ("node_2", &json!({})));
    create(&server, &at, json!({"type": "table", "config": {"rows": "{{node1.emails}}"}})).await.is(200);
    assert_eq!(order(&server, &at).await, ["node_2", "node_1", "node_3"]);
    let edges = server.get(&at).await.body["edges"].clone();
    assert_eq!(edges[2], json!({"from": "node_3", "to": "node_1", "kind": "reads"}));
    assert_eq!(edges.as_array().unwrap().len(), 3);
    let patch = async |node: &str, body: Value| server.send("PATCH", &format!("{at}/nodes/{node}"), body).await;
    let moved = patch("node_3", json!({"position": 1, "config": {"a": 1}, "description": "Fill"})).await.is(200);
    assert_eq!((&moved.body["position"], &moved.body["version"]), (&json!(1), &json!(4)));
    assert_eq!(order(&server, &at).await, ["node_3", "node_2", "node_1"]);
    let node = server.get(&format!("{at}/nodes/node_3")).await.is(200).body;
    assert_eq!(
        (&node["type"], &node["config"], &node["description"]),
        (&json!("table"), &json!({"a": 1}), &json!("Fill"))
    );
    server.delete(&format!("{at}/nodes/node_2?reason=no%20need&as=lead")).await.is(204);
    assert_eq!(order(&server, &at).await, ["node_3", "node_1"]);
    for absent in ["node_2", "node_9", "node_01", "seven"] {
        server.get(&format!("{at}/nodes/{absent}")).await.problem(404, "not_found");
        server.delete(&format!("{at}/nodes/{absent}")).await.problem(404, "not_found");
        patch(absent, json!({"position": 1})).await.problem(404, "not_found");
    }
    let journal = server.get("/v1/sessions/s/journal?types=node.created,node.deleted").await.is(200).body;
    let said: Vec<_> =
        journal["entries"].as_array().unwrap().iter().map(|e| (&e["by"], &e["data"]["reason"])).collect();
    assert_eq!(said[1], (&json!("user"), &json!("first")));
    assert_eq!(said[3], (&json!("agent:lead"), &json!("no need")));
}

#[tokio::test]
async fn what_is_wrong_with_a_node_is_said_with_its_place() {
    let (server, at) = start().await;
    create(&server, &at, json!({"type": "a"})).await.is(200);
    let head = server.get("/v1/sessions/s").await.head();
    for (body, pointer) in [
        (json!({}), "/type"),
        (json!({"type": " "}), "/type"),
        (json!({"type": "x".repeat(101)}), "/type"),
        (json!({"type": "a\nb"}), "/type"),
        (json!({"type": "a", "config": []}), "/config"),
        (json!({"type": "a", "position": 0}), "/position"),
        (json!({"type": "a", "position": 3}), "/position"),
        (json!({"type": "a", "position": -1}), "/position"),
        (json!({"type": "a", "status": "success"}), "/status"),
        (json!({"type": "a", "config": {"next": ["node_7"]}}), "/config/next/0"),
        (json!({"type": "a", "config": {"x": "{{node7.y}}"}}), "/config/x"),
        (json!({"type": "a", "config": {"x": "y".repeat(70_000)}}), "/config"),
    ] {
        assert_eq!(create(&server, &at, body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    let patch = async |body: Value| server.send("PATCH", &format!("{at}/nodes/node_1"), body).await;
    for (body, pointer) in [
        (json!({"type": ""}), "/type"),
        (json!({"position": 2}), "/position"),
        (json!({"status": "success"}), "/status"),
        (json!({"config": {"to": "node_3"}}), "/config/to"),
    ] {
        assert_eq!(patch(body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    patch(json!({})).await.problem(422, "invalid");
    create(&server, &at, json!({"type": "a", "expected_version": 0})).await.problem(409, "stale_workflow");
    patch(json!({"type": "b", "expected_version": 0})).await.problem(409, "stale_workflow");
    server.delete(&format!("{at}/nodes/node_1?expected_version=0")).await.problem(409, "stale_workflow");
    assert_eq!(server.get("/v1/sessions/s").await.head(), head, "what was refused has changed nothing");
    create(&server, &at, json!({"type": "b", "config": {"then": "node_1"}})).await.is(200);
    let refused = server.delete(&format!("{at}/nodes/node_1")).await.problem(409, "node_in_use");
    assert!(refused.text("detail").contains("node_2 at /config/then"), "{}", refused.raw);
}

#[tokio::test]
async fn a_workflow_is_replaced_whole() {
    let (server, at) = start().await;
    let example = json!({
        "workflow": {"id": "uuid", "name": "Gmail to Airtable Sync", "created_at": "...", "updated_at": "..."},
        "nodes": [{
            "id": "node_123", "position": 1, "type": "browser_action", "description": "Navigate to Gmail",
            "config": {"action": "navigate", "url": "https://mail.google.com"}, "status": "success"
        }, {"type": "browser_action", "config": {"action": "type", "selector": "#identifierId"}}],
    });
    let put = server.send("PUT", &at, example.clone()).await.is(200);
    assert_eq!(put.body["workflow"]["name"], "Gmail to Airtable Sync");
    assert_eq!(order(&server, &at).await, ["node_123", "node_124"]);
    assert_eq!(put.body["nodes"][0]["status"], "not_run", "a status is what the last execution gave");
    // What was read can be put again.
    let mut again = server.get(&at).await.body;
    again["reason"] = "again".into();
    again["expected_version"] = 1.into();
    let read = server.send("PUT", &at, again.clone()).await.is(200).body;
    assert_eq!((&read["nodes"], &read["workflow"]["version"]), (&put.body["nodes"], &json!(2)));
    server.send("PUT", &at, again).await.problem(409, "stale_workflow");
    let faulty = json!({"nodes": [
        {"type": "a", "position": 2}, {"position": 2, "colour": 1}, {"type": "b", "config": {"to": "node_9"}, "id": 7}]});
    let refused = server.send("PUT", &at, faulty).await.problem(422, "invalid");
    let pointers: Vec<_> = refused.body["errors"].as_array().unwrap().iter().map(|fault| &fault["pointer"]).collect();
    assert_eq!(pointers, ["/nodes/1/colour", "/nodes/1/position", "/nodes/1/type", "/nodes/2/id"]);
    let two =
        server.send("PUT", &at, json!({"nodes": [{"type": "a", "position": 5}, {"type": "b", "position": 5}]})).await;
    assert_eq!(two.problem(422, "invalid").text("pointer"), "/nodes/1/position");
    for (body, pointer) in [
        (json!({}), "/nodes"),
        (json!({"nodes": {}}), "/nodes"),
        (json!({"nodes": [], "workflow": {"name": 1}}), "/workflow/name"),
        (json!({"nodes": [], "title": "x"}), "/title"),
    ] {
        assert_eq!(server.send("PUT", &at, body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    let large = json!({"nodes": [{"type": "a", "config": {"x": "y".repeat(2 << 20)}}]});
    server.send("PUT", &at, large).await.problem(413, "too_large");
    assert_eq!(order(&server, &at).await, ["node_123", "node_124"]);
    server.send("PUT", &at, json!({"nodes": []})).await.is(200);
    assert_eq!(create(&server, &at, json!({"type": "a"})).await.is(200).text("id"), "node_125");
}

#[tokio::test]
async fn results_are_kept_apart_from_the_workflow() {
    let (server, at) = start().await;
    for _ in 0..7 {
        create(&server, &at, json!({"type": "extract"})).await.is(200);
    }
    let node = format!("{at}/nodes/node_7");
    let missing = server.get(&format!("{node}/result")).await.problem(404, "not_found");
    assert!(missing.text("detail").contains("result of the node"), "{}", missing.raw);
    let put = async |body: Value| server.send("PUT", &format!("{node}/result"), body).await;
    let rows = json!(vec![json!({"subject": "Re: Funding", "n": 7}); 100_000]);
    put(json!({"status": "success", "result": {"rows": rows}, "variables": {"emails": rows}})).await.is(204);
    let read = server.get(&format!("{node}/result")).await.is(200).body;
    assert!(read["result"]["rows"] == rows && read["status"] == "success" && read["node"] == "node_7");
    assert_eq!(server.get(&node).await.body["status"], "success");
    assert!(server.get("/v1/sessions/s/variables/node7.emails").await.is(200).body["value"] == rows);
    let workflow = server.get(&at).await;
    assert!(!workflow.raw.contains("Funding") && workflow.body["workflow"]["version"] == 7);
    let entry = server.get("/v1/sessions/s/journal?types=node.result_recorded").await.is(200);
    assert!(entry.raw.len() < 2000, "{}", entry.raw.len());
    for value in [json!(null), json!(false), json!(0), json!(""), json!([]), json!({"b": 1, "a": [0.1]})] {
        put(json!({"status": "failed", "result": value})).await.is(204);
        let read = server.get(&format!("{node}/result")).await.is(200).body;
        assert_eq!((&read["result"], &read["status"]), (&value, &json!("failed")));
    }
    let head = server.get("/v1/sessions/s").await.head();
    for (body, pointer) in [
        (json!({}), "/status"),
        (json!({"status": "done", "result": 1}), "/status"),
        (json!({"status": "not_run", "result": 1}), "/status"),
        (json!({"status": "success", "variables": {"node8.x": 1}}), "/variables/node8.x"),
        (json!({"status": "success", "variables": {"ok": 1, "a\nb": 1}}), "/variables/a\nb"),
        (json!({"status": "success", "variables": []}), "/variables"),
    ] {
        assert_eq!(put(body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    put(json!({"status": "success", "result": "x".repeat(17 << 20)})).await.problem(413, "too_large");
    assert_eq!(server.get("/v1/sessions/s").await.head(), head, "all or nothing");
    let none = json!({"status": "success", "result": 1});
    server.send("PUT", &format!("{at}/nodes/node_8/result"), none).await.problem(404, "not_found");
    server.delete(&node).await.is(204);
    server.get(&format!("{node}/result")).await.problem(404, "not_found");
    server.get("/v1/sessions/s/variables/node7.emails").await.problem(404, "not_found");
}

#[tokio::test]
async fn secrets_in_nodes_and_results_are_sealed() {
    let (server, at) = start_with_key().await;
    let login = json!({"action": "login", "form": {"user": "ann", "password": "hunter2-and-more"}});
    let made = create(&server, &at, json!({"type": "login", "config": login})).await.is(200);
    assert_eq!(made.body["config"]["form"]["password"], "[hidden]");
    // What was read can be written back, and a new secret can be given.
    let node = format!("{at}/nodes/node_1");
    let mut config = made.body["config"].clone();
    config["wait"] = 2.into();
    server.send("PATCH", &node, json!({"config": config})).await.is(200);
    let workflow = server.get(&at).await.body;
    server.send("PUT", &at, json!({"nodes": workflow["nodes"]})).await.is(200);
    config["form"]["password"] = "another-password".into();
    let changed = server.send("PATCH", &node, json!({"config": config})).await.is(200);
    assert_eq!(changed.body["config"]["form"]["password"], "[hidden]");
    let copied = json!({"type": "login", "config": {"password": "[hidden]"}});
    let refused = create(&server, &at, copied).await.problem(422, "invalid");
    assert_eq!(refused.text("pointer"), "/config/password");
    let result = json!({"status": "success", "variables": {"token": "token-of-the-day"},
        "result": {"sessionToken": "token-of-the-session", "page": "hello hunter2-and-more"}});
    server.send("PUT", &format!("{node}/result"), result).await.is(204);
    let read = server.get(&format!("{node}/result")).await.is(200).body["result"].clone();
    assert_eq!(read["sessionToken"], "[hidden]");
    assert_eq!(read["page"], "hello [hidden]");
    let message = "use another-password or token-of-the-day or token-of-the-session";
    server.say("/v1/sessions/s", "main", message).await;
    let journal = server.get("/v1/sessions/s/journal").await.is(200).raw;
    for secret in ["hunter2-and-more", "another-password", "token-of-the-day", "token-of-the-session"] {
        assert!(!journal.contains(secret), "{secret} is in the journal");
    }
    let told = "use [hidden] or [hidden] or [hidden]";
    assert!(journal.contains(told), "{journal}");
    assert_eq!(server.get("/v1/sessions/s/variables/node1.token?reveal=true").await.body["value"], "token-of-the-day");
    // With the node its secrets go, where the user deletes it.
    server.delete(&node).await.is(204);
    server.say("/v1/sessions/s", "main", "another-password").await;
    assert!(server.get("/v1/sessions/s/threads/main/messages").await.raw.contains("\"another-password\""));
}

#[tokio::test]
async fn workers_see_the_workflow_where_it_is_shared_and_never_change_it() {
    let (server, at) = start().await;
    create(&server, &at, json!({"type": "a"})).await.is(200);
    let result = json!({"status": "success", "result": "r"});
    server.send("PUT", &format!("{at}/nodes/node_1/result"), result.clone()).await.is(204);
    for path in ["", "/nodes/node_1", "/nodes/node_1/result", "/nodes/node_9"] {
        server.get(&format!("{at}{path}?as=writer")).await.problem(404, "not_found");
    }
    let forbidden =
        [("PUT", ""), ("PATCH", ""), ("POST", "/nodes"), ("PATCH", "/nodes/node_9"), ("PUT", "/nodes/node_9/result")];
    for (method, path) in forbidden {
        server.send(method, &format!("{at}{path}?as=writer"), json!({"broken": 1})).await.problem(403, "forbidden");
    }
    server.delete(&format!("{at}/nodes/node_9?as=writer")).await.problem(403, "forbidden");
    server.send("PATCH", "/v1/sessions/s", json!({"share": ["workflow"]})).await.is(200);
    for path in ["", "/nodes/node_1", "/nodes/node_1/result"] {
        server.get(&format!("{at}{path}?as=writer")).await.is(200);
    }
    server.send("POST", &format!("{at}/nodes?as=lead"), json!({"type": "b"})).await.is(200);
    server.send("PUT", &format!("{at}/nodes/node_2/result?as=lead"), result).await.is(204);
    server.delete(&format!("{at}/nodes/node_2?as=lead")).await.is(204);
}

#[tokio::test]
async fn many_who_write_at_once_lose_no_node() {
    let (server, at) = start().await;
    let made = (0..16).map(|n| create(&server, &at, json!({"type": "a", "position": 1, "description": n.to_string()})));
    let made = futures::future::join_all(made).await;
    let mut ids: Vec<_> = made.into_iter().map(|answer| answer.is(200).text("id").to_owned()).collect();
    let mut there = order(&server, &at).await;
    ids.sort_unstable();
    there.sort_unstable();
    assert_eq!((there.len(), there), (16, ids));
    let call =
        || server.call("POST", &format!("{at}/nodes")).header("idempotency-key", "k").json(&json!({"type": "b"}));
    let (first, second) = (Answer::of(call()).await.is(200), Answer::of(call()).await.is(200));
    assert_eq!((first.text("id"), first.body.clone()), ("node_17", second.body));
}

#[tokio::test]
async fn models_build_the_workflow_by_tools() {
    let (server, at) = start_with_key().await;
    let call = async |agent: &str, tool: &str, arguments: Value| {
        let body = json!({"agent": agent, "arguments": arguments});
        server.send("POST", &format!("/v1/sessions/s/tools/{tool}"), body).await
    };
    let told =
        async |tool: &str, arguments: Value| call("lead", tool, arguments).await.is(200).text("result").to_owned();
    let config = json!({"action": "navigate", "url": "https://mail.google.com"});
    let node =
        json!({"type": "browser_action", "config": config, "description": "Navigate to Gmail", "reason": "begin"});
    assert_eq!(told("create_node", node).await, "Node created with ID node_1");
    let login = json!({"type": "login", "position": 1, "config": {"password": "hunter2-and-more", "then": "node_1"}});
    assert_eq!(told("create_node", login).await, "Node created with ID node_2");
    assert_eq!(order(&server, &at).await, ["node_2", "node_1"]);
    let moved = json!({"nodeId": "node_2", "position": 2.0, "config": {"password": "another-password"}});
    assert_eq!(told("update_node", moved).await, "Node node_2 updated successfully");
    let node: Value = serde_json::from_str(&told("get_node", json!({"nodeId": 2})).await).unwrap();
    assert_eq!((&node["position"], &node["config"]["password"]), (&json!(2), &json!("[hidden]")));
    assert_eq!(told("get_node_result", json!({"nodeId": "node_1"})).await, "node_1 has no result yet.");
    let long = json!({"page": "word ".repeat(20_000)});
    server
        .send("PUT", &format!("{at}/nodes/node_1/result"), json!({"status": "success", "result": long}))
        .await
        .is(204);
    let result = told("get_node_result", json!({"nodeId": "node_1"})).await;
    assert_eq!(result, page_text(&long.to_string()), "what is read in a browser is data");
    let part = told("get_node_result", json!({"nodeId": "node_1", "limit": 9})).await;
    assert!(part.starts_with("<page_text") && part.ends_with("\n</page_text>"), "{part}");
    for (tool, arguments) in [
        ("create_node", json!({})),
        ("create_node", json!({"type": "a", "config": {"to": "node_9"}})),
        ("create_node", json!({"type": "a", "status": "success"})),
        ("update_node", json!({"type": "a"})),
        ("update_node", json!({"nodeId": "seven", "type": "a"})),
        ("update_node", json!({"nodeId": 1})),
        ("get_node", json!({})),
    ] {
        call("lead", tool, arguments).await.tool_error();
    }
    for tool in ["get_node", "get_node_result", "delete_node"] {
        call("lead", tool, json!({"nodeId": "node_9"})).await.tool_error();
    }
    assert_eq!(
        told("delete_node", json!({"nodeId": 2, "reason": "no need"})).await,
        "Node node_2 deleted successfully"
    );
    let journal = server.get("/v1/sessions/s/journal").await.is(200).raw;
    assert!(!journal.contains("hunter2") && !journal.contains("another-password"), "{journal}");
    assert!(journal.contains(r#""by":"agent:lead","type":"node.deleted""#), "{journal}");
    let names = async |agent: &str| {
        let tools = server.get(&format!("/v1/sessions/s/tools?agent={agent}")).await.is(200).raw;
        ["create_node", "update_node", "delete_node", "get_node", "get_node_result"]
            .map(|tool| tools.contains(&format!("\"{tool}\"")))
    };
    assert_eq!((names("lead").await, names("writer").await), ([true; 5], [false; 5]));
    for tool in ["create_node", "update_node", "delete_node"] {
        call("writer", tool, json!({"broken": true})).await.tool_error();
    }
    call("writer", "get_node", json!({"nodeId": "node_1"})).await.tool_error();
    server.send("PATCH", "/v1/sessions/s", json!({"share": ["workflow"]})).await.is(200);
    assert_eq!(names("writer").await, [false, false, false, true, true]);
    call("writer", "get_node", json!({"nodeId": "node_1"})).await.is(200);
}

#[tokio::test]
async fn secrets_in_calls_of_tools_that_a_loop_of_ones_own_records_are_hidden() {
    let (server, at) = start_with_key().await;
    create(&server, &at, json!({"type": "login"})).await.is(200);
    let arguments = json!({"nodeId": "node_1", "config": {"password": "hunter2-and-more"}});
    let call = json!({"id": "c1", "name": "update_node", "arguments": arguments});
    let messages = json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]});
    server.send("POST", "/v1/sessions/s/threads/main/messages", messages).await.is(200);
    let journal = server.get("/v1/sessions/s/journal").await.is(200).raw;
    assert!(!journal.contains("hunter2") && journal.contains("[hidden]"), "{journal}");
}
