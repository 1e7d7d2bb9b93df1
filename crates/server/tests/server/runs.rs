//! A whole team at work, started and answered over HTTP.

use callboard_model::scripted::{Reply, Scripted, first_text};
use serde_json::{Value, json};

use crate::{
    fixtures::{Answer, Server, asking, sqlite},
    streams::{events, next},
};

/// A manager that asks the user for a port, has the writer write, and ends; and a writer that writes.
fn team_script(request: &Value) -> Reply {
    let said = request["messages"].to_string();
    if !first_text(request).contains("lead") || request.get("response_format").is_none() {
        return Reply::text("A page on tides.");
    }
    if said.contains("A page on tides.") {
        return Reply::json(&json!({"messageTo": "user", "message": "It is written.", "workflowComplete": true}));
    }
    if said.contains("Port: 8080") {
        return Reply::json(&json!({"messageTo": "writer", "message": "Write the page."}));
    }
    let field = json!({"key": "port", "valueType": "NUMBER", "label": "Port", "required": true});
    Reply::json(&json!({"isInfoRequest": true, "message": "Which port?", "form": {"name": "Where", "fields": [field]}}))
}

#[tokio::test]
async fn a_team_goes_on_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.db");
    let endpoint = Scripted::start(|request, nth| match nth {
        // Of the first answer only a beginning comes, and then the server is killed.
        0 => Reply::stall("{\"isInfoRequest\""),
        _ => team_script(request),
    });
    let server = Server::with(sqlite(&path).await, asking(&endpoint)).await;
    let team = server.team("s").await;
    let mut all = events(server.call("GET", &format!("{team}/events?after=0"))).await;
    let run = server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "Write on tides."})).await;
    let run = format!("{team}/runs/{}", run.is(201).text("id"));
    let (mut last, mut deltas) = (0, 0);
    while deltas == 0 {
        let event = next(&mut all).await.unwrap();
        if event.event == "turn.delta" {
            deltas += 1;
            assert!(event.data.contains("isInfoRequest") && event.id == last.to_string());
        } else {
            last = event.id.parse::<u64>().unwrap();
        }
    }
    server
        .send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "x"}))
        .await
        .problem(409, "run_unfinished");
    drop(all);
    server.kill().await;

    let server = Server::with(sqlite(&path).await, asking(&endpoint)).await;
    let call = server.call("GET", &format!("{team}/events")).header("Last-Event-ID", last.to_string());
    let mut all = events(call).await;
    let (mut types, mut answered) = (Vec::new(), false);
    loop {
        let event = next(&mut all).await.unwrap();
        if event.event == "turn.delta" {
            continue;
        }
        let seq = event.id.parse::<u64>().unwrap();
        assert_eq!(seq, last + 1, "nothing is missed and nothing comes twice");
        last = seq;
        let is_form = event.event == "context_set.updated" && event.data.contains("\"answered\":false");
        types.push(event.event);
        if is_form && !answered {
            answered = true;
            assert_eq!(server.get(&run).await.is(200).body["form"], "Where");
            let answers = json!({"answers": {"port": 8080}});
            server.send("POST", &format!("{team}/forms/Where"), answers).await.is(200);
        }
        if types.last().unwrap() == "run.ended" {
            break;
        }
    }
    let done = server.get(&run).await.is(200);
    assert_eq!(done.body["status"], "completed", "{}", done.raw);
    assert!(answered);
    assert_eq!(types.iter().filter(|kind| *kind == "turn.answered").count(), 4, "{types:?}");
    assert_eq!(endpoint.requests().len(), 5, "only the turn that was cut off was asked again");
    server.stop().await;
}

