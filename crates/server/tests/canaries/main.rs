//! Canaries: the value of a secret is put in through every call that writes, and then sought in every answer, in streams,
//! logs and exports, and in the bytes on disk. A test binary of its own: it takes in every event of the log of its process,
//! which slows down whatever else runs there.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "the other suites of the server need more of it")]
#[path = "../server/fixtures.rs"]
mod fixtures;

use std::{
    fmt::Write as _,
    path::Path,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use callboard_core::{entry::Actor, id::Seq, variable::SetVariable};
use callboard_engine::{MasterKey, RecallSettings, Session, Settings as BoardSettings};
use callboard_model::scripted::{Reply, Scripted};
use callboard_server::{ProjectFolder, Settings};
use callboard_store::{
    Store,
    testing::{PostgresServer, Proxy, RedisServer},
};
use futures::StreamExt as _;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::fixtures::{Answer, Server, asking, memory, soon, sqlite};

/// The value of the secret. It looks different in JSON of different encoders, in addresses and in base64.
const CANARY: &str = "zq/CANARY\"7+ß x<&>'";

/// The value of a secret that is a valid id.
const ID_CANARY: &str = "zqcanary-4711-x";

/// How the canary looks in texts that escape it; in base64 only its middle is the same wherever it stands.
const FORMS: [&str; 13] = [
    CANARY,
    r#"zq/CANARY\"7+ß x<&>'"#,
    r#"zq/CANARY\\\"7+ß x<&>'"#,
    // Python
    r#"zq/CANARY\"7+\u00df x<&>'"#,
    // PHP
    r#"zq\/CANARY\"7+\u00df x<&>'"#,
    // Go
    r#"zq/CANARY\"7+ß x\u003c\u0026\u003e'"#,
    // .NET, and the same with small digits
    r"zq/CANARY\u00227\u002B\u00DF x\u003C\u0026\u003E\u0027",
    r"zq/CANARY\u00227\u002b\u00df x\u003c\u0026\u003e\u0027",
    "zq%2FCANARY%227%2B%C3%9F%20x%3C%26%3E%27",
    "zq%2FCANARY%227%2B%C3%9F+x%3C%26%3E%27",
    "enEvQ0FOQVJZIjcrw58geDwmPi",
    "pxL0NBTkFSWSI3K8OfIHg8Jj4n",
    "6cS9DQU5BUlkiNyvDnyB4PCY+J",
];

/// All log lines of this process.
static LOG: LazyLock<Mutex<String>> = LazyLock::new(Mutex::default);

/// Writes events to [`LOG`].
struct Log;

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(log, "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut Self);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, record: &span::Record<'_>) {
        record.record(&mut Self);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Self);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A text with the canary in every form, between words that must stay.
fn told(place: &str) -> String {
    format!("{place} begins; {} and {place} ends", FORMS.join(" | "))
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        write!(all, "%{byte:02X}").unwrap();
        all
    })
}

/// Behind this call, canaries stand in names, ids and keys.
const NAMES: &str = "/v1/sessions/{session}/journal/{seq}";

