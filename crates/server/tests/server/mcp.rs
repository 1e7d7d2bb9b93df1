//! The door for clients of the Model Context Protocol: who comes in, and whose a connection is.

use std::sync::Arc;

use async_trait::async_trait;
use callboard_model::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta};
use callboard_server::Settings;
use eventsource_stream::{Event, EventStreamError};
use futures::Stream;
use reqwest::{RequestBuilder, header::HeaderValue};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    fixtures::{Answer, Server, memory, moment, settings, soon},
    streams::{events, next},
};

/// Sends a request of the protocol. What is answered, and the id of the connection.
pub(crate) async fn ask(
    server: &Server,
    address: &str,
    token: Option<&str>,
    connection: Option<&str>,
    body: Value,
) -> (u16, Value, Option<String>) {
    let mut call = server.call("POST", address).header("accept", "application/json, text/event-stream").json(&body);
    if let Some(token) = token {
        call = call.bearer_auth(token);
    }
    if let Some(connection) = connection {
        call = call.header("mcp-session-id", connection).header("mcp-protocol-version", "2025-06-18");
    }
    let response = call.send().await.unwrap();
    let connection = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    let last = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).rfind(|data| !data.is_empty());
    (status, serde_json::from_str(last.unwrap_or(&text)).unwrap_or_default(), connection)
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

/// Opens a connection.
pub(crate) async fn connect(server: &Server, address: &str, token: Option<&str>) -> String {
    let (status, answer, connection) = ask(server, address, token, None, hello()).await;
    assert_eq!((status, &answer["result"]["serverInfo"]["name"]), (200, &json!("callboard")), "{answer}");
    let connection = connection.unwrap();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(ask(server, address, token, Some(&connection), ready).await.0, 202);
    connection
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[tokio::test]
async fn only_those_with_a_token_come_in_and_a_token_says_for_whom_and_where() {
    let server =
        Server::with(memory().await, Settings { user_tokens: vec!["open sesame".to_owned()], ..settings() }).await;
    for token in [None, Some("wrong")] {
        let (status, problem, _) = ask(&server, "/mcp", token, None, hello()).await;
        assert_eq!((status, &problem["code"]), (401, &json!("unauthorized")), "{problem}");
    }
    let user = Some("open sesame");
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]);
    let connection = connect(&server, "/mcp", user).await;
    let made = call("create_session", json!({"id": "s", "agents": agents}));
    let (_, made, _) = ask(&server, "/mcp", user, Some(&connection), made).await;
    assert_eq!(made["result"]["structuredContent"]["id"], "s", "{made}");
    let of_all = connect(&server, "/mcp?tools=all", user).await;
    let listed = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    let (_, listed, _) = ask(&server, "/mcp?tools=all", user, Some(&of_all), listed).await;
    let only_reads = |name: &str| {
        let tool = listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"]["readOnlyHint"] == true
    };
    assert!(only_reads("recall") && !only_reads("inspect_tab"), "a picture of a page is kept as a file");
    let listed = listed.to_string();
    assert!(listed.contains("inspect_tab") && !listed.contains("deploy_scout"), "a scout needs a run: {listed}");
    let token =
        server.call("POST", "/v1/sessions/s/tokens").bearer_auth("open sesame").json(&json!({"agent": "writer"}));
    let token = Answer::of(token).await.is(201).body["token"].as_str().unwrap().to_owned();

    let connection = connect(&server, "/mcp?tools=all", Some(&token)).await;
    let listed = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    let (_, listed, _) = ask(&server, "/mcp?tools=all", Some(&token), Some(&connection), listed).await;
    let listed = listed.to_string();
    assert!(
        listed.contains("get_prompt") && !listed.contains("create_session") && !listed.contains("update_plan"),
        "{listed}"
    );
    let (_, prompt, _) =
        ask(&server, "/mcp?tools=all", Some(&token), Some(&connection), call("get_prompt", json!({}))).await;
    assert!(prompt["result"]["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{prompt}");
    for (tool, arguments, what) in [
        ("get_prompt", json!({"agent": "lead"}), "writer"),
        ("get_prompt", json!({"session": "other"}), "for the session s alone"),
        ("create_session", json!({}), "user"),
        ("update_plan", json!({"plan": {}, "reason": "x"}), "may not"),
    ] {
        let (_, refused, _) =
            ask(&server, "/mcp?tools=all", Some(&token), Some(&connection), call(tool, arguments)).await;
        let told = refused["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(refused["result"]["isError"] == true && told.contains(what), "{tool}: {refused}");
    }
}

#[tokio::test]
async fn a_connection_is_of_whoever_opened_it() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let (writer, critic) = (server.token(&team, "writer").await, server.token(&team, "critic").await);
    let connection = connect(&server, "/mcp", Some(&writer)).await;
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
    assert_eq!(ask(&server, "/mcp", Some(&writer), Some(&connection), ping.clone()).await.0, 200);
    for token in [Some(critic.as_str()), None] {
        let (status, refused, _) = ask(&server, "/mcp", token, Some(&connection), ping.clone()).await;
        assert_eq!((status, refused["error"]["message"].is_string()), (404, true), "{refused}");
    }
    let told = server.call("GET", "/mcp").header("accept", "text/event-stream").header("mcp-session-id", &connection);
    assert_eq!(told.bearer_auth(&critic).send().await.unwrap().status(), 404);
    // Its opener alone ends it, and it is gone then.
    let end = |token: &str| {
        let end = server.call("DELETE", "/mcp").header("mcp-session-id", &connection);
        end.header("mcp-protocol-version", "2025-06-18").bearer_auth(token).send()
    };
    assert_eq!(end(&critic).await.unwrap().status(), 404);
    assert_eq!(ask(&server, "/mcp", Some(&writer), Some(&connection), ping.clone()).await.0, 200);
    // The official client for Python warns of any other status of success than 200 and 204.
    assert_eq!(end(&writer).await.unwrap().status(), 204);
    assert_eq!(ask(&server, "/mcp", Some(&writer), Some(&connection), ping).await.0, 404);
}