#[tokio::test]
async fn a_run_waits_for_the_results_of_its_callers_tools() {
    let endpoint = Scripted::start(|request, _| {
        let said = request["messages"].to_string();
        if request.get("response_format").is_some() {
            let end = json!({"messageTo": "user", "message": "Done.", "workflowComplete": true});
            let begin = json!({"messageTo": "writer", "message": "Look it up."});
            return Reply::json(if said.contains("12 metres") { &end } else { &begin });
        }
        if said.contains("12 m high") {
            return Reply::text("The tide is 12 metres high.");
        }
        Reply::tool_calls([("tide", json!({"place": "Fundy"}))])
    });
    let server = Server::asking(&endpoint).await;
    let agents = json!([
        {"name": "lead", "role": "manager"},
        {"name": "writer", "role": "worker", "tools": [{"name": "tide", "parameters": {"type": "object"}}]},
    ]);
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents})).await.is(201);
    let mut all = events(server.call("GET", "/v1/sessions/s/events?after=0")).await;
    let started = server.send("POST", "/v1/sessions/s/runs", json!({"kind": "team", "input": "go"})).await.is(201);
    let run = format!("/v1/sessions/s/runs/{}", started.text("id"));
    while next(&mut all).await.unwrap().event != "run.ended" {
        let now = server.get(&run).await.is(200);
        if now.body["status"] == "awaiting_tool" {
            let call = &now.body["tool_calls"][0];
            assert_eq!((&now.body["agent"], &call["name"]), (&json!("writer"), &json!("tide")));
            let path = format!("{run}/tool-results");
            let wrong = json!({"results": [{"tool_call_id": "none", "content": "x"}]});
            server.send("POST", &path, wrong).await.problem(409, "no_tool_call");
            let results = json!({"results": [{"tool_call_id": call["id"], "content": "12 m high"}]});
            server.send("POST", &path, results).await.is(200);
        }
    }
    assert_eq!(server.get(&run).await.is(200).body["status"], "completed");
    server.send("POST", &format!("{run}/cancel"), json!({})).await.problem(409, "run_ended");
}

#[tokio::test]
async fn a_worker_gives_no_result_of_a_call_of_the_manager() {
    let (server, team) = Server::with_team().await;
    server.say(&team, "main", "Welcome.").await;
    let messages = format!("{team}/threads/main/messages");
    let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "tide"}]});
    server.send("POST", &format!("{messages}?as=lead"), json!({"messages": [call]})).await.is(200);
    let forged = json!({"role": "tool", "tool_call_id": "c1", "content": "It is low."});
    let token = server.token(&team, "writer").await;
    let forged = server.call("POST", &messages).bearer_auth(&token).json(&json!({"messages": [forged]}));
    Answer::of(forged).await.problem(403, "forbidden");
    let ask = json!({"agent": "lead", "thread": "main", "format": "openai"});
    let prompt = server.send("POST", &format!("{team}/prompt"), ask).await.is(200);
    assert!(!prompt.raw.contains("It is low."), "{}", prompt.raw);
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled() {
    let (server, team) = Server::with_team().await;
    let started = server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "go"})).await.is(201);
    let run = format!("{team}/runs/{}", started.text("id"));
    let paused = server.send("POST", &format!("{run}/pause"), json!({"reason": "lunch"})).await.is(200);
    assert_eq!((&paused.body["status"], &paused.body["reason"]), (&json!("paused"), &json!("lunch")));
    let resumed = Answer::of(server.call("POST", &format!("{run}/resume"))).await.is(200);
    assert_eq!(resumed.body["status"], "running");
    let cancelled = Answer::of(server.call("POST", &format!("{run}/cancel"))).await.is(200);
    assert_eq!(cancelled.body["status"], "cancelled");
    server.send("POST", &format!("{run}/resume"), json!({})).await.problem(409, "run_ended");
    server.get(&format!("{team}/runs/none")).await.problem(404, "not_found");

    let second = server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "go on"})).await.is(201);
    let read = server.get(&run).await.is(200);
    assert_eq!(read.body, cancelled.body, "as it ended, though another one was started since");
    for verb in ["pause", "resume", "cancel"] {
        server.send("POST", &format!("{run}/{verb}"), json!({})).await.problem(409, "run_ended");
    }
    let listed = server.get(&format!("{team}/runs")).await.is(200);
    let ids: Vec<_> = listed.body["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, [&second.body["id"], &cancelled.body["id"]]);
    assert_eq!(listed.body["runs"][1], cancelled.body);
    server.get(&format!("{team}/runs/r7")).await.problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn a_server_stops_while_a_model_is_asked() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    let server = Server::asking(&endpoint).await;
    let team = server.team("s").await;
    server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "go"})).await.is(201);
    let endpoint = tokio::task::spawn_blocking(move || {
        assert!(endpoint.wait_for(1, crate::fixtures::PATIENCE));
        endpoint
    });
    let endpoint = endpoint.await.unwrap();
    server.stop().await;
    drop(endpoint);
}