/// A call that writes: its method, its path in the document, the path that is called, and its body.
type Write = (&'static str, String, String, Value);

/// Calls with a canary in all their free texts that write nothing all the same, and the status that says so.
const REFUSED: [(&str, u16, &str); 14] = [
    // There is no node to execute yet, and no execution.
    ("/v1/sessions/{session}/workflow/run", 422, "no node to execute"),
    ("/v1/sessions/{session}/workflow/nodes/{node}/run", 404, "not_found"),
    ("/v1/sessions/{session}/workflow/executions/{execution}/cancel", 404, "not_found"),
    ("/v1/sessions/{session}/browser/open", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/navigate", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/action", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/inspect", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/screenshot", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/close", 404, "no_browser"),
    ("/v1/sessions/{session}/browser/screenshots/{file}", 404, "no_browser"),
    // No tool is awaited here; a test of what models say has one that is.
    ("/v1/sessions/{session}/runs/{run}/tool-results", 409, "no_tool_awaited"),
    // The model of a turn is a name.
    ("/v1/sessions/{session}/prompt", 422, "it holds the value of a secret"),
    ("/v1/sessions/{session}/orchestration/allowed-tools", 422, "it holds the value of a secret"),
    // The canary stays a secret.
    ("/v1/sessions/{session}/secrets/restore", 404, "not_found"),
];

/// The path of a call in the document and the one that is called: `<thread:main>` is `{thread}` there and `main` here. A query is
/// only called.
fn paths(below: &str) -> (String, String) {
    let (mut template, mut path) = ("/v1/sessions/{session}".to_owned(), "/v1/sessions/s".to_owned());
    let mut rest = below;
    while let Some((before, hole)) = rest.split_once('<') {
        let (hole, after) = hole.split_once('>').unwrap();
        let (name, value) = hole.split_once(':').unwrap();
        template += &format!("{before}{{{name}}}");
        path += &format!("{before}{value}");
        rest = after;
    }
    template += rest.split('?').next().unwrap();
    path += rest;
    (template, path)
}

/// Every call that writes, by its method and its path in the document, with canaries in all free texts. Calls with a
/// canary in a name come last, behind [`NAMES`]: they are refused.
fn writes() -> Vec<Write> {
    let mut all: Vec<Write> = Vec::new();
    let mut add = |method, path: &str, body| {
        let (template, path) = paths(path);
        all.push((method, template, path, body));
    };
    let call = json!({"id": "c1", "name": "search", "arguments": {"query": told("argument"), CANARY: 1}});
    add(
        "post",
        "/threads/<thread:main>/messages",
        json!({"messages": [
            {"role": "user", "message_id": "said", "content": told("message"), "metadata": {"note": told("metadata"), "list": [CANARY]}},
            {"role": "user", "content": [{"type": "text", "text": told("part")}]},
            {"role": "assistant", "content": told("answer"), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": json!({"result": told("result")}).to_string()},
        ]}),
    );
    add("post", "/recall", json!({"query": told("question")}));
    add("put", "/context-sets/<name:facts>", json!({"content": told("content")}));
    add("put", "/documents/<name:manual>", json!({"text": told("document")}));
    add("post", "/documents", json!({"name": "guide", "text": told("guide")}));
    add(
        "post",
        "/directives",
        json!({"message": told("directive"), "messageTo": "user",
        "expectedOutput": told("expected"),
        "contextSetUpdate": {"contextSets": [{"name": "told", "context": told("context")}]}}),
    );
    add("post", "/directives", json!({"text": format!("Context update: more (visible to: lead)\n{}", told("line"))}));
    add("post", "/forms/<name:Form>", json!({"answers": {"k": told("form answer")}}));
    let agents = json!([
        {"name": "lead", "role": "manager", "title": CANARY, "instructions": told("instructions"),
         "tools": [{"name": "search", "description": told("description"),
                    "parameters": {"type": "object", "description": told("parameter")}}]},
        {"name": "writer", "role": "worker"},
        {"name": "critic", "role": "worker"},
    ]);
    let steps = json!([{"name": "begin", "is_default": true, "description": told("step")}]);
    add("patch", "", json!({"title": CANARY, "agents": agents, "steps": steps}));
    let tools = json!([{"name": "search", "description": told("thread tool"),
                        "parameters": {"type": "object", "description": told("thread parameter")}}]);
    let settings = json!({"visible_to": "all", "instructions": told("thread instructions"), "tools": tools});
    add("put", "/threads/<thread:side>", settings);
    add("post", "/tools/<tool:write_context_set>", json!({"arguments": {"name": "tooled", "content": told("tool")}}));
    add(
        "post",
        "/files",
        json!({"name": "user-auth", "for": "writer", "keywords": ["auth"],
        "request": told("request"), "background": told("background"), "expected": told("outcome"), "constraints": told("limits")}),
    );
    add("post", "/files/delegation", json!({"to": "writer", "task": told("task")}));
    // There is no browser here; a test of browsers has one, and types a canary into a page.
    let step =
        json!({"actions": [{"action": "type", "selector": CANARY, "value": told("typed")}], "reason": told("why")});
    add("post", "/browser/open", json!({"url": told("address"), "tab_name": CANARY}));
    add("post", "/browser/navigate", json!({"url": told("address"), "reason": told("why")}));
    add("post", "/browser/action", step);
    add("post", "/browser/inspect", json!({"instruction": told("instruction")}));
    add("post", "/browser/screenshot", json!({"tab_name": CANARY}));
    add("post", "/browser/close", json!({"tab_name": CANARY}));
    add("delete", &format!("/browser/screenshots/<file:{}>", encoded(CANARY)), Value::Null);
    add("post", "/runs", json!({"kind": "team", "input": told("input")}));
    add("post", "/runs/<run:RUN>/pause", json!({"reason": told("pause")}));
    add("post", "/runs/<run:RUN>/resume", Value::Null);
    add(
        "post",
        "/runs/<run:RUN>/tool-results",
        json!({"results": [{"tool_call_id": "c1", "content": told("tool result")}]}),
    );
    add("post", "/runs/<run:RUN>/cancel", Value::Null);
    add("patch", "/orchestration", json!({"active_step": "begin"}));
    add("post", "/orchestration/tools", json!({"tool": "search"}));
    add("post", "/orchestration/advance", Value::Null);
    add("post", "/orchestration/reset", Value::Null);
    add("post", "/orchestration/usage", json!({"prompt_tokens": 1}));
    add("post", "/orchestration/allowed-tools", json!({"tools": ["search", CANARY]}));
    add("post", "/prompt", json!({"agent": "lead"}));
    add("post", "/prompt", json!({"agent": "lead", "record": true}));
    let answer = json!({"text": told("own answer"), "tool_calls": [
        {"id": CANARY, "name": CANARY, "arguments": {"query": told("own argument"), CANARY: 1}}]});
    add("post", "/turns/<turn:TURN>", answer);
    add("post", "/prompt", json!({"agent": "lead", "record": true, "model": CANARY}));
    add("post", "/prompt", json!({"agent": "lead", "record": true, "recall": true, "query": told("question")}));
    add("post", "/turns/<turn:TURN>", json!({"error": told("failure")}));
    add("post", "/tokens", json!({"agent": "writer"}));
    add("post", "/fork", json!({"id": "fork"}));
    add(
        "put",
        "/variables/<name:creds>",
        json!({"value": {"user": "ann", "password": CANARY, "note": told("variable")}, "reason": told("reason")}),
    );
    add(
        "put",
        "/plan",
        json!({"reason": told("why"), "plan": {
        "overall_goal": told("goal"), "current_phase": "One", "phases": [{"phase_name": "One", "status": "in_progress",
            "tasks": [{"task_id": 1, "description": told("plan task"), "status": "pending", "notes": told("notes")}]}]}}),
    );
    add("patch", "/plan/tasks/<task:1>", json!({"notes": told("notes"), "reason": told("why")}));
    let config = json!({"action": "type", "text": told("config"), "login": {"password": CANARY}, "list": [CANARY]});
    let inputs = json!({"apiKey": CANARY, "page": told("input")});
    add("post", "/workflow/run", json!({ "inputs": inputs }));
    add("post", "/workflow/nodes/<node:node_1>/run", Value::Null);
    add("post", "/workflow/executions/<execution:x1>/cancel", Value::Null);
    add(
        "post",
        "/workflow/nodes",
        json!({"type": "login", "config": config, "description": told("node"), "reason": told("why")}),
    );
    add(
        "patch",
        "/workflow/nodes/<node:node_1>",
        json!({"config": config, "description": told("node"), "reason": told("why")}),
    );
    add("patch", "/workflow", json!({"name": CANARY, "description": told("workflow"), "reason": told("why")}));
    add(
        "put",
        "/workflow",
        json!({"workflow": {"name": CANARY, "description": told("workflow")}, "reason": told("why"), "nodes": [
            {"id": "node_1", "type": "login", "config": config, "description": told("node")},
            {"type": CANARY, "config": config},
        ]}),
    );
    add(
        "put",
        "/workflow/nodes/<node:node_1>/result",
        json!({"status": "success", "result": {"token": CANARY, "page": told("page")},
               "variables": {"apiKey": CANARY, "page": told("page")}}),
    );
    add("delete", &format!("/workflow/nodes/<node:node_2>?reason={}", encoded(CANARY)), Value::Null);
    add("put", "/threads/<thread:main>/messages/<message:said>/pin", Value::Null);
    add("delete", "/threads/<thread:main>/messages/<message:said>/pin", Value::Null);
    let long = |number: usize| json!({"role": "user", "content": format!("{} {}", told("long"), "word ".repeat(100 + number))});
    let many = json!({"messages": (0..9).map(long).collect::<Vec<_>>()});
    add("post", "/threads/<thread:main>/messages", many);
    let compress = json!({"target_tokens": 5000, "keep_recent_tokens": 800, "model": "small", "method": "model"});
    add("post", "/threads/<thread:main>/compress", compress);
    add("post", "/threads/<thread:main>/compressions/<seq:DONE>/undo", Value::Null);
    add("post", "/secrets/restore", json!({"name": "nothing", "reason": told("restore")}));
    add("delete", &format!("/journal/<seq:ERASED>?reason={}", encoded(CANARY)), Value::Null);
    // Names, ids and keys.
    let name = encoded(CANARY);
    add("put", &format!("/context-sets/<name:{name}>"), json!({"content": "x"}));
    add("delete", &format!("/context-sets/<name:{name}>"), Value::Null);
    add("put", &format!("/documents/<name:{name}>"), json!({"text": "x"}));
    add("post", "/documents", json!({"name": CANARY, "text": "x"}));
    add("delete", &format!("/documents/<name:{name}>"), Value::Null);
    add("put", &format!("/threads/<thread:{name}>"), json!({"visible_to": "all"}));
    add(
        "post",
        "/threads/<thread:main>/messages",
        json!({"messages": [{"role": "user", "message_id": CANARY, "content": "x"}]}),
    );
    add("post", "/files", json!({"name": "zq CANARY", "for": "writer", "keywords": [CANARY], "request": "x"}));
    add("put", &format!("/variables/<name:{name}>"), json!({"value": 1, "reason": "x"}));
    add("put", "/variables/<name:keys>", json!({"value": [{CANARY: 1}], "reason": "x"}));
    add("put", "/plan", json!({"plan": {CANARY: 1}, "reason": "x"}));
    add("post", "/forms/<name:Form>", json!({"answers": {CANARY: 1}}));
    add("post", "/workflow/nodes", json!({"type": "x", "config": {CANARY: 1}}));
    add("patch", "/workflow/nodes/<node:node_1>", json!({"config": {"x": {CANARY: 1}}}));
    let nodes = json!([{"type": "x", "config": {CANARY: 1}}]);
    add("put", "/workflow", json!({"workflow": {"name": "x"}, "reason": "x", "nodes": nodes}));
    add(
        "post",
        "/threads/<thread:main>/messages",
        json!({"messages": [{"role": "user", "content": "x", "metadata": {CANARY: 1}}]}),
    );
    add("delete", &format!("/variables/<name:{name}>?reason={name}"), Value::Null);
    add("post", "/workflow/nodes", json!({"type": CANARY}));
    add("patch", "/workflow/nodes/<node:node_1>", json!({"type": CANARY}));
    add("put", "/workflow/nodes/<node:node_1>/result", json!({"status": "success", "variables": {CANARY: 1}}));
    add("delete", &format!("/files/<path:{name}>"), Value::Null);
    add("delete", &format!("/tokens/<token:{name}>"), Value::Null);
    add("post", "/directives", json!({"contextSetUpdate": {"contextSets": [{"name": CANARY, "context": "x"}]}}));
    add("post", "/fork", json!({"id": CANARY}));
    all
}

/// Calls that write and bring nothing to a session that is there: it is made or deleted, all its secrets are
/// dropped, or what is written is a collection, which knows no secrets.
const BRING_NOTHING: [(&str, &str); 13] = [
    ("post", "/v1/login"),
    ("post", "/v1/logout"),
    ("post", "/v1/sessions"),
    ("post", "/v1/import"),
    ("delete", "/v1/sessions/{session}"),
    ("delete", "/v1/sessions/{session}/variables"),
    ("put", "/v1/collections/{collection}"),
    ("delete", "/v1/collections/{collection}"),
    ("post", "/v1/collections/{collection}/import"),
    ("post", "/v1/collections/{collection}/documents"),
    ("put", "/v1/collections/{collection}/documents/{name}"),
    ("delete", "/v1/collections/{collection}/documents/{name}"),
    ("delete", "/v1/collections/{collection}/journal/{seq}"),
];

#[test]
fn i6_a_canary_goes_through_every_call_that_writes() {
    let tried = writes();
    let document = callboard_server::openapi();
    let mut missing = Vec::new();
    for (template, verbs) in document["paths"].as_object().unwrap() {
        for verb in verbs.as_object().unwrap().keys().filter(|verb| *verb != "get") {
            let is_tried = tried.iter().any(|(method, path, _, _)| method == verb && path == template);
            if !is_tried && !BRING_NOTHING.contains(&(verb.as_str(), template.as_str())) {
                missing.push(format!("{verb} {template}"));
            }
        }
    }
    assert!(missing.is_empty(), "add these to `writes`, with canaries in all free texts: {missing:?}");
}

/// Every call that reads, from the document, on the session and its fork.
fn reads(run: &str) -> Vec<String> {
    let document = callboard_server::openapi();
    let paths = document["paths"].as_object().unwrap().iter();
    let reads = paths
        .filter(|(path, verbs)| verbs.get("get").is_some() && !path.ends_with("/events") && !path.ends_with("/ws"));
    let known = [
        ("{session}", "s"),
        ("{thread}", "main"),
        ("{run}", run),
        ("{task}", "1"),
        ("{message}", "said"),
        ("{seq}", "3"),
        ("{n}", "1"),
        ("{version}", "1"),
        ("{node}", "node_1"),
    ];
    let names = ["facts", "told", "more", "tooled", "manual", "guide", "Form", "creds", "password"];
    let mut all = Vec::new();
    for (template, _) in reads {
        let path = known.iter().fold(template.clone(), |path, (hole, name)| path.replace(hole, name));
        match path.contains("{name}") {
            true => all.extend(names.iter().map(|name| path.replace("{name}", name))),
            false => all.push(path.replace("{path}", "features%2Fuser-auth-context.md")),
        }
    }
    all.push(format!("/v1/sessions/s/why?text={}", encoded("message begins")));
    all.push("/v1/sessions/fork/journal".to_owned());
    all.push("/v1/sessions/s/files/search?keywords=auth".to_owned());
    all
}

/// That an answer or a file has no canary, in any form.
fn look(where_: &str, text: &str) {
    for form in FORMS {
        let at = text.find(form);
        let around = at.map(|at| text.get(text.floor_char_boundary(at.saturating_sub(300))..).unwrap_or_default());
        let around: Option<String> = around.map(|rest| rest.chars().take(700).collect());
        assert!(at.is_none(), "{where_} shows the canary as {form}: {around:?}");
    }
}

/// That no file in a folder has a canary. How many of them have the words around it, which shows that the search sees
/// what is stored.
fn look_at_files(folder: &Path) -> usize {
    let mut with_words = 0;
    for found in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = found.path();
        look("the name of a file", &path.to_string_lossy());
        if path.is_dir() {
            with_words += look_at_files(&path);
        } else {
            // A store may remove a file meanwhile.
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let has = |words: &str| bytes.windows(words.len()).any(|window| window == words.as_bytes());
            for form in FORMS {
                assert!(!has(form), "{} has the canary as {form}", path.display());
            }
            with_words += usize::from(has("message begins"));
        }
    }
    with_words
}

/// Makes the canary a secret of the session.
async fn keep_secret(server: &Server) -> Session {
    let secret = SetVariable::new("password".parse().unwrap(), json!(CANARY), None, "needed".into()).unwrap();
    let session = server.board.session(&"s".parse().unwrap()).await.unwrap();
    session.execute(Actor::User, secret).await.unwrap();
    session
}

/// What stands at the end of streams that are read to their end.
const LAST_WORDS: &str = "zq these are the last words";

/// Reads the stream of the user from its beginning until nothing more comes.
async fn stream(server: &Server) -> String {
    server.say("/v1/sessions/s", "main", LAST_WORDS).await;
    stream_of(server, "").await
}

/// The same of somebody else, up to the last words.
async fn stream_of(server: &Server, acting: &str) -> String {
    let mut response = server.call("GET", &format!("/v1/sessions/s/events?after=0{acting}")).send().await.unwrap();
    let mut all = String::new();
    while !all.contains(LAST_WORDS) {
        let chunk = soon("the last words", response.chunk()).await;
        all += &String::from_utf8_lossy(&chunk.unwrap().unwrap());
    }
    all
}

/// The same over a WebSocket.
async fn socket_of(server: &Server, acting: &str) -> String {
    let address = format!("ws://{}/v1/sessions/s/ws?after=0{acting}", server.address);
    let (mut socket, _) = tokio_tungstenite::connect_async(address).await.unwrap();
    let mut all = String::new();
    while !all.contains(LAST_WORDS) {
        all += soon("the last words", socket.next()).await.unwrap().unwrap().to_text().unwrap();
    }
    all
}

fn with_body(call: RequestBuilder, body: &Value) -> RequestBuilder {
    if body.is_null() { call } else { call.json(body) }
}

#[tokio::test]
async fn i6_no_canary_comes_out_of_a_session_on_sqlite_whatever_it_came_in_by() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder.path().join("callboard.db")).await;
    goes_in_and_never_comes_out(store, folder.path()).await;
    assert!(look_at_files(folder.path()) > 0);
}