#[tokio::test]
async fn each_client_is_answered_in_its_version_of_the_protocol() {
    let server = Server::start().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut hello = hello();
        hello["params"]["protocolVersion"] = json!(version);
        let (status, answer, _) = ask(&server, "/mcp", None, None, hello).await;
        assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!(version)), "{answer}");
    }
}

/// Some clients, such as Gemini CLI, read each event as a message.
#[tokio::test]
async fn each_event_of_a_stream_is_a_message() {
    let server = Server::start().await;
    server.team("s").await;
    let connection = connect(&server, "/mcp?session=s", None).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    for (body, connection) in [(hello(), None), (list, Some(&connection))] {
        let call = server.call("POST", "/mcp?session=s").header("accept", "application/json, text/event-stream");
        let call = match connection {
            Some(connection) => call.header("mcp-session-id", connection).header("mcp-protocol-version", "2025-06-18"),
            None => call,
        };
        let text = call.json(&body).send().await.unwrap().text().await.unwrap();
        let events: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        assert!(events.len() == 1 && serde_json::from_str::<Value>(events[0]).is_ok(), "{text}");
    }
}

#[tokio::test]
async fn what_the_address_asks_for_wrongly_is_refused() {
    let server = Server::start().await;
    for (address, pointer) in [("/mcp?tools=dance", "/tools"), ("/mcp?session=%00", ""), ("/mcp?colour=red", "")] {
        let (status, problem, _) = ask(&server, address, None, None, hello()).await;
        assert_eq!((status, &problem["code"]), (422, &json!("invalid")), "{address}: {problem}");
        assert_eq!(problem["pointer"].as_str().unwrap_or_default(), pointer, "{address}: {problem}");
    }
    let evil = server.call("POST", "/mcp").header("host", "evil.example").json(&hello());
    Answer::of(evil).await.problem(403, "host_refused");
}

