//! Every call as everybody: what one may not is refused, and nothing that comes back has a trace of what is hidden.

use std::collections::BTreeMap;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

/// Words that stand only in what is hidden from the worker `writer`.
const HIDDEN_FROM_WRITER: &[&str] = &[
    "SETNAME",
    "SETCONTENT",
    "THREADNAME",
    "THREADTEXT",
    "FORMTEXT",
    "SAIDTOONE",
    "RUNINPUT",
    "OLDTEXT",
    "DIRECTIVE",
    "VARNAME",
    "VARVALUE",
    "VARREASON",
    "PLANTEXT",
    "NODETEXT",
    "NODERESULT",
    "DOCNAME",
    "DOCTEXT",
];

/// Words that stand only in what is hidden from the manager, too.
const HIDDEN_FROM_LEAD: &[&str] = &["CRITICCONTENT", "CRITICTEXT", "CRITICDOC"];

/// Who calls.
struct Caller {
    name: &'static str,
    token: Option<String>,
    acting: Option<&'static str>,
}

/// A server with a session in which something is hidden from each agent, and those who call.
async fn stage() -> (Server, Vec<Caller>) {
    let server = Server::start().await;
    let agents = json!([
        {"name": "lead", "role": "manager", "instructions": "SAIDTOONE of lead"},
        {"name": "writer", "role": "worker"},
        {"name": "critic", "role": "worker", "instructions": "SAIDTOONE of critic"},
        {"name": "gone", "role": "worker"},
    ]);
    let steps = json!([{"name": "begin", "is_default": true}]);
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents, "steps": steps})).await.is(201);
    let mut callers = vec![Caller { name: "user", token: None, acting: None }];
    for name in ["lead", "writer", "gone"] {
        callers.push(Caller { name, token: Some(server.token("/v1/sessions/s", name).await), acting: None });
    }
    callers.push(Caller { name: "writer", token: None, acting: Some("writer") });
    callers.push(Caller { name: "lead", token: None, acting: Some("lead") });
    callers.push(Caller { name: "none", token: Some("callboard_s_0000".to_owned()), acting: None });
    let rest = json!({ "agents": agents.as_array().unwrap()[..3] });
    server.send("PATCH", "/v1/sessions/s", rest).await.is(200);
    hide(&server).await;
    (server, callers)
}

async fn hide(server: &Server) {
    let s = "/v1/sessions/s";
    let put = async |path: &str, body: Value| server.send("PUT", &format!("{s}/{path}"), body).await.is(200);
    put("context-sets/open", json!({"content": "for all"})).await;
    put("context-sets/SETNAME", json!({"content": "SETCONTENT", "visible_to": ["lead"]})).await;
    put("context-sets/critics", json!({"content": "CRITICCONTENT", "visible_to": ["critic"]})).await;
    put("documents/open", json!({"text": "for all"})).await;
    put("documents/DOCNAME", json!({"text": "DOCTEXT", "visible_to": ["lead"]})).await;
    put("documents/critics", json!({"text": "CRITICDOC", "visible_to": ["critic"]})).await;
    put("threads/THREADNAME", json!({"visible_to": ["lead"], "instructions": "THREADTEXT"})).await;
    server.say(s, "THREADNAME", "THREADTEXT").await;
    put("threads/critics", json!({"visible_to": ["critic"], "instructions": "CRITICTEXT"})).await;
    server.say(s, "critics", "CRITICTEXT").await;
    put("threads/late", json!({"visible_to": ["lead"]})).await;
    server.say(s, "late", "OLDTEXT").await;
    put("threads/late", json!({"visible_to": "all"})).await;
    server.say(s, "main", "hello all").await;
    put("plan", json!({"plan": plan("PLANTEXT"), "reason": "PLANTEXT"})).await;
    let field = json!({"key": "k", "valueType": "STRING", "label": "FORMTEXT", "required": true});
    let ask = json!({"isInfoRequest": true, "message": "FORMTEXT?", "form": {"name": "Form", "fields": [field]}});
    server.send("POST", &format!("{s}/directives"), ask).await.is(200);
    let tell = json!({"message": "DIRECTIVE", "messageTo": "user"});
    server.send("POST", &format!("{s}/directives"), tell).await.is(200);
    put("variables/VARNAME", json!({"value": {"key": "VARVALUE"}, "reason": "VARREASON"})).await;
    put("threads/main", json!({"visible_to": "all"})).await;
    let run = server.send("POST", &format!("{s}/runs"), json!({"kind": "team", "input": "go"})).await.is(201);
    server.send("POST", &format!("{s}/runs/{}/pause", run.text("id")), json!({"reason": "RUNINPUT"})).await.is(200);
    let node =
        json!({"type": "NODETEXT", "config": {"say": "NODETEXT"}, "description": "NODETEXT", "reason": "NODETEXT"});
    server.send("POST", &format!("{s}/workflow/nodes"), node).await.is(200);
    let result = json!({"status": "success", "result": {"it": "NODERESULT"}, "variables": {"it": "NODERESULT"}});
    server.send("PUT", &format!("{s}/workflow/nodes/node_1/result"), result).await.is(204);
}

