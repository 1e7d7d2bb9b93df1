//! Variables.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

/// A server with a session, and the address of its variables.
async fn start() -> (Server, String, String) {
    let (server, team) = Server::with_team().await;
    let variables = format!("{team}/variables");
    (server, team, variables)
}

/// The same where secrets can be sealed.
async fn start_with_key() -> (Server, String, String) {
    let server = Server::start_with_key().await;
    let team = server.team("s").await;
    let variables = format!("{team}/variables");
    (server, team, variables)
}

fn set(value: &Value) -> Value {
    json!({"value": value, "reason": "to try it"})
}

#[tokio::test]
async fn any_value_is_set_listed_and_read_back() {
    let (server, team, variables) = start().await;
    let values = json!([null, false, 0, "", [], {}, 1.5, "gmail_inbox", [{"b": 1, "a": [2, {"c": null}]}]]);
    for value in values.as_array().unwrap() {
        let answer = server.send("PUT", &format!("{variables}/node7.it"), set(value)).await.is(200);
        assert_eq!((answer.text("name"), &answer.body["secret"]), ("node7.it", &json!(false)));
        assert!(answer.headers.contains_key("etag"), "the head can be given in If-Match");
        let read = server.get(&format!("{variables}/node7.it")).await.is(200);
        assert_eq!(read.body["value"], *value);
    }
    server.send("PUT", &format!("{variables}/a%2Fb"), set(&json!("x"))).await.is(200);
    let list = server.get(&variables).await.is(200);
    let shown = |list: &Answer| {
        let all = list.body["variables"].as_array().unwrap().iter();
        all.map(|one| format!("{} = {}", one["name"], one["display"])).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&list),
        ["\"a/b\" = \"\\\"x\\\"\"", "\"node7.it\" = \"[{\\\"b\\\": 1, \\\"a\\\": [2, {\\\"c\\\": null}]}]\""]
    );
    let page = server.get(&format!("{variables}?limit=1")).await.is(200);
    assert_eq!(page.body["variables"].as_array().unwrap().len(), 1);
    let rest = server.get(&format!("{variables}?cursor={}", page.text("next_cursor"))).await.is(200);
    assert_eq!(rest.body["variables"][0]["name"], "node7.it");
    let journal = server.get(&format!("{team}/journal?types=variable.set")).await.is(200);
    let entries = journal.body["entries"].as_array().unwrap();
    assert_eq!(
        (entries.len(), &entries[0]["by"], &entries[0]["data"]["reason"]),
        (10, &json!("user"), &json!("to try it"))
    );
}