/// A request of a client that knows the newest protocol, which opens no connection.
pub(crate) fn newest(server: &Server, address: &str, method: &str, mut params: Value) -> RequestBuilder {
    let said = [
        ("protocolVersion", json!("2026-07-28")),
        ("clientInfo", json!({"name": "test", "version": "1"})),
        ("clientCapabilities", json!({"elicitation": {}})),
    ];
    for (name, value) in said {
        params["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut call = server.call("POST", address).header("accept", "application/json, text/event-stream").json(&body);
    call = call.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        call = call.header("mcp-name", name);
    }
    call
}

/// What is answered to such a request, which must do.
pub(crate) async fn ask_newest(server: &Server, address: &str, method: &str, params: Value) -> Value {
    let text = newest(server, address, method, params).send().await.unwrap().text().await.unwrap();
    let last = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).rfind(|data| !data.is_empty());
    let answer: Value = serde_json::from_str(last.unwrap_or(&text)).unwrap();
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn what_a_client_of_the_newest_protocol_reads_it_may_keep_for_nobody() {
    let server = Server::start().await;
    server.team("s").await;
    let address = "/mcp?session=s&as=writer";
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "callboard://s/context-sets"})),
    ] {
        let result = ask_newest(&server, address, method, params).await;
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{method}: {result}");
    }
    // Clients of earlier protocols know no such fields.
    let connection = connect(&server, address, None).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let (_, listed, _) = ask(&server, address, None, Some(&connection), list).await;
    assert!(listed["result"]["tools"].is_array() && listed["result"]["ttlMs"].is_null(), "{listed}");
}

#[tokio::test]
async fn headers_that_do_not_say_what_the_request_says_are_refused() {
    let server = Server::start().await;
    server.team("s").await;
    let called = json!({"name": "list_context_sets", "arguments": {}});
    let read = json!({"uri": "callboard://s/plan"});
    for (method, params, header, value) in [
        ("tools/call", &called, "mcp-method", Some("tools/list")),
        ("tools/call", &called, "mcp-method", None),
        ("tools/call", &called, "mcp-name", Some("get_prompt")),
        ("tools/call", &called, "mcp-name", None),
        ("resources/read", &read, "mcp-name", Some("callboard://s/workflow")),
    ] {
        let (client, request) = newest(&server, "/mcp?session=s", method, params.clone()).build_split();
        let mut request = request.unwrap();
        request.headers_mut().remove(header);
        if let Some(value) = value {
            request.headers_mut().insert(header, HeaderValue::from_static(value));
        }
        let answer = client.execute(request).await.unwrap();
        let (status, refused) = (answer.status().as_u16(), answer.json::<Value>().await.unwrap());
        assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32020)), "{method}: {refused}");
        let told = refused["error"]["message"].as_str().unwrap().to_lowercase();
        assert!(told.contains(header), "{method}: {refused}");
    }
}

#[tokio::test]
async fn each_kind_of_resource_has_a_template() {
    let server = Server::start().await;
    server.team("s").await;
    for (address, session) in [("/mcp?session=s", "s"), ("/mcp", "{session}")] {
        let listed = ask_newest(&server, address, "resources/templates/list", json!({})).await;
        let templates = listed["resourceTemplates"].as_array().unwrap().iter();
        let templates: Vec<_> = templates.map(|template| template["uriTemplate"].as_str().unwrap()).collect();
        let paths = [
            "context-sets/{name}",
            "threads/{thread}",
            "plan",
            "workflow",
            "documents/{name}",
            "files/{path}",
            "prompts/{agent}",
        ];
        assert_eq!(templates, paths.map(|path| format!("callboard://{session}/{path}")));
    }
}

#[tokio::test]
async fn a_client_of_the_newest_protocol_is_told_what_to_ask_the_person() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let fields = json!([{"key": "length", "valueType": "ENUM", "label": "Length", "required": true,
        "enumValues": ["short", "long"]}]);
    let directive = json!({"messageTo": "user", "message": "How long?", "isInfoRequest": true,
        "form": {"name": "Length", "fields": fields}});
    server.send("POST", &format!("{team}/directives?as=lead"), directive).await.is(200);
    let mut call = json!({"name": "answer_forms", "arguments": {}});
    let asked = ask_newest(&server, "/mcp?session=s", "tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let schema = &asked["inputRequests"]["Length"]["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["length"]["enum"], json!(["short", "long"]), "{asked}");
    call["inputResponses"] = json!({"Length": {"action": "accept", "content": {"length": "short"}}});
    let done = ask_newest(&server, "/mcp?session=s", "tools/call", call.clone()).await;
    let answered = json!({"forms": [{"name": "Length", "outcome": "answered"}]});
    assert_eq!(done["structuredContent"], answered, "{done}");
    let set = server.get(&format!("{team}/context-sets/Length")).await.is(200);
    assert_eq!(set.body["form"]["answered"], true, "{}", set.raw);
    // Only the user answers forms: an agent's client is not offered to ask for it.
    let tools = ask_newest(&server, "/mcp?session=s&as=lead&tools=all", "tools/list", json!({})).await;
    assert!(!tools.to_string().contains("answer_forms"), "{tools}");
}