/// A plan with this goal.
fn plan(goal: &str) -> Value {
    let task = json!({"task_id": 1, "description": goal, "status": "pending"});
    let phase = json!({"phase_name": "one", "status": "pending", "tasks": [task]});
    json!({"overall_goal": goal, "current_phase": "one", "phases": [phase]})
}

/// Every call of the document, with a body that would do; those that come last end what the others need.
fn calls(run: &str) -> Vec<(&'static str, String, Option<Value>)> {
    let s = "/v1/sessions/s";
    let on = |path: &str| format!("{s}{path}");
    let message = json!({"messages": [{"role": "assistant", "content": "hi"}]});
    let set = json!({"content": "new"});
    let mut calls = vec![
        ("GET", "/v1/me".to_owned(), None),
        ("POST", "/v1/login".to_owned(), Some(json!({"token": "none"}))),
        ("POST", "/v1/logout".to_owned(), None),
        ("GET", "/v1/sessions".to_owned(), None),
        ("POST", "/v1/sessions".to_owned(), Some(json!({}))),
        ("GET", on(""), None),
        ("PATCH", on(""), Some(json!({"title": "t"}))),
        ("POST", on("/fork"), Some(json!({}))),
        ("POST", on("/fork"), Some(json!({"at": 2}))),
        ("GET", on("/journal"), None),
        ("GET", on("/journal?limit=5&types=message.added,thread.updated"), None),
        ("DELETE", on("/journal/2?reason=T"), None),
        ("POST", on("/secrets/restore"), Some(json!({"name": "nothing", "reason": "T"}))),
        ("DELETE", on("/journal/999?reason=T"), None),
        ("GET", on("/ws"), None),
        ("GET", on("/why?text=T"), None),
        ("GET", on("/why?text=hello"), None),
        ("POST", on("/recall"), Some(json!({"query": "hello all"}))),
        ("POST", on("/recall"), Some(json!({"query": "the text of the plan, of a name and a form", "limit": 50}))),
        ("POST", on("/recall"), Some(json!({"query": "hello", "agent": "critic"}))),
        ("POST", on("/recall"), Some(json!({"query": "hello", "at": 5}))),
        ("POST", on("/recall"), Some(json!({"query": "text", "thread": "THREADNAME"}))),
        ("POST", on("/recall"), Some(json!({"query": "text", "thread": "late"}))),
        ("POST", on("/recall"), Some(json!({"query": "of and the"}))),
        ("GET", on("/search?q=T"), None),
        ("GET", on("/search?q=for+all&limit=50"), None),
        ("GET", on("/search?q=in:THREADNAME"), None),
        ("GET", on("/search?q=type:context_set"), None),
        ("POST", on("/tools/recall"), Some(json!({"arguments": {"query": "hello all"}}))),
        ("POST", on("/tools/search"), Some(json!({"arguments": {"q": "type:plan"}}))),
        ("POST", on("/prompt"), Some(json!({"recall": true, "query": "hello all"}))),
        ("GET", on("/context-sets"), None),
        ("POST", on("/directives"), Some(json!({"contextSetUpdate": {"contextSets": []}}))),
        ("GET", on("/directives/schema"), None),
        ("GET", on("/forms"), None),
        ("POST", on("/forms/Form"), Some(json!({"answers": {"x": 1}}))),
        ("POST", on("/forms/none"), Some(json!({"answers": {"x": 1}}))),
        ("GET", on("/threads"), None),
        ("POST", on("/prompt"), Some(json!({}))),
        ("POST", on("/prompt"), Some(json!({"agent": "critic"}))),
        ("POST", on("/prompt"), Some(json!({"agent": "lead", "format": "openai"}))),
        ("POST", on("/prompt"), Some(json!({"agent": "lead", "format": "anthropic"}))),
        ("POST", on("/prompt"), Some(json!({"agent": "lead", "layout": "director"}))),
        ("POST", on("/prompt"), Some(json!({"agent": "critic", "layout": "director", "format": "openai"}))),
        ("POST", on("/prompt"), Some(json!({"at": 5, "agent": "writer"}))),
        ("POST", on("/prompt"), Some(json!({"agent": "writer", "budget": 2}))),
        ("GET", on("/files"), None),
        ("POST", on("/files"), Some(json!({"name": "n", "for": "critic", "request": "Go."}))),
        ("GET", on("/files/search?keywords=a"), None),
        ("POST", on("/files/delegation"), Some(json!({"to": "critic", "task": "Go."}))),
        ("GET", on("/files/features%2Fx-context.md"), None),
        ("DELETE", on("/files/features%2Fx-context.md"), None),
        ("GET", on("/orchestration"), None),
        ("PATCH", on("/orchestration"), Some(json!({"active_step": null}))),
        ("POST", on("/orchestration/tools"), Some(json!({"tool": "search"}))),
        ("POST", on("/orchestration/advance"), None),
        ("POST", on("/orchestration/usage"), Some(json!({"prompt_tokens": 1}))),
        ("POST", on("/orchestration/allowed-tools"), Some(json!({"tools": ["search"]}))),
        ("POST", on("/orchestration/reset"), None),
        ("GET", on("/runs"), None),
        ("POST", on("/runs"), Some(json!({"kind": "team", "input": "go"}))),
        ("GET", on(&format!("/runs/{run}")), None),
        ("GET", on("/runs/none"), None),
        ("POST", on(&format!("/runs/{run}/pause")), Some(json!({}))),
        ("POST", on(&format!("/runs/{run}/resume")), Some(json!({"no": 1}))),
        ("POST", on(&format!("/runs/{run}/cancel")), Some(json!({"no": 1}))),
        ("POST", on(&format!("/runs/{run}/tool-results")), Some(json!({"results": []}))),
        ("GET", on("/plan"), None),
        ("PUT", on("/plan"), Some(json!({"plan": plan("goal"), "reason": "r"}))),
        ("PUT", on("/plan"), Some(json!({"plan": plan("goal"), "reason": "r", "expected_version": 99}))),
        ("GET", on("/plan/versions"), None),
        ("GET", on("/plan/versions/1"), None),
        ("GET", on("/plan/versions/99"), None),
        ("GET", on("/plan/diff?from=0&to=1"), None),
        ("PATCH", on("/plan/tasks/1"), Some(json!({"status": "completed", "reason": "r"}))),
        ("POST", on("/tools/get_current_plan"), Some(json!({}))),
        ("POST", on("/tools/update_plan"), Some(json!({"arguments": {"plan": plan("goal"), "reason": "r"}}))),
        ("POST", on("/tools/create_node"), Some(json!({"arguments": {"type": "t"}}))),
        ("POST", on("/tools/update_node"), Some(json!({"arguments": {"nodeId": "node_99", "type": "t"}}))),
        ("POST", on("/tools/delete_node"), Some(json!({"arguments": {"nodeId": "node_99"}}))),
        ("POST", on("/tools/get_node"), Some(json!({"arguments": {"nodeId": "node_1"}}))),
        ("POST", on("/tools/get_node_result"), Some(json!({"arguments": {"nodeId": "node_1"}}))),
        ("GET", on("/workflow"), None),
        ("PUT", on("/workflow"), Some(json!({"nodes": [{"id": "node_1", "type": "t"}], "expected_version": 99}))),
        ("PATCH", on("/workflow"), Some(json!({"name": "n"}))),
        ("POST", on("/workflow/nodes"), Some(json!({"type": "t"}))),
        ("GET", on("/workflow/nodes/node_1"), None),
        ("GET", on("/workflow/nodes/node_99"), None),
        ("PATCH", on("/workflow/nodes/node_1"), Some(json!({"position": 1}))),
        ("PATCH", on("/workflow/nodes/node_99"), Some(json!({"position": 1}))),
        ("DELETE", on("/workflow/nodes/node_99"), None),
        ("GET", on("/workflow/nodes/node_1/result"), None),
        ("GET", on("/workflow/nodes/node_99/result"), None),
        ("PUT", on("/workflow/nodes/node_99/result"), Some(json!({"status": "success", "result": 1}))),
        ("POST", on("/workflow/run"), Some(json!({}))),
        ("GET", on("/workflow/executions"), None),
        ("GET", on("/workflow/executions/x1"), None),
        ("POST", on("/workflow/executions/x1/cancel"), Some(json!({}))),
        ("POST", on("/workflow/nodes/node_1/run"), Some(json!({}))),
        ("POST", on("/tools/test_single_node"), Some(json!({"arguments": {"nodeId": "node_1"}}))),
        ("GET", on("/turns"), None),
        ("GET", on("/turns?agent=critic&limit=2"), None),
        ("GET", on("/turns/2"), None),
        ("GET", on("/turns/2/prompt"), None),
        ("POST", on("/turns/2"), Some(json!({"text": "x"}))),
        ("POST", on("/prompt"), Some(json!({"record": true, "agent": "critic"}))),
        ("GET", on("/tools"), None),
        ("GET", on("/tools?agent=critic"), None),
        ("GET", on("/tools?format=anthropic"), None),
        ("POST", on("/tools/read_messages"), Some(json!({}))),
        ("POST", on("/tools/read_messages"), Some(json!({"arguments": {"thread": "THREADNAME"}}))),
        ("POST", on("/tools/read_messages"), Some(json!({"agent": "critic"}))),
        ("POST", on("/tools/read_context_set"), Some(json!({"arguments": {"name": "SETNAME"}}))),
        ("POST", on("/tools/read_context_set"), Some(json!({"arguments": {"name": "critics"}}))),
        ("POST", on("/tools/write_context_set"), Some(json!({"arguments": {"name": "critics", "content": "x"}}))),
        ("GET", on("/browser"), None),
        ("POST", on("/browser/open"), Some(json!({"url": "http://example.com/", "tab_name": "Main Tab"}))),
        ("POST", on("/browser/navigate"), Some(json!({"url": "http://example.com/"}))),
        ("POST", on("/browser/action"), Some(json!({"action": "click", "selector": "#next"}))),
        ("POST", on("/browser/inspect"), Some(json!({}))),
        ("POST", on("/browser/screenshot"), Some(json!({}))),
        ("GET", on("/browser/screenshots"), None),
        ("GET", on("/browser/screenshots/1.png"), None),
        ("DELETE", on("/browser/screenshots/1.png"), None),
        ("POST", on("/browser/close"), Some(json!({}))),
        ("GET", on("/variables"), None),
        ("GET", on("/variables/VARNAME"), None),
        ("GET", on("/variables/VARNAME?reveal=true"), None),
        ("GET", on("/variables/absent"), None),
        ("PUT", on("/variables/absent"), Some(json!({"value": 1}))),
        ("DELETE", on("/variables/absent?reason=r"), None),
        ("DELETE", on("/variables?reason="), None),
        ("POST", on("/tools/get_workflow_variable"), Some(json!({"arguments": {"variableName": "all"}}))),
        ("POST", on("/tools/get_workflow_variable"), Some(json!({"arguments": {"variableName": "VARNAME"}}))),
        ("POST", on("/tools/get_workflow_variable"), Some(json!({"arguments": {"nodeId": 7}}))),
        ("POST", on("/tools/set_variable"), Some(json!({"arguments": {"variableName": "x", "value": 1}}))),
        ("POST", on("/tools/clear_variable"), Some(json!({"arguments": {"variableName": "VARNAME"}}))),
        ("POST", on("/tools/clear_all_variables"), Some(json!({"arguments": {"reason": ""}}))),
        ("GET", on("/tokens"), None),
        ("POST", on("/tokens"), Some(json!({"agent": "critic"}))),
        ("DELETE", on("/tokens/none"), None),
        ("GET", on("/export"), None),
        ("POST", "/v1/import".to_owned(), Some(json!({}))),
        ("GET", "/metrics".to_owned(), None),
    ];
    for name in ["open", "SETNAME", "critics", "Form", "absent"] {
        calls.push(("GET", on(&format!("/context-sets/{name}")), None));
        calls.push(("PUT", on(&format!("/context-sets/{name}")), Some(set.clone())));
        calls.push(("DELETE", on(&format!("/context-sets/{name}")), None));
    }
    calls.push(("GET", "/v1/collections".to_owned(), None));
    let document = json!({"text": "x"});
    for (method, path, body) in [
        ("PUT", "", Some(json!({}))),
        ("GET", "", None),
        ("GET", "/documents", None),
        ("POST", "/documents", Some(json!({"name": "d", "text": "x"}))),
        ("PUT", "/documents/d", Some(document)),
        ("GET", "/documents/d", None),
        ("DELETE", "/documents/d", None),
        ("GET", "/journal", None),
        ("DELETE", "/journal/2?reason=T", None),
        ("GET", "/export", None),
        ("POST", "/import", Some(json!({}))),
        ("DELETE", "", None),
    ] {
        calls.push((method, format!("/v1/collections/shared{path}"), body));
    }
    calls.push(("GET", on("/documents"), None));
    calls.push(("POST", on("/documents"), Some(json!({"name": "open", "text": "x", "visible_to": ["no such agent"]}))));
    calls.push(("GET", on("/documents?collection=shared"), None));
    calls.push(("GET", on("/documents/DOCNAME?collection=shared"), None));
    calls.push(("POST", on("/tools/read_document"), Some(json!({"arguments": {"name": "DOCNAME"}}))));
    for name in ["open", "DOCNAME", "critics", "absent"] {
        calls.push(("GET", on(&format!("/documents/{name}")), None));
        calls.push(("PUT", on(&format!("/documents/{name}")), Some(json!({"text": "new"}))));
        calls.push(("DELETE", on(&format!("/documents/{name}")), None));
    }
    for name in ["main", "THREADNAME", "critics", "late", "absent", "agent:critic"] {
        calls.push(("GET", on(&format!("/threads/{name}/messages")), None));
        calls.push(("GET", on(&format!("/threads/{name}/messages?limit=1")), None));
        calls.push(("GET", on(&format!("/threads/{name}/context")), None));
        let compress = json!({"method": "extractive", "target_tokens": 500});
        calls.push(("POST", on(&format!("/threads/{name}/compress")), Some(compress)));
        calls.push(("POST", on(&format!("/threads/{name}/compressions/12/undo")), None));
        for message in ["m13", "m15", "m18", "none"] {
            calls.push(("GET", on(&format!("/threads/{name}/messages/{message}")), None));
            calls.push(("PUT", on(&format!("/threads/{name}/messages/{message}/pin")), None));
            calls.push(("DELETE", on(&format!("/threads/{name}/messages/{message}/pin")), None));
        }
        calls.push(("POST", on(&format!("/threads/{name}/messages")), Some(message.clone())));
        calls.push(("PUT", on(&format!("/threads/{name}")), Some(json!({"visible_to": ["no such agent"]}))));
    }
    calls.push(("DELETE", on(""), None));
    calls
}