#[tokio::test]
async fn i6_no_canary_comes_out_of_a_session_in_memory_whatever_it_came_in_by() {
    let folder = tempfile::tempdir().unwrap();
    goes_in_and_never_comes_out(memory().await, folder.path()).await;
}

#[tokio::test]
async fn i6_no_canary_comes_out_of_a_session_on_postgres_whatever_it_came_in_by() {
    let (folder, postgres) = (tempfile::tempdir().unwrap(), PostgresServer::start());
    let store = callboard_store::open(&postgres.url("canaries"), callboard_store::Settings::default()).await.unwrap();
    goes_in_and_never_comes_out(store, folder.path()).await;
    assert!(look_at_files(postgres.folder()) > 0);
}

#[tokio::test]
async fn i6_no_canary_comes_out_of_a_session_on_redis_whatever_it_came_in_by() {
    let (folder, redis) = (tempfile::tempdir().unwrap(), RedisServer::durable());
    let store = callboard_store::open(&redis.url("canaries"), callboard_store::Settings::default()).await.unwrap();
    goes_in_and_never_comes_out(store, folder.path()).await;
    assert!(look_at_files(redis.folder()) > 0);
}

#[tokio::test]
async fn i6_no_canary_comes_out_of_a_session_on_redis_over_rest_whatever_it_came_in_by() {
    let (folder, redis) = (tempfile::tempdir().unwrap(), RedisServer::durable());
    let proxy = Proxy::start(redis.port()).await;
    let store = callboard_store::open(&proxy.url("canaries"), callboard_store::Settings::default()).await.unwrap();
    goes_in_and_never_comes_out(store, folder.path()).await;
    assert!(look_at_files(redis.folder()) > 0);
}