#[tokio::test]
async fn tools_are_listed_to_those_who_may_call_them() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let listed = async |agent: &str| {
        let tools = ask_newest(&server, &format!("/mcp?session=s&tools=all{agent}"), "tools/list", json!({})).await;
        let names = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        ["fork_session", "compress_thread", "add_document"].map(|name| names.clone().any(|listed| listed == name))
    };
    assert_eq!(listed("").await, [true, true, true]);
    assert_eq!(listed("&as=lead").await, [false, true, true]);
    // It does not see whether it has the grant for documents.
    assert_eq!(listed("&as=writer").await, [false, false, true]);
    server.send("PATCH", &team, json!({"grant": ["fork"]})).await.is(200);
    assert_eq!(listed("&as=lead").await, [true, true, true]);
    assert_eq!(listed("&as=writer").await, [false, false, true]);
    let forked = json!({"name": "fork_session", "arguments": {}});
    let forked = ask_newest(&server, "/mcp?session=s&as=lead&tools=all", "tools/call", forked).await;
    assert_ne!(forked["isError"], true, "{forked}");
}

#[tokio::test]
async fn a_connection_of_an_agent_or_of_one_session_reaches_no_others() {
    let server = Server::start().await;
    server.team("s").await;
    server.team("other").await;
    let called = async |address: &str, tool: &str, arguments: Value| {
        ask_newest(&server, address, "tools/call", json!({"name": tool, "arguments": arguments})).await
    };
    for (address, whose) in [
        ("/mcp?session=s&as=writer", "works as the agent writer"),
        ("/mcp?as=writer", "works as the agent writer"),
        ("/mcp?session=s", "is for the session s alone"),
    ] {
        for (tool, arguments) in [("list_sessions", json!({})), ("create_session", json!({"id": "made"}))] {
            let refused = called(address, tool, arguments).await;
            let told = refused["content"][0]["text"].as_str().unwrap();
            assert!(refused["isError"] == true && told.contains(whose), "{address}: {refused}");
            assert!(!told.contains("other"), "{address}: {refused}");
            assert_eq!(refused["_meta"]["callboard/problem"]["code"], "forbidden", "{address}: {refused}");
        }
    }
    server.get("/v1/sessions/made").await.is(404);
    for (address, is_led) in [("/mcp?as=writer", false), ("/mcp", true)] {
        let refused = called(address, "recall", json!({"query": "tides"})).await;
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(told.contains("name the session in `session`"), "{address}: {refused}");
        assert_eq!(told.contains("list_sessions"), is_led, "{address}: {refused}");
    }
    let listed = ask_newest(&server, "/mcp?as=writer", "resources/list", json!({})).await;
    assert_eq!(listed["resources"], json!([]), "{listed}");
    // The person is not asked for a connection that may not hand in what is answered.
    let refused = called("/mcp?session=s&as=lead", "answer_forms", json!({})).await;
    let told = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && told.contains("only the user answers forms"), "{refused}");
}

/// Where a value lacks what its schema says that it has.
fn missing(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(item) = schema.get("items") {
        let items = value.as_array().into_iter().flatten().enumerate();
        return items.flat_map(|(nth, value)| missing(item, value, &format!("{at}/{nth}"))).collect();
    }
    let required = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
    let absent = required.filter(|name| value.get(name).is_none()).map(|name| format!("{at}/{name}"));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let inner = properties.flat_map(|(name, schema)| missing(schema, &value[name], &format!("{at}/{name}")));
    absent.chain(inner).collect()
}