fn made(server: &Server, caller: &Caller, method: &str, path: &str, body: Option<&Value>) -> RequestBuilder {
    let joined = if path.contains('?') { '&' } else { '?' };
    let acting = caller.acting.map(|name| format!("{joined}as={name}")).unwrap_or_default();
    let mut call = server.call(method, &format!("{path}{acting}"));
    if let Some(token) = &caller.token {
        call = call.bearer_auth(token);
    }
    match body {
        Some(body) => call.json(body),
        None => call,
    }
}

#[tokio::test]
async fn i3_nobody_finds_a_trace_of_what_is_hidden_from_him() {
    let (server, callers) = stage().await;
    let runs = server.get("/v1/sessions/s/runs").await;
    let run = runs.body["runs"][0]["id"].as_str().unwrap().to_owned();
    // Whoever changes something comes after those who would find it: workers, the manager, the user.
    let order = ["none", "gone", "writer", "lead", "user"];
    for name in order {
        for caller in callers.iter().filter(|caller| caller.name == name) {
            for (method, path, body) in calls(&run) {
                let answer = Answer::of(made(&server, caller, method, &path, body.as_ref())).await;
                let call = format!("{name} {method} {path}");
                let sent = format!("{path} {}", body.unwrap_or_default());
                look(&call, name, &sent, &answer);
            }
        }
    }
}

