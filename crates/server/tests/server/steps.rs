//! Going through the steps over HTTP.

use serde_json::{Value, json};

use crate::fixtures::Server;

fn steps() -> Value {
    json!([
        {"name": "research", "description": "Find out.", "conditions": [{"type": "tool_used", "value": "search"}],
         "available_tools": {"denied": ["post*"]}, "sequence": ["read", "note"]},
        {"name": "begin", "description": "Begin here.", "is_default": true},
    ])
}

async fn board() -> (Server, String) {
    let server = Server::start().await;
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "ann", "role": "worker"}]);
    let new = json!({"id": "s", "agents": agents, "steps": steps()});
    let made = server.send("POST", "/v1/sessions", new).await.is(201);
    assert_eq!(made.body["steps"], steps());
    (server, "/v1/sessions/s/orchestration".to_owned())
}

#[tokio::test]
async fn tools_that_are_used_lead_through_the_steps() {
    let (server, at) = board().await;
    let before = server.get(&at).await.is(200).body;
    let usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    assert_eq!(before["cumulative_token_usage"], usage);
    assert_eq!((&before["active_step"], &before["sequence_index"]), (&json!("begin"), &json!(0)));
    assert_eq!((&before["recently_used_tools"], &before["ttl_seconds"]), (&json!([]), &json!(86400)));

    let used = async |tool: &str| server.send("POST", &format!("{at}/tools"), json!({ "tool": tool })).await;
    let after = used("search").await.is(200).body;
    assert_eq!((&after["active_step"], &after["sequence_index"]), (&json!("research"), &json!(0)));
    let refused = used("note").await.problem(409, "tool_out_of_turn");
    assert!(refused.raw.contains("read is due"), "{}", refused.raw);
    used("read").await.is(200);
    let after = server.send("POST", &format!("{at}/advance"), json!({})).await.is(200).body;
    assert_eq!((&after["sequence_index"], &after["recently_used_tools"]), (&json!(2), &json!(["search", "read"])));

    server.send("POST", &format!("{at}/usage"), json!({"prompt_tokens": 7, "completion_tokens": 2})).await.is(200);
    let counted = server.get(&at).await.is(200).body;
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9});
    assert_eq!(counted["cumulative_token_usage"], usage);
    let seen = server.get(&format!("{at}?as=ann")).await.is(200).body;
    assert_eq!(seen["cumulative_token_usage"], Value::Null, "what models used is for those in charge");

    let reset = server.send("POST", &format!("{at}/reset"), json!({})).await.is(200).body;
    assert_eq!(reset["cumulative_token_usage"]["total_tokens"], 0);
    assert_eq!((&reset["active_step"], &reset["recently_used_tools"]), (&json!("begin"), &json!([])));
}

#[tokio::test]
async fn what_may_be_used_now_is_told_with_reasons_and_a_dead_end_names_the_tool() {
    let (server, at) = board().await;
    let offer =
        async |tools: Value| server.send("POST", &format!("{at}/allowed-tools"), json!({ "tools": tools })).await;
    assert_eq!(offer(json!(["read", "post_it"])).await.is(200).body["allowed"], json!(["read", "post_it"]));
    server.send("POST", &format!("{at}/tools"), json!({"tool": "search"})).await.is(200);
    let narrowed = offer(json!(["read", "note", "post_it"])).await.is(200).body;
    assert_eq!(narrowed["allowed"], json!(["read"]));
    assert_eq!(narrowed["denied"][1], json!({"tool": "post_it", "reason": "the step research denies post*"}));
    let refused = offer(json!(["note"])).await.problem(409, "due_tool_missing");
    assert!(refused.raw.contains("the tool read is due"), "{}", refused.raw);
}

#[tokio::test]
async fn a_step_is_set_together_with_the_lifetime_or_neither() {
    let (server, at) = board().await;
    let set = async |patch: Value| server.send("PATCH", &at, patch).await;
    let after = set(json!({"active_step": "research", "sequence_index": 1, "ttl_seconds": 60})).await.is(200).body;
    assert_eq!((&after["active_step"], &after["sequence_index"]), (&json!("research"), &json!(1)));
    assert_eq!(after["ttl_seconds"], 60);
    for wrong in [json!({"ttl_seconds": 0}), json!({"active_step": 5}), json!({"log": []})] {
        set(wrong).await.problem(422, "invalid");
    }
    set(json!({"active_step": "nowhere", "ttl_seconds": 5})).await.problem(409, "no_step");
    set(json!({"sequence_index": 3, "ttl_seconds": 5})).await.problem(409, "beyond_sequence");
    assert_eq!(server.get(&at).await.is(200).body["ttl_seconds"], 60);
    assert_eq!(set(json!({"active_step": null})).await.is(200).body["active_step"], "begin");
}

#[tokio::test]
async fn without_steps_there_is_no_orchestration_state() {
    let (server, team) = Server::with_team().await;
    server.get(&format!("{team}/orchestration")).await.problem(404, "no_orchestration");
    let used = json!({"tool": "search"});
    server.send("POST", &format!("{team}/orchestration/tools"), used).await.problem(404, "no_orchestration");
    let wrong = json!({"steps": [{"name": "a", "conditions": [{"type": "moon"}]}]});
    let refused = server.send("PATCH", &team, wrong).await.problem(422, "invalid");
    assert!(refused.raw.contains("/steps/0/conditions/0"), "{}", refused.raw);
    server.send("PATCH", &team, json!({ "steps": steps() })).await.is(200);
    assert_eq!(server.get(&format!("{team}/orchestration")).await.is(200).body["active_step"], "begin");
}

#[tokio::test]
async fn a_prompt_shows_the_tools_that_are_offered_with_it() {
    let server = Server::start().await;
    let tools = json!([
        {"name": "read", "description": "Reads.", "parameters": {"type": "object", "properties": {"path": {}}}},
        {"name": "post", "idempotent": true},
    ]);
    let agents = json!([{"name": "ann", "role": "worker", "tools": tools}]);
    let steps = json!([{"name": "a", "is_default": true, "available_tools": {"denied": ["look"]}}]);
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents, "steps": steps})).await.is(201);
    let prompt =
        async |format: &str| server.send("POST", "/v1/sessions/s/prompt", json!({ "format": format })).await.is(200);
    let schema = json!({"type": "object", "properties": {"path": {}}});
    assert_eq!(
        prompt("openai").await.body["tools"],
        json!([
            {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": schema}},
            {"type": "function", "function": {"name": "post", "description": "", "parameters": {"type": "object", "properties": {}}}},
        ])
    );
    assert_eq!(
        prompt("anthropic").await.body["tools"],
        json!([
            {"name": "read", "description": "Reads.", "input_schema": schema},
            {"name": "post", "description": "", "input_schema": {"type": "object", "properties": {}}},
        ])
    );
    assert_eq!(prompt("text").await.body.get("tools"), None);
    // Only those that may be used now.
    let steps = json!([{"name": "a", "is_default": true, "available_tools": {"denied": ["post"]}}]);
    server.send("PATCH", "/v1/sessions/s", json!({ "steps": steps })).await.is(200);
    let offered = prompt("anthropic").await.body;
    assert_eq!((offered["tools"].as_array().unwrap().len(), &offered["tools"][0]["name"]), (1, &json!("read")));
}