#[tokio::test]
async fn tools_answer_as_their_schemas_say() {
    let server = Server::start().await;
    server.team("s").await;
    let address = "/mcp?tools=all";
    let tools = ask_newest(&server, address, "tools/list", json!({})).await["tools"].clone();
    let tools = tools.as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["outputSchema"]["required"].is_array()), "{tools:?}");
    for (tool, arguments) in [
        ("create_session", json!({"agents": [{"name": "writer", "role": "worker"}]})),
        ("list_sessions", json!({})),
        ("fork_session", json!({"session": "s"})),
        ("send_message", json!({"session": "s", "content": "Write about tides."})),
        ("list_threads", json!({"session": "s"})),
        ("write_context_set", json!({"session": "s", "name": "Facts", "content": "The sea rises."})),
        ("list_context_sets", json!({"session": "s"})),
        ("get_prompt", json!({"session": "s", "agent": "lead"})),
        ("compress_thread", json!({"session": "s", "thread": "main", "method": "extractive"})),
        ("add_document", json!({"session": "s", "name": "guide.md", "text": "Tides rise twice a day."})),
    ] {
        let schema = &tools.iter().find(|one| one["name"] == tool).unwrap()["outputSchema"];
        let result = ask_newest(&server, address, "tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let missing = missing(schema, &result["structuredContent"], "");
        assert!(missing.is_empty(), "{tool}: {missing:?} in {result}");
    }
}

/// A model that never answers. It tells when it is asked, and when nobody waits for it any more.
#[derive(Clone, Default)]
pub(crate) struct Held {
    pub(crate) asked: Arc<Notify>,
    left: Arc<Notify>,
}