#[test]
fn i3_every_call_of_the_document_is_tried() {
    // A stream goes on for ever: what it shows is held by tests of its own, what it lets in by the same table.
    const APART: [&str; 7] =
        ["/", "/healthz", "/readyz", "/openapi.json", "/metrics", "/v1/events", "/v1/sessions/{session}/events"];
    let tried = calls("r1");
    let fits = |path: &str, template: &str| {
        let split = |path: &str| path.split('?').next().unwrap().split('/').map(str::to_owned).collect::<Vec<_>>();
        let (path, template) = (split(path), split(template));
        let same = |(one, other): (&String, &String)| other.starts_with('{') || one == other;
        path.len() == template.len() && path.iter().zip(&template).all(same)
    };
    let document = callboard_server::openapi();
    for (template, verbs) in document["paths"].as_object().unwrap() {
        for verb in verbs.as_object().unwrap().keys().filter(|_| !APART.contains(&template.as_str())) {
            let is_tried =
                tried.iter().any(|(method, path, _)| method.eq_ignore_ascii_case(verb) && fits(path, template));
            assert!(is_tried, "{verb} {template} is tried by nobody: add it to `calls`");
        }
    }
}

/// Looks whether an answer says what it must not. What stands in the call itself tells nobody anything.
fn look(call: &str, name: &str, sent: &str, answer: &Answer) {
    assert!(answer.status.as_u16() < 500, "{call}: {}", answer.raw);
    if ["none", "gone"].contains(&name) {
        assert_eq!(answer.status, 401, "{call}: {}", answer.raw);
    }
    let hidden: &[&[&str]] = match name {
        "user" => &[],
        "lead" => &[HIDDEN_FROM_LEAD],
        _ => &[HIDDEN_FROM_WRITER, HIDDEN_FROM_LEAD],
    };
    let headers = format!("{:?}", answer.headers);
    for word in hidden.iter().copied().flatten().filter(|word| !sent.contains(**word)) {
        assert!(!answer.raw.contains(word) && !headers.contains(word), "{call} says {word}: {}", answer.raw);
    }
}

