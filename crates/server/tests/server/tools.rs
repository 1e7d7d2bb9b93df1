//! Callboard's own tools over HTTP, for those who drive models themselves.

use serde_json::{Value, json};

use crate::fixtures::Server;

/// A session whose tools are called.
async fn board() -> (Server, String) {
    let (server, team) = Server::with_team().await;
    server.send("PUT", &format!("{team}/context-sets/Brief"), json!({"content": "Two pages."})).await.is(200);
    (server, team)
}

#[tokio::test]
async fn tools_are_listed_as_the_apis_of_models_take_them() {
    let (server, team) = board().await;
    let list = async |query: &str| server.get(&format!("{team}/tools{query}")).await.is(200).body["tools"].clone();
    let names = |tools: &Value, at: &str| {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool.pointer(at).unwrap().as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let all = list("").await;
    assert_eq!(all[0]["type"], "function");
    assert_eq!(all[0]["function"]["parameters"]["required"], json!(["name"]));
    let for_writer = list("?agent=writer&format=anthropic").await;
    assert_eq!(for_writer[0]["input_schema"]["additionalProperties"], false);
    assert!(names(&all, "/function/name").contains("write_context_set"));
    assert!(!names(&for_writer, "/name").contains("write_context_set"), "workers write no sets");
    server.send("PATCH", &team, json!({"grant": ["context_sets"]})).await.is(200);
    assert!(names(&list("?as=writer").await, "/function/name").contains("write_context_set"));
    server.get(&format!("{team}/tools?format=text")).await.problem(422, "invalid");
    server.get(&format!("{team}/tools?agent=nobody")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_tool_is_called_with_the_rights_of_the_agent() {
    let (server, team) = board().await;
    let call = async |tool: &str, body: Value| server.send("POST", &format!("{team}/tools/{tool}"), body).await;
    let read = json!({"arguments": {"name": "Brief"}});
    assert_eq!(call("read_context_set", read.clone()).await.is(200).text("result"), "Two pages.");
    let write = |agent: &str| json!({"agent": agent, "arguments": {"name": "Brief", "content": "Three pages."}});
    let failed = async |tool: &str, body: Value| call(tool, body).await.tool_error();
    let refused = failed("write_context_set", write("writer")).await;
    assert!(refused.starts_with("[not done: writer may not") && refused.contains("ask the manager"), "{refused}");
    let written = call("write_context_set", write("lead")).await.is(200);
    assert_eq!(written.text("result"), "The context set Brief is changed.");
    let entries = server.get(&format!("{team}/journal?types=context_set.updated")).await.body;
    assert_eq!(entries["entries"][1]["by"], "agent:lead");
    assert_eq!(call("read_context_set", read).await.text("result"), "Three pages.");
    // The arguments may be the text of an object, as some models give them.
    let text = json!({"arguments": "{\"name\": \"Brief\"}"});
    assert_eq!(call("read_context_set", text).await.text("result"), "Three pages.");
    let refused = failed("read_context_set", json!({"arguments": {"nam": "Brief"}})).await;
    assert!(refused.contains("/arguments") && refused.contains("nam"), "{refused}");
    let refused = failed("read_context_set", json!({"arguments": {"name": "None"}})).await;
    assert!(refused.contains("there is no context set \"None\""), "{refused}");
    call("dance", json!({})).await.problem(404, "not_found");
}

#[tokio::test]
async fn an_agents_token_uses_the_agents_own_tools_alone() {
    let (server, team) = board().await;
    let token = server.token(&team, "writer").await;
    let call = async |method: &str, path: &str, body: Value| {
        let call = server.call(method, &format!("{team}/{path}")).bearer_auth(&token).json(&body);
        crate::fixtures::Answer::of(call).await
    };
    call("GET", "tools?agent=writer", json!(null)).await.is(200);
    call("GET", "tools?agent=lead", json!(null)).await.problem(403, "forbidden");
    call("GET", "tools?agent=nobody", json!(null)).await.problem(403, "forbidden");
    let read = |agent: &str| json!({"agent": agent, "arguments": {"name": "Brief"}});
    call("POST", "tools/read_context_set", read("writer")).await.is(200);
    call("POST", "tools/read_context_set", read("lead")).await.problem(403, "forbidden");
    call("POST", "tools/dance", read("nobody")).await.problem(403, "forbidden");
}

#[tokio::test]
async fn a_call_that_changes_something_is_done_once_under_its_key() {
    let (server, team) = board().await;
    let write = async |content: &str| {
        let body = json!({"arguments": {"name": "New", "content": content}});
        let call = server.call("POST", &format!("{team}/tools/write_context_set"));
        crate::fixtures::Answer::of(call.header("Idempotency-Key", "k1").json(&body)).await
    };
    let (first, again) = (write("x").await.is(200), write("x").await.is(200));
    assert_eq!(first.text("result"), "The context set New is made.");
    assert_eq!(first.raw, again.raw);
    write("y").await.problem(422, "idempotency_key_reused");
    let stale =
        server.call("POST", &format!("{team}/tools/read_messages")).header("If-Match", "\"1\"").json(&json!({}));
    crate::fixtures::Answer::of(stale).await.is(412);
}

#[tokio::test]
async fn without_agents_the_user_calls_tools_himself() {
    let server = Server::start().await;
    server.send("POST", "/v1/sessions", json!({"id": "bare"})).await.is(201);
    let body = json!({"arguments": {"name": "Note", "content": "x"}});
    server.send("POST", "/v1/sessions/bare/tools/write_context_set", body).await.is(200);
    let read = server.send("POST", "/v1/sessions/bare/tools/read_messages", json!({})).await.is(200);
    assert_eq!(read.text("result"), "[]");
}

#[tokio::test]
async fn the_tools_of_an_agent_are_described_or_named() {
    let server = Server::start().await;
    let look = json!({"name": "look", "parameters": {"type": "object"}});
    let agents = |tools: Value| json!([{"name": "lead", "role": "manager", "tools": tools}]);
    let named = agents(json!(["callboard:set_variable", "read_messages", look]));
    let made = server.send("POST", "/v1/sessions", json!({"id": "t", "agents": named})).await.is(201).body;
    let names = |session: &Value| {
        let tools = session["agents"][0]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&made), ["callboard:set_variable", "callboard:read_messages", "look"]);
    let patch = json!({"agents": agents(json!(["callboard:read"]))});
    let patched = server.send("PATCH", "/v1/sessions/t", patch).await.is(200).body;
    assert_eq!(names(&patched), ["callboard:read"]);
    let thread = server.send("PUT", "/v1/sessions/t/threads/main", json!({"tools": ["search"]})).await.is(200).body;
    assert_eq!(thread["tools"][0]["name"], "callboard:search");
    let unknown = json!({"agents": agents(json!(["callboard:read", "dance"]))});
    let problem = server.send("PATCH", "/v1/sessions/t", unknown).await;
    let problem = problem.problem(422, "invalid").body;
    assert_eq!(problem["errors"][0]["pointer"], "/agents/0/tools/1/name", "{problem}");
    let odd = json!({"agents": agents(json!([7]))});
    server.send("PATCH", "/v1/sessions/t", odd).await.problem(422, "invalid");
}

#[tokio::test]
async fn what_is_long_is_read_in_parts_and_older_messages_by_an_id() {
    let (server, team) = board().await;
    let call = async |tool: &str, arguments: Value| {
        let called = server.send("POST", &format!("{team}/tools/{tool}"), json!({ "arguments": arguments })).await;
        called.is(200).text("result").to_owned()
    };
    let part = call("read_context_set", json!({"name": "Brief", "limit": 3})).await;
    assert_eq!(part, "Two\n[7 more characters: go on with offset 3]");
    assert_eq!(call("read_context_set", json!({"name": "Brief", "offset": 4})).await, "pages.");
    for day in 0..3 {
        server.say(&team, "main", &format!("Day {day}.")).await;
    }
    let newest: Value = serde_json::from_str(&call("read_messages", json!({"limit": 2})).await).unwrap();
    assert_eq!((&newest[0]["content"], &newest[1]["content"]), (&json!("Day 1."), &json!("Day 2.")));
    let older = call("read_messages", json!({"before": newest[0]["id"]})).await;
    assert!(older.contains("Day 0.") && !older.contains("Day 1."), "{older}");
}