/// Tells when it is dropped.
struct Told(Arc<Notify>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl ChatModel for Held {
    async fn chat(&self, _: &ChatRequest, _: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let _left = Told(self.left.clone());
        self.asked.notify_one();
        std::future::pending().await
    }
}

/// A server with such a model, and a session `s` with so long a conversation that its compression asks the model.
pub(crate) async fn held() -> (Server, Held) {
    let held = Held::default();
    let settings = Settings { models: Arc::new(held.clone()), ..settings() };
    let server = Server::with(memory().await, settings).await;
    let team = server.team("s").await;
    let words = "The sea comes and goes. ".repeat(6);
    let said: Vec<_> = (0..150).map(|n| json!({"role": "user", "content": format!("Part {n}. {words}")})).collect();
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    (server, held)
}

/// The address at which such a call is made.
pub(crate) const LONG: &str = "/mcp?session=s&tools=all";

fn long() -> Value {
    json!({"name": "compress_thread", "arguments": {"thread": "main", "target_tokens": 2000},
        "_meta": {"progressToken": "long"}})
}

/// The call of a client of an earlier protocol, with the id 7.
pub(crate) fn long_call(server: &Server, connection: &str) -> RequestBuilder {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": long()});
    let call = server.call("POST", LONG).header("accept", "application/json, text/event-stream").json(&body);
    call.header("mcp-session-id", connection).header("mcp-protocol-version", "2025-06-18")
}

#[tokio::test]
async fn a_long_call_tells_that_it_is_at_work_and_ends_where_it_is_cancelled() {
    let (server, held) = held().await;
    let (team, address) = ("/v1/sessions/s", LONG);
    // A client of an earlier protocol says that it cancels; one of the newest hangs up.
    let connection = connect(&server, address, None).await;
    let calls = [(long_call(&server, &connection), true), (newest(&server, address, "tools/call", long()), false)];
    for (call, says_so) in calls {
        let mut told = events(call).await;
        let progress = loop {
            let event = next(&mut told).await.expect("it tells of its progress");
            let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
            if message["method"] == "notifications/progress" {
                break message["params"].clone();
            }
        };
        assert_eq!(progress["progressToken"], "long", "{progress}");
        assert!(progress["message"].as_str().unwrap().contains("compress_thread is at work"), "{progress}");
        soon("the model to be asked", held.asked.notified()).await;
        if says_so {
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
            assert_eq!(ask(&server, address, None, Some(&connection), cancel).await.0, 202);
        }
        drop(told);
        soon("the model to be left", held.left.notified()).await;
    }
    // Nothing is half done, and nothing stands in the way of the next.
    let journal = server.get(&format!("{team}/journal?types=conversation.compressed")).await.is(200).body;
    assert_eq!(journal["entries"], json!([]), "{journal}");
    let without = json!({"target_tokens": 2000, "method": "extractive"});
    let done = server.send("POST", &format!("{team}/threads/main/compress"), without).await.is(200).body;
    assert_eq!(done["method"], "extractive", "{done}");
}

fn ping(id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// A request with which a client of a connection listens, or ends it.
pub(crate) fn on(server: &Server, method: &str, address: &str, connection: &str) -> RequestBuilder {
    let call = server.call(method, address).header("accept", "text/event-stream");
    call.header("mcp-session-id", connection).header("mcp-protocol-version", "2025-06-18")
}

#[tokio::test]
async fn after_a_restart_a_client_goes_on() {
    let store = memory().await;
    let server = Server::with(store.clone(), settings()).await;
    server.team("s").await;
    let address = "/mcp?session=s&as=writer";
    let connection = connect(&server, address, None).await;
    server.stop().await;
    let server = Server::with(store, settings()).await;
    // One request takes the connection up, whichever comes first; the others find it so.
    let pings = (0..8).map(|id| ask(&server, address, None, Some(&connection), ping(id)));
    for (id, (status, answer, _)) in futures::future::join_all(pings).await.into_iter().enumerate() {
        assert_eq!((status, &answer["id"], &answer["result"]), (200, &json!(id), &json!({})), "{answer}");
    }
    let (_, prompt, _) = ask(&server, address, None, Some(&connection), call("get_prompt", json!({}))).await;
    assert!(prompt["result"]["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{prompt}");
    // What is not known is not found: then clients initialize anew.
    assert_eq!(ask(&server, address, None, Some("unknown"), ping(9)).await.0, 404);
    assert_ne!(connect(&server, address, None).await, connection);
}

#[tokio::test]
async fn after_a_restart_a_client_that_listened_gets_a_new_stream_and_is_told_what_changes() {
    let store = memory().await;
    let server = Server::with(store.clone(), settings()).await;
    let team = server.team("s").await;
    let address = "/mcp?session=s&as=lead";
    let connection = connect(&server, address, None).await;
    let mut server = server;
    // Whether it listens first or asks first; whatever the stream was that broke.
    for (last, asks_before) in [("1/0", false), ("7", false), ("7", true)] {
        server.stop().await;
        server = Server::with(store.clone(), settings()).await;
        if asks_before {
            assert_eq!(ask(&server, address, None, Some(&connection), ping(9)).await.0, 200);
        }
        let mut told = events(on(&server, "GET", address, &connection).header("last-event-id", last)).await;
        // When the server follows the session again is not told.
        let writing = async {
            for n in 0_u64.. {
                let set = format!("{team}/context-sets/Set-{}-{asks_before}-{n}", last.replace('/', "-"));
                server.send("PUT", &set, json!({"content": "The sea rises."})).await.is(200);
                moment().await;
            }
        };
        let telling = async {
            while !told_next(&mut told, |message| message["method"] == "notifications/resources/list_changed").await {}
        };
        tokio::select! {
            () = telling => {}
            () = writing => {}
        }
    }
}

#[tokio::test]
async fn a_connection_is_the_same_at_all_servers_on_a_store_until_it_is_ended_at_one() {
    let store = memory().await;
    let (here, there) = (Server::with(store.clone(), settings()).await, Server::with(store, settings()).await);
    let team = here.team("s").await;
    let (writer, critic) = (here.token(&team, "writer").await, here.token(&team, "critic").await);
    let connection = connect(&here, "/mcp", Some(&writer)).await;
    // Whoever knows the id has not the rights of its opener, and finds nothing.
    for token in [Some(critic.as_str()), None] {
        assert_eq!(ask(&there, "/mcp", token, Some(&connection), ping(1)).await.0, 404);
        let ended = on(&there, "DELETE", "/mcp", &connection);
        let ended = if let Some(token) = token { ended.bearer_auth(token) } else { ended };
        assert_eq!(ended.send().await.unwrap().status(), 404);
    }
    // In the newest version it means nothing, and none is given.
    let listing = newest(&there, "/mcp", "tools/list", json!({})).bearer_auth(&critic);
    let listed = listing.header("mcp-session-id", &connection).send().await.unwrap();
    assert_eq!((listed.status().as_u16(), listed.headers().get("mcp-session-id")), (200, None));
    for server in [&there, &here, &there] {
        let (status, prompt, _) =
            ask(server, "/mcp", Some(&writer), Some(&connection), call("get_prompt", json!({}))).await;
        assert_eq!(status, 200, "{prompt}");
        assert!(prompt["result"]["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{prompt}");
    }
    // Also where it is open.
    assert_eq!(ask(&there, "/mcp", Some(&critic), Some(&connection), ping(2)).await.0, 404);
    let ended = on(&there, "DELETE", "/mcp", &connection).bearer_auth(&writer).send().await.unwrap();
    assert_eq!((ended.status().as_u16(), ended.text().await.unwrap().as_str()), (204, ""));
    for server in [&here, &there] {
        assert_eq!(ask(server, "/mcp", Some(&writer), Some(&connection), ping(3)).await.0, 404);
    }
    // So it is at a server where it was never open.
    let connection = connect(&here, "/mcp", Some(&writer)).await;
    let ended = on(&there, "DELETE", "/mcp", &connection).bearer_auth(&writer).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    assert_eq!(ask(&here, "/mcp", Some(&writer), Some(&connection), ping(4)).await.0, 404);
}

#[tokio::test]
async fn another_server_knows_what_a_client_can_do() {
    let store = memory().await;
    let (here, there) = (Server::with(store.clone(), settings()).await, Server::with(store, settings()).await);
    let team = here.team("s").await;
    let fields = json!([{"key": "length", "valueType": "ENUM", "label": "Length", "required": true,
        "enumValues": ["short", "long"]}]);
    let directive = json!({"messageTo": "user", "message": "How long?", "isInfoRequest": true,
        "form": {"name": "Length", "fields": fields}});
    here.send("POST", &format!("{team}/directives?as=lead"), directive).await.is(200);
    let mut hello = hello();
    hello["params"]["capabilities"] = json!({"elicitation": {}});
    let address = "/mcp?session=s";
    let connection = ask(&here, address, None, None, hello).await.2.unwrap();
    let asking = on(&there, "POST", address, &connection).header("accept", "application/json, text/event-stream");
    let mut told = events(asking.json(&call("answer_forms", json!({})))).await;
    let mut message = json!({});
    while message["method"] != "elicitation/create" {
        let event = next(&mut told).await.expect("the client is asked");
        message = serde_json::from_str(&event.data).unwrap_or_default();
        assert!(message["result"].is_null(), "{message}");
    }
    let answer = json!({"jsonrpc": "2.0", "id": message["id"],
        "result": {"action": "accept", "content": {"length": "short"}}});
    assert_eq!(ask(&there, address, None, Some(&connection), answer).await.0, 202);
    let answered = json!({"forms": [{"name": "Length", "outcome": "answered"}]});
    while !told_next(&mut told, |message| message["result"]["structuredContent"] == answered).await {}
}

#[tokio::test]
async fn a_server_takes_up_no_more_connections_than_it_may_have() {
    let store = memory().await;
    let server = Server::with(store.clone(), settings()).await;
    let mut connections = Vec::new();
    for _ in 0..4 {
        connections.push(connect(&server, "/mcp", None).await);
    }
    server.stop().await;
    let mut settings = settings();
    settings.limits.connections = 2;
    let server = Server::with(store, settings).await;
    for (connection, expected) in connections.iter().zip([200, 200, 429]) {
        assert_eq!(ask(&server, "/mcp", None, Some(connection), ping(1)).await.0, expected);
    }
    // What is not taken up is ended all the same.
    for ended in [&connections[3], &connections[0]] {
        assert!(on(&server, "DELETE", "/mcp", ended).send().await.unwrap().status().is_success());
        assert_eq!(ask(&server, "/mcp", None, Some(ended), ping(1)).await.0, 404);
    }
    assert_eq!(ask(&server, "/mcp", None, Some(&connections[2]), ping(1)).await.0, 200);
}

#[tokio::test]
async fn what_a_client_says_at_too_great_length_is_not_kept_and_its_connection_is_not_found() {
    let server = Server::start().await;
    for (length, expected) in [(60_000, 200), (70_000, 404)] {
        let mut hello = hello();
        hello["params"]["clientInfo"]["name"] = json!("x".repeat(length));
        let connection = ask(&server, "/mcp", None, None, hello).await.2.unwrap();
        assert_eq!(ask(&server, "/mcp", None, Some(&connection), ping(1)).await.0, expected, "{length}");
    }
}

/// Whether the next message of a stream is it. There has to be one.
pub(crate) async fn told_next(
    told: &mut (impl Stream<Item = Result<Event, EventStreamError<reqwest::Error>>> + Unpin),
    is_it: impl Fn(&Value) -> bool,
) -> bool {
    let event = next(told).await.expect("it tells what changes");
    is_it(&serde_json::from_str(&event.data).unwrap_or_default())
}

#[tokio::test]
async fn the_plan_is_read_and_told_to_whoever_listens_for_it() {
    let server = Server::start().await;
    server.team("s").await;
    let (address, plan) = ("/mcp?session=s&as=lead", "callboard://s/plan");
    let wanted = json!({"notifications": {"resourceSubscriptions": [plan], "toolsListChanged": true}});
    let mut told = events(newest(&server, address, "subscriptions/listen", wanted)).await;
    // What was there before is told to have changed, and that the server follows the session from here on.
    while !told_next(&mut told, |message| message["params"]["uri"] == plan).await {}
    while !told_next(&mut told, |message| message["method"] == "notifications/tools/list_changed").await {}
    let goal = json!({"overall_goal": "A poem on tides", "current_phase": "One",
        "phases": [{"phase_name": "One", "status": "pending", "tasks": []}]});
    let call = json!({"name": "update_plan", "arguments": {"plan": goal, "reason": "Begun."}});
    let changed = ask_newest(&server, address, "tools/call", call).await;
    assert_ne!(changed["isError"], true, "{changed}");
    while !told_next(&mut told, |message| message["params"]["uri"] == plan).await {}
    let read = ask_newest(&server, address, "resources/read", json!({"uri": plan})).await;
    assert_eq!(read["contents"][0]["uri"], plan, "{read}");
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("A poem on tides"), "{read}");
}

/// The tools that write nothing anywhere.
const READING: &[&str] = &[
    "read_context_set",
    "read_messages",
    "read_message",
    "read_document",
    "find_files",
    "read_file",
    "get_current_plan",
    "recall",
    "search",
    "get_workflow_variable",
    "get_node",
    "get_node_result",
    "delegate",
    "list_sessions",
    "get_prompt",
    "list_context_sets",
    "list_threads",
];

/// Those that take something away, or may.
const TAKING: &[&str] = &[
    "write_context_set",
    "memory",
    "clear_variable",
    "clear_all_variables",
    "delete_node",
    "debug_action",
    "debug_close_tab",
];

/// Those that add something each time, or do another thing the second time.
const ADDING: &[&str] = &[
    "create_session",
    "fork_session",
    "send_message",
    "add_file",
    "memory",
    "update_plan",
    "clear_variable",
    "create_node",
    "delete_node",
    "test_single_node",
    "debug_action",
    "debug_open_tab",
    "answer_forms",
];

#[tokio::test]
async fn tools_say_honestly_what_they_do_and_take_what_they_take_over_http() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let tools = ask_newest(&server, "/mcp?tools=all", "tools/list", json!({})).await["tools"].clone();
    let tools = tools.as_array().unwrap();
    let all: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in [READING, TAKING, ADDING].concat() {
        assert!(all.contains(&name), "there is no {name}: {all:?}");
    }
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| tool["annotations"][hint].clone());
        let expected = [READING.contains(&name), TAKING.contains(&name), !ADDING.contains(&name)];
        assert_eq!(json!(hints), json!(expected), "{name}");
    }
    let pinned = ask_newest(&server, "/mcp?session=s&as=lead&tools=all", "tools/list", json!({})).await;
    let over_http = server.get(&format!("{team}/tools?format=anthropic&as=lead")).await.is(200).body;
    for tool in over_http["tools"].as_array().unwrap() {
        let same = pinned["tools"].as_array().unwrap().iter().find(|other| other["name"] == tool["name"]).unwrap();
        assert_eq!(same["inputSchema"], tool["input_schema"], "{}", tool["name"]);
    }
}