#[tokio::test]
async fn variables_are_cleared_one_by_one_or_all() {
    let (server, team, variables) = start().await;
    for name in ["one", "two", "three"] {
        server.send("PUT", &format!("{variables}/{name}"), set(&json!(1))).await.is(200);
    }
    server.delete(&format!("{variables}/one")).await.problem(422, "invalid");
    server.delete(&format!("{variables}/one?reason=again")).await.is(204);
    server.get(&format!("{variables}/one")).await.problem(404, "not_found");
    server.delete(&format!("{variables}/one?reason=again")).await.problem(404, "not_found");
    server.delete(&variables).await.problem(422, "invalid");
    server.delete(&format!("{variables}?reason=a%20clean%20test&as=lead")).await.is(204);
    assert_eq!(server.get(&variables).await.is(200).body["variables"], json!([]));
    server.delete(&format!("{variables}?reason=once%20more")).await.is(204);
    let journal = server.get(&format!("{team}/journal?types=variable.cleared")).await.is(200);
    let told = journal.body["entries"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|entry| format!("{} {}", entry["by"].as_str().unwrap(), entry["data"])).collect();
    assert_eq!(told, [r#"user {"name":"one","reason":"again"}"#, r#"agent:lead {"reason":"a clean test"}"#]);
}

#[tokio::test]
async fn workers_read_variables_where_the_session_shares_them_and_set_none() {
    let (server, team, variables) = start().await;
    let (one, by_writer) = (format!("{variables}/one"), format!("{variables}/one?as=writer"));
    server.send("PUT", &format!("{one}?as=lead"), set(&json!(1))).await.is(200);
    server.get(&format!("{variables}?as=lead")).await.is(200);
    server.get(&by_writer).await.problem(403, "forbidden");
    server.get(&format!("{variables}?as=writer")).await.problem(403, "forbidden");
    server.send("PATCH", &team, json!({"share": ["variables"]})).await.is(200);
    assert_eq!(server.get(&by_writer).await.is(200).body["value"], 1);
    assert_eq!(server.get(&format!("{variables}?as=writer")).await.is(200).body["variables"][0]["display"], "1");
    server.send("PUT", &by_writer, set(&json!(2))).await.problem(403, "forbidden");
    server.delete(&format!("{one}?reason=r&as=writer")).await.problem(403, "forbidden");
    server.delete(&format!("{variables}?reason=r&as=writer")).await.problem(403, "forbidden");
    server.get(&format!("{one}?as=stranger")).await.problem(404, "not_found");
}

#[tokio::test]
async fn secrets_are_not_revealed_to_agents() {
    let (server, _, variables) = start().await;
    let one = format!("{variables}/one");
    server.send("PUT", &one, set(&json!(1))).await.is(200);
    server.get(&format!("{one}?reveal=true&as=lead")).await.problem(403, "forbidden");
    assert_eq!(server.get(&format!("{one}?reveal=true")).await.is(200).body["value"], 1);
    server.get(&format!("{one}?reveal=maybe")).await.problem(422, "invalid");
}

#[tokio::test]
async fn what_is_wrong_with_a_variable_is_said_with_its_place() {
    let (server, team, variables) = start().await;
    let one = format!("{variables}/one");
    let head = server.get(&team).await.head();
    let put = async |body: Value| server.send("PUT", &one, body).await;
    for (body, pointer) in [
        (json!({"value": 1}), "/reason"),
        (json!({"value": 1, "reason": " "}), "/reason"),
        (json!({"value": 1, "reason": "x".repeat(1001)}), "/reason"),
        (json!({"reason": "r"}), "/value"),
        (json!({"value": 1, "reason": "r", "secret": "yes"}), "/secret"),
        (json!({"value": 1, "reason": "r", "surprise": 1}), "/surprise"),
    ] {
        assert_eq!(put(body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    let nested = |depth: usize| format!("{{\"value\": {}{}, \"reason\": \"r\"}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [65, 200, 10_000, 1_000_000] {
        let call = server.call("PUT", &one).header("content-type", "application/json").body(nested(depth));
        let answer = Answer::of(call).await.problem(422, "invalid");
        assert_eq!(answer.text("pointer"), "/value", "{}", answer.raw);
        assert!(answer.text("detail").contains("nested too deep"), "{}", answer.raw);
    }
    let call = server.call("PUT", &one).header("content-type", "application/json").body(nested(64));
    Answer::of(call).await.is(200);
    server.delete(&format!("{one}?reason=r")).await.is(204);
    for name in ["all", "a%0Ab", "%20", &"x".repeat(201)] {
        server.send("PUT", &format!("{variables}/{name}"), set(&json!(1))).await.problem(422, "invalid");
    }
    server.send("PUT", "/v1/sessions/none/variables/x", set(&json!(1))).await.problem(404, "not_found");
    assert_eq!(server.get(&team).await.head(), head + 2, "what was refused has changed nothing");
}

#[tokio::test]
async fn a_large_value_is_kept_whole_and_one_that_is_too_large_is_refused() {
    let (server, team, variables) = start().await;
    let rows = json!(vec![json!({"title": "A row of a table", "number": 7}); 200_000]);
    let answer = server.send("PUT", &format!("{variables}/rows"), set(&rows)).await.is(200);
    assert_eq!(
        answer.text("display"),
        "[Array of 200000 results - first: {\"title\": \"A row of a table\", \"number\": 7}..."
    );
    let read = server.get(&format!("{variables}/rows")).await.is(200);
    assert!(read.body["value"] == rows);
    let entry = server.get(&format!("{team}/journal?types=variable.set")).await.is(200);
    assert!(entry.raw.len() < 3000, "{}", entry.raw.len());
    for (megabytes, whose) in [(17, "the value"), (100, "the body")] {
        let call = server.send("PUT", &format!("{variables}/huge"), set(&json!("x".repeat(megabytes << 20)))).await;
        assert!(call.problem(413, "too_large").text("detail").contains(whose), "{megabytes}");
    }
    server.get(&format!("{variables}/huge")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_repeated_request_with_a_key_sets_a_variable_once() {
    let (server, team, variables) = start().await;
    let put = async |value: Value| {
        let call = server.call("PUT", &format!("{variables}/one")).header("idempotency-key", "k1");
        Answer::of(call.json(&set(&value))).await
    };
    let first = put(json!(1)).await.is(200);
    server.send("PUT", &format!("{variables}/one"), set(&json!(2))).await.is(200);
    assert_eq!(put(json!(1)).await.is(200).body, first.body);
    assert_eq!(server.get(&format!("{variables}/one")).await.body["value"], 2);
    put(json!(3)).await.problem(422, "idempotency_key_reused");
    let call = server.call("DELETE", &format!("{variables}/one?reason=r")).header("if-match", "\"1\"");
    Answer::of(call).await.problem(412, "stale");
    assert_eq!(
        server.get(&format!("{team}/journal?types=variable.set")).await.body["entries"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn models_read_set_and_clear_variables_by_tools() {
    let (server, team, variables) = start().await;
    let call = async |tool: &str, arguments: Value| {
        let body = json!({"agent": "lead", "arguments": arguments});
        server.send("POST", &format!("{team}/tools/{tool}"), body).await
    };
    let told = async |tool: &str, arguments: Value| call(tool, arguments).await.is(200).text("result").to_owned();
    let set = async |name: &str, value: Value| {
        told("set_variable", json!({"variableName": name, "value": value, "reason": "r"})).await
    };
    assert_eq!(
        set("test_email", json!("debug@test.com")).await,
        "The variable is set: test_email = \"debug@test.com\""
    );
    set("node7.emails", json!([{"subject": "Re: Funding"}])).await;
    set("node7.count", json!(1)).await;
    set("node70.x", json!(null)).await;
    let long = "word ".repeat(20_000);
    set("node70.page", json!(long)).await;
    let get = async |arguments: Value| told("get_workflow_variable", arguments).await;
    assert_eq!(get(json!({"variableName": "node7.emails"})).await, r#"[{"subject":"Re: Funding"}]"#);
    assert_eq!(get(json!({"nodeId": 7})).await, r#"{"node7.count":1,"node7.emails":[{"subject":"Re: Funding"}]}"#);
    assert_eq!(get(json!({"variableName": "node70.page"})).await, json!(long).to_string());
    let all: Value = serde_json::from_str(&get(json!({"variableName": "all"})).await).unwrap();
    assert_eq!(all.as_object().unwrap().len(), 5);
    assert_eq!((&all["test_email"], &all["node70.x"]), (&json!("debug@test.com"), &Value::Null));
    assert!(all["node70.page"].as_str().unwrap().starts_with("[too large to be listed: \"word word"));
    assert_eq!(get(json!({"nodeId": 8})).await, "{}");
    call("get_workflow_variable", json!({})).await.tool_error();
    call("get_workflow_variable", json!({"variableName": "none"})).await.tool_error();
    let clear = json!({"variableName": "node7.emails", "reason": "Reset to test email extraction again"});
    assert_eq!(told("clear_variable", clear.clone()).await, "The variable node7.emails is cleared.");
    call("clear_variable", clear).await.tool_error();
    call("clear_variable", json!({"variableName": "node7.count"})).await.tool_error();
    let all = json!({"reason": "Reset entire workflow state for clean test"});
    assert_eq!(told("clear_all_variables", all.clone()).await, "All 4 variables are cleared.");
    assert_eq!(told("clear_all_variables", all).await, "There were no variables.");
    assert_eq!(server.get(&variables).await.body["variables"], json!([]));
    let names = async |agent: &str| {
        let tools = server.get(&format!("{team}/tools?agent={agent}")).await.is(200).raw;
        ["get_workflow_variable", "set_variable", "clear_variable", "clear_all_variables"]
            .map(|tool| tools.contains(&format!("\"{tool}\"")))
    };
    assert_eq!((names("lead").await, names("writer").await), ([true; 4], [false; 4]));
    server.send("PATCH", &team, json!({"share": ["variables"]})).await.is(200);
    assert_eq!(names("writer").await, [true, false, false, false]);
    let by_writer = json!({"agent": "writer", "arguments": {"variableName": "x", "value": 1, "reason": "r"}});
    server.send("POST", &format!("{team}/tools/set_variable"), by_writer).await.tool_error();
}

#[tokio::test]
async fn integers_that_would_be_changed_are_refused() {
    let (server, _, variables) = start().await;
    for kept in ["18446744073709551615", "-9223372036854775808", "1e20"] {
        let body = format!(r#"{{"value": {kept}, "reason": "x"}}"#);
        server.send("PUT", &format!("{variables}/n"), serde_json::from_str(&body).unwrap()).await.is(200);
    }
    for lost in ["18446744073709551616", "-9223372036854775809"] {
        let body = format!(r#"{{"value": {{"deep": [{lost}]}}, "reason": "x"}}"#);
        let call = server.call("PUT", &format!("{variables}/n")).header("content-type", "application/json").body(body);
        let refused = Answer::of(call).await;
        let refused = refused.problem(422, "invalid");
        assert_eq!(refused.body["pointer"], "/value/deep/0");
        assert!(refused.text("detail").contains(lost), "{}", refused.raw);
    }
    let arguments = r#"{"variableName": "n", "value": 18446744073709551616, "reason": "x"}"#;
    server
        .send("POST", &variables.replace("variables", "tools/set_variable"), json!({"arguments": arguments}))
        .await
        .is(200);
    assert_eq!(
        server.get(&format!("{variables}/n")).await.body["value"],
        "18446744073709551616",
        "models give it as a text"
    );
}

#[tokio::test]
async fn a_key_that_holds_a_secret_is_refused_as_a_name() {
    let (server, team, variables) = start_with_key().await;
    server.send("PUT", &format!("{variables}/api_key"), set(&json!("canary12345"))).await.is(200);
    let clash = json!({"canary12345": 1, "[hidden]": 2, "z": 3});
    for (method, path, body, pointer) in [
        ("PUT", "/variables/q", set(&clash), "/value/[hidden]"),
        ("PUT", "/variables/q", set(&json!([{"a/b": clash}])), "/value/0/a~1b/[hidden]"),
        ("POST", "/workflow/nodes", json!({"type": "x", "config": clash}), "/config/[hidden]"),
        ("PUT", "/plan", json!({"plan": clash, "reason": "x"}), "/plan/[hidden]"),
        (
            "POST",
            "/threads/main/messages",
            json!({"messages": [{"role": "user", "content": "x", "metadata": clash}]}),
            "/messages/0/metadata/[hidden]",
        ),
    ] {
        let refused = server.send(method, &format!("{team}{path}"), body).await;
        let refused = refused.problem(422, "invalid");
        assert_eq!(refused.body["pointer"], pointer, "{}", refused.raw);
        assert!(!refused.raw.contains("canary12345"), "{}", refused.raw);
    }
    // What models say is not refused, and loses nothing.
    let arguments = json!({"variableName": "q", "value": clash, "reason": "x"});
    server.send("POST", &format!("{team}/tools/set_variable"), json!({"arguments": arguments})).await.is(200);
    let kept = json!({"[hidden] 2": 1, "[hidden]": 2, "z": 3});
    assert_eq!(server.get(&format!("{variables}/q")).await.body["value"], kept);
}

#[tokio::test]
async fn i6_the_user_is_told_where_a_secret_was_hidden_which_sessions_still_have_it_and_whether_it_is_looked_for() {
    let (server, team, variables) = start_with_key().await;
    let said = json!([{"role": "user", "content": "It is canary12345."}, {"role": "user", "content": "Nothing."}]);
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    server.send("POST", &format!("{team}/fork"), json!({"id": "copy"})).await.is(201);
    let put = async |name: &str, value: &str, query: &str| {
        let body = json!({"value": value, "reason": "to try it", "secret": true});
        server.send("PUT", &format!("{variables}/{name}{query}"), body).await.is(200).body
    };
    let told = |body: &Value| ["rewritten", "forks", "searched"].map(|field| body[field].clone());
    let found = put("code", "canary12345", "").await;
    assert_eq!((&found["secret"], told(&found)), (&json!(true), [json!(1), json!(["copy"]), Value::Null]));
    let nowhere = put("other", "canary-nowhere", "").await;
    assert_eq!(told(&nowhere), [json!(0), Value::Null, Value::Null]);
    let short = put("pin", "1234", "").await;
    assert_eq!(told(&short), [json!(0), Value::Null, json!(false)]);
    // An agent is not told what is hidden from it.
    let by_lead = put("third", "canary-of-lead", "?as=lead").await;
    assert_eq!((&by_lead["secret"], told(&by_lead)), (&json!(true), [Value::Null, Value::Null, Value::Null]));
}

#[tokio::test]
async fn secrets_are_found_in_a_value_that_a_model_gives_as_a_text_of_json() {
    let (server, team, variables) = start_with_key().await;
    let value = r#"{"user": "ann", "password": "canary12345"}"#;
    let arguments = json!({"variableName": "creds", "value": value, "reason": "x"});
    server.send("POST", &format!("{team}/tools/set_variable"), json!({"arguments": arguments})).await.is(200);
    let hidden = json!({"user": "ann", "password": "[hidden]"});
    assert_eq!(server.get(&format!("{variables}/creds")).await.body["value"], hidden);
    let shown = server.get(&format!("{variables}/creds?reveal=true")).await.is(200);
    assert_eq!(shown.body["value"], json!({"user": "ann", "password": "canary12345"}));
    let plain = json!({"variableName": "list", "value": "[1, 2]", "reason": "x"});
    server.send("POST", &format!("{team}/tools/set_variable"), json!({"arguments": plain})).await.is(200);
    assert_eq!(server.get(&format!("{variables}/list")).await.body["value"], "[1, 2]", "another text stays one");
    let journal = server.get(&format!("{team}/journal")).await.is(200);
    assert!(!journal.raw.contains("canary12345"), "{}", journal.raw);
}

#[tokio::test]
async fn secrets_are_found_by_keys_in_calls_of_the_callers_own_tools_and_can_be_put_back() {
    let (server, team, _) = start_with_key().await;
    let messages = format!("{team}/threads/main/messages");
    let arguments = json!({"user": "ann", "password": "canary12345"}).to_string();
    let function = json!({"name": "log_in", "arguments": arguments});
    let said = json!([
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": "{\"access_token\": \"other-canary-2\", \"next_page_token\": \"p2\"}"},
    ]);
    server.send("POST", &messages, json!({"messages": said})).await.is(200);
    let own = json!({"role": "user", "content": "I am ann, with canary12345."});
    server.send("POST", &messages, json!({"messages": [own]})).await.is(200);
    let prompt = server.send("POST", &format!("{team}/prompt"), json!({"agent": "lead"})).await.is(200);
    let [journal, list, export] = ["journal", "threads/main/messages", "export"].map(|path| format!("{team}/{path}"));
    for shown in [prompt, server.get(&journal).await, server.get(&list).await, server.get(&export).await] {
        let shown = shown.is(200);
        assert!(!shown.raw.contains("canary12345") && !shown.raw.contains("other-canary-2"), "{}", shown.raw);
    }
    let kept = server.get(&list).await.is(200).body["messages"].clone();
    assert_eq!(kept[0]["tool_calls"][0]["arguments"], r#"{"user":"ann","password":"[hidden]"}"#);
    assert_eq!(kept[1]["content"], r#"{"access_token": "[hidden]", "next_page_token": "p2"}"#);
    assert_eq!(kept[2]["content"], "I am ann, with [hidden].");
    let restore = json!({"name": "call:c1.arguments", "reason": "it is none"});
    let by_lead = format!("{team}/secrets/restore?as=lead");
    server.send("POST", &by_lead, restore.clone()).await.problem(403, "forbidden");
    let restored = server.send("POST", &format!("{team}/secrets/restore"), restore.clone()).await.is(200);
    assert_eq!(restored.body["entries"].as_array().unwrap().len(), 1, "{}", restored.raw);
    server.send("POST", &format!("{team}/secrets/restore"), restore).await.problem(404, "not_found");
    let kept = server.get(&list).await.is(200).body["messages"].clone();
    assert_eq!(kept[0]["tool_calls"][0]["arguments"], arguments);
    assert_eq!(kept[1]["content"], r#"{"access_token": "[hidden]", "next_page_token": "p2"}"#);
}