#[tokio::test]
async fn what_is_hidden_answers_like_what_is_not_there() {
    let (server, _) = stage().await;
    let ask = async |method: &str, path: &str, body: Value| {
        let answer = server.send(method, &format!("/v1/sessions/s/{path}?as=writer"), body).await;
        (answer.status, answer.raw, answer.headers.get("content-length").cloned())
    };
    let message = json!({"messages": [{"role": "assistant", "content": "hi"}]});
    for (hidden, absent) in [("SETNAME", "NOSETIS"), ("Form", "Farm")] {
        for method in ["GET", "DELETE", "PUT"] {
            let [one, other] = [hidden, absent].map(|name| format!("context-sets/{name}"));
            let (one, other) = (ask(method, &one, json!({})).await, ask(method, &other, json!({})).await);
            let renamed = other.1.replace(absent, hidden);
            assert_eq!((one.0, one.1), (other.0, renamed), "{method} {hidden}");
        }
    }
    for method in ["GET", "DELETE", "PUT"] {
        let [one, other] = ["DOCNAME", "NODOCIS"].map(|name| format!("documents/{name}"));
        let (one, other) = (ask(method, &one, json!({})).await, ask(method, &other, json!({})).await);
        assert_eq!((one.0, one.1), (other.0, other.1.replace("NODOCIS", "DOCNAME")), "{method} a document");
    }
    for (method, rest) in [("GET", "/messages"), ("POST", "/messages"), ("GET", "/context"), ("GET", "/messages/m13")] {
        let [hidden, absent] = ["THREADNAME", "NOTHREADIS"].map(|name| format!("threads/{name}{rest}"));
        let (hidden, absent) =
            (ask(method, &hidden, message.clone()).await, ask(method, &absent, message.clone()).await);
        assert_eq!(
            (hidden.0, hidden.1.clone(), hidden.2),
            (absent.0, absent.1.replace("NOTHREADIS", "THREADNAME"), absent.2)
        );
        assert_eq!(hidden.0, 404);
    }
    let threads = server.get("/v1/sessions/s/threads?as=writer").await.is(200);
    let late = threads.body["threads"].as_array().unwrap().iter().find(|thread| thread["name"] == "late").unwrap();
    assert_eq!((&late["messages"], &late["tokens"]), (&json!(0), &json!(0)), "of what came before it says nothing");
}