/// Puts the canary in through every call that writes, and looks for it in all that comes out, in the log, and in the
/// files of `folder`.
async fn goes_in_and_never_comes_out(store: Arc<dyn Store>, folder: &Path) {
    let _ = tracing::subscriber::set_global_default(Log);
    let project = ProjectFolder {
        root: folder.join("project"),
        // clock: how often the server looks, so that it looks in this test, too
        look_every: Duration::from_millis(50),
        sweep_every: None,
    };
    std::fs::create_dir_all(&project.root).unwrap();
    // A model that summarizes, and says nothing else.
    let endpoint = Scripted::start(|request, _| match request.to_string().contains("Write the summary now.") {
        true => Reply::text(told("summary")),
        false => Reply::silence(),
    });
    let settings = Settings { project: Some(project), ..asking(&endpoint) };
    let keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let recall = RecallSettings { file: Some(folder.join("recall.db")), ..fixtures::recall() };
    let board = BoardSettings { master_keys: keys, snapshot_every: 5, recall, ..fixtures::board() };
    let kept = store.clone();
    let server = Server::of(store, settings, board).await;
    server.team("s").await;
    let field = json!({"key": "k", "valueType": "STRING", "label": "What?", "required": true});
    let ask = json!({"isInfoRequest": true, "message": "Who?", "form": {"name": "Form", "fields": [field]}});
    server.send("POST", "/v1/sessions/s/directives", ask).await.is(200);
    keep_secret(&server).await;
    let (mut run, mut turn) = (String::from("r1"), String::new());
    let (mut done, mut erased, mut is_name) = (String::new(), String::new(), false);
    for (number, (method, template, path, body)) in writes().into_iter().enumerate() {
        let call = server.call(
            &method.to_uppercase(),
            &path.replace("RUN", &run).replace("TURN", &turn).replace("DONE", &done).replace("ERASED", &erased),
        );
        let call = call.header("idempotency-key", format!("key-{number}"));
        let answer = Answer::of(with_body(call, &body)).await;
        assert!(answer.status.as_u16() < 500, "{method} {path}: {}", answer.raw);
        // An error repeats a name that is refused to whoever gave it.
        if !is_name {
            look(&format!("{method} {path}"), &answer.raw);
        }
        let status = answer.status.as_u16();
        let refused = REFUSED.iter().find(|(path, expected, _)| *path == template && *expected == status);
        match refused {
            _ if is_name => assert!(matches!(status, 404 | 422), "{method} {path}: {status} {}", answer.raw),
            Some((_, _, why)) => assert!(answer.raw.contains(why), "{method} {path}: {}", answer.raw),
            None => assert!(answer.status.is_success(), "{method} {path}: {status} {}", answer.raw),
        }
        is_name |= template == NAMES;
        if erased.is_empty() {
            erased = answer.body["messages"][1]["seq"].to_string();
        }
        if template.ends_with("/compress") {
            assert_eq!(answer.body["method"], "model", "{}", answer.raw);
            done = answer.body["seq"].to_string();
        }
        if template.ends_with("/runs") && answer.status.is_success() {
            run = answer.text("id").to_owned();
        }
        if let Some(number) = answer.body["turn"].as_u64() {
            turn = number.to_string();
        }
    }
    let asked = serde_json::to_string(&endpoint.requests()).unwrap();
    look("what the model was asked", &asked);
    assert!(asked.contains("message begins; [hidden]"), "{asked}");
    // A secret that could be an id.
    let secret = json!({"value": ID_CANARY, "secret": true, "reason": "needed"});
    server.send("PUT", "/v1/sessions/s/variables/code", secret).await.is(200);
    let refused = server.send("POST", "/v1/sessions/s/fork", json!({"id": format!("fork-{ID_CANARY}")})).await;
    let refused = refused.problem(422, "invalid");
    assert!(!refused.raw.contains(ID_CANARY), "{}", refused.raw);
    let message = json!({"messages": [{"role": "user", "message_id": ID_CANARY, "content": "x"}]});
    server.send("POST", "/v1/sessions/s/threads/main/messages", message).await.problem(422, "invalid");

    for path in reads(&run).into_iter().map(|path| path.replace("{turn}", &turn)) {
        for acting in ["", "lead", "writer"] {
            let joined = if path.contains('?') { '&' } else { '?' };
            let acting = if acting.is_empty() { String::new() } else { format!("{joined}as={acting}") };
            let answer = server.get(&format!("{path}{acting}")).await;
            look(&format!("GET {path}{acting}"), &answer.raw);
        }
    }
    for (format, layout) in
        ["text", "openai", "anthropic"].into_iter().flat_map(|one| [(one, "team"), (one, "director")])
    {
        for agent in ["lead", "writer"] {
            let wanted = json!({"agent": agent, "format": format, "layout": layout});
            let prompt = server.send("POST", "/v1/sessions/s/prompt", wanted).await.is(200);
            look(&format!("the prompt of {agent} as {format} in {layout}"), &prompt.raw);
            assert!(prompt.raw.contains("message begins"), "{}", prompt.raw);
            assert!(prompt.raw.contains("[hidden]"), "{}", prompt.raw);
        }
    }
    for agent in ["lead", "writer"] {
        let question = json!({"query": "message begins", "agent": agent, "limit": 100});
        let found = server.send("POST", "/v1/sessions/s/recall", question).await.is(200);
        look(&format!("recall for {agent}"), &found.raw);
        assert!(found.raw.contains("message begins"), "{}", found.raw);
        assert!(found.raw.contains("[hidden]"), "{}", found.raw);
    }
    let page = server.get("/v1/sessions/s/threads/main/messages").await.is(200);
    assert!(page.raw.contains("message begins; [hidden] | [hidden] |"), "{}", page.raw);
    look("the stream", &stream(&server).await);
    for acting in ["", "&as=lead", "&as=writer"] {
        for heard in [stream_of(&server, acting).await, socket_of(&server, acting).await] {
            look(&format!("the stream{acting}"), &heard);
            assert!(heard.contains("message begins; [hidden]"), "{acting}: {heard}");
        }
    }
    for session in ["s", "fork"] {
        let exported = server.get(&format!("/v1/sessions/{session}/export")).await.is(200);
        look("the export", &exported.raw);
        assert!(exported.raw.contains("message begins"), "{}", exported.raw);
    }
    let metrics = server.get("/metrics").await.is(200);
    look("the metrics", &metrics.raw);
    assert!(metrics.raw.contains("/v1/sessions/{session}"), "{}", metrics.raw);
    let (_, snapshot) = kept.snapshot(&"s".parse().unwrap(), Seq(u64::MAX)).await.unwrap().unwrap();
    let snapshot = String::from_utf8_lossy(&snapshot).into_owned();
    look("the newest snapshot", &snapshot);
    assert!(snapshot.contains("content begins"), "the search sees what is in a snapshot: {snapshot}");
    look_at_files(folder);
    server.stop().await;
    look_at_files(folder);
    look("the log", &LOG.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A model may say a secret that it was told elsewhere: it is hidden in what is streamed, what is recorded and what is
/// read, also where the value comes in pieces.
#[tokio::test]
async fn i6_what_a_model_says_is_hidden() {
    let endpoint = Scripted::start(|request, _| {
        let directive = json!({"messageTo": "user", "message": told("model"), "workflowComplete": true});
        match request.get("response_format") {
            Some(_) => Reply::json(&directive),
            None => Reply::text(told("model")),
        }
    });
    let server = Server::with_key(asking(&endpoint)).await;
    let s = server.team("s").await;
    let secret = json!({"value": CANARY, "reason": "needed"});
    server.send("PUT", &format!("{s}/variables/password"), secret).await.is(200);
    let address = format!("ws://{}{s}/ws?after=0", server.address);
    let (mut socket, _) = tokio_tungstenite::connect_async(address).await.unwrap();
    let run = server.send("POST", &format!("{s}/runs"), json!({"kind": "team", "input": "Go."})).await.is(201);
    let mut heard = String::new();
    while !heard.contains("run.ended") {
        let message = soon("the end of the run", socket.next()).await.unwrap().unwrap();
        heard += message.to_text().unwrap();
    }
    assert!(heard.contains("turn.delta") && heard.contains("model begins; [hidden] |"), "{heard}");
    look("the socket", &heard);
    let run = format!("{s}/runs/{}", run.text("id"));
    assert_eq!(server.get(&run).await.is(200).body["status"], "completed");
    for path in [run, format!("{s}/journal"), format!("{s}/threads/main/messages"), format!("{s}/export")] {
        look(&path, &server.get(&path).await.is(200).raw);
    }
    look("the stream", &stream(&server).await);
}

#[tokio::test]
async fn what_was_said_before_it_was_known_as_a_secret_is_hidden_in_all_that_is_read() {
    let server = Server::start_with_key().await;
    let s = server.team("s").await;
    server.send("PUT", &format!("{s}/context-sets/facts"), json!({"content": told("content")})).await.is(200);
    server.send("PATCH", &s, json!({"title": told("title")})).await.is(200);
    server.say(&s, "main", &told("message")).await;
    let task = json!({"task_id": 1, "description": told("task"), "status": "pending"});
    let phase = json!({"phase_name": "all", "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": told("goal"), "current_phase": "all", "phases": [phase]});
    server.send("PUT", &format!("{s}/plan"), json!({"plan": plan, "reason": "begin"})).await.is(200);
    let note = json!({"value": told("value"), "reason": "noted"});
    server.send("PUT", &format!("{s}/variables/note"), note).await.is(200);
    assert!(server.get(&format!("{s}/context-sets/facts")).await.raw.contains("CANARY"));
    let session = keep_secret(&server).await;
    for path in [
        "context-sets/facts",
        "context-sets",
        "threads/main/messages",
        "journal",
        "plan",
        "variables",
        "variables/note",
    ] {
        look(path, &server.get(&format!("{s}/{path}")).await.is(200).raw);
    }
    look("the list of sessions", &server.get("/v1/sessions").await.is(200).raw);
    look("the newest sessions", &server.get("/v1/sessions?order=recent").await.is(200).raw);
    look("the stream", &stream(&server).await);
    for question in ["message begins", "content ends", CANARY] {
        let found = server.send("POST", &format!("{s}/recall"), json!({ "query": question })).await.is(200);
        look("recall", &found.raw);
    }
    // Nobody finds a secret out by guessing a piece of it.
    for (guess, finds) in [(CANARY, false), ("zq/CANARY\"7", false), ("begins; zq", false), ("begins; [hid", true)] {
        let found = server.get(&format!("{s}/why?as=lead&text={}", encoded(guess))).await.is(200);
        look("why", &found.raw);
        assert_eq!(found.body["findings"] != json!([]), finds, "{guess}: {}", found.raw);
    }
    // What is shown around a text is cut after secrets were hidden in it.
    let cut = server.get(&format!("{s}/why?text={}", encoded("message b"))).await.is(200);
    assert!(cut.raw.contains("message begins; [hidden] | [hidden"), "{}", cut.raw);
    for (words, finds) in [(CANARY, false), ("zq/CANARY", false), ("CANARY", false), ("begins ends", true)] {
        let found = server.get(&format!("{s}/search?as=lead&q={}", encoded(words))).await.is(200);
        look("search", &found.raw);
        assert_eq!(found.body["hits"] != json!([]), finds, "{words}: {}", found.raw);
    }
    for layout in ["team", "director"] {
        let wanted = json!({"agent": "lead", "format": "text", "layout": layout});
        look("the prompt", &server.send("POST", &format!("{s}/prompt"), wanted).await.is(200).raw);
    }
    for seq in 1..=session.state().await.unwrap().head.seq.0 {
        let entry = session.entry(Seq(seq)).await.unwrap().unwrap();
        look(&format!("entry {seq}"), &entry.data);
    }
    look("the export", &server.get(&format!("{s}/export")).await.is(200).raw);
    // The user puts it back.
    let restore = json!({"name": "password", "reason": "it is none"});
    server.send("POST", &format!("{s}/secrets/restore?as=lead"), restore.clone()).await.problem(403, "forbidden");
    let unnamed = json!({"name": "password", "reason": " "});
    server.send("POST", &format!("{s}/secrets/restore"), unnamed).await.problem(422, "invalid");
    let done = server.send("POST", &format!("{s}/secrets/restore"), restore.clone()).await.is(200);
    assert_eq!(done.body["entries"].as_array().unwrap().len(), 5, "{}", done.raw);
    let page = server.get(&format!("{s}/threads/main/messages")).await.is(200);
    assert_eq!(page.body["messages"][0]["content"], told("message"));
    server.send("POST", &format!("{s}/secrets/restore"), restore).await.problem(404, "not_found");
    server.stop().await;
}