#[tokio::test]
async fn who_may_do_what_is_as_the_table_says() {
    let (server, callers) = stage().await;
    let runs = server.get("/v1/sessions/s/runs").await;
    let run = runs.body["runs"][0]["id"].as_str().unwrap().to_owned();
    let mut table = BTreeMap::new();
    for (method, path, body) in calls(&run) {
        let may = |name: &'static str| {
            let caller = callers.iter().find(|caller| caller.name == name && caller.token.is_some());
            let caller = caller.or_else(|| callers.iter().find(|caller| caller.name == name)).unwrap();
            let call = made(&server, caller, method, &path, body.as_ref());
            async move {
                let answer = Answer::of(call).await;
                // A refused tool is an answer for the model.
                let is_refused_tool = answer.raw.contains("\"is_error\":true") && answer.raw.contains(" may not ");
                if answer.status == 403 || is_refused_tool { "-" } else { name }
            }
        };
        let row = format!("{:6} {:6} {:4}", may("writer").await, may("lead").await, may("user").await);
        table.insert(format!("{method} {path} {}", body.map(|body| body.to_string()).unwrap_or_default()), row);
    }
    let table: String = table.iter().map(|(call, row)| format!("{row}  {call}\n")).collect();
    insta::assert_snapshot!(table.replace(&run, "RUN"));
}

#[tokio::test]
async fn what_a_session_grants_and_shares_workers_have() {
    let (server, team) = Server::with_team().await;
    let set = format!("{team}/context-sets/open");
    server.send("PUT", &set, json!({"content": "x"})).await.is(200);
    let by_writer = format!("{set}?as=writer");
    server.send("PUT", &by_writer, json!({"content": "y"})).await.problem(403, "forbidden");
    server.send("PUT", &by_writer, json!({"broken": true})).await.problem(403, "forbidden");
    server.get(&format!("{team}/runs?as=writer")).await.problem(403, "forbidden");
    server.send("PATCH", &team, json!({"grant": ["context_sets"], "share": ["runs"]})).await.is(200);
    server.send("PUT", &by_writer, json!({"content": "y"})).await.is(200);
    server.send("PUT", &by_writer, json!({"content": "y", "visible_to": "all"})).await.problem(403, "forbidden");
    server.get(&format!("{team}/runs?as=writer")).await.is(200);
}
