//! The door for clients of the Model Context Protocol: what goes through it is what goes through every other one.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use callboard_model::scripted::{Reply, Scripted, last_text};
use serde_json::{Value, json};

use crate::{
    home::{Home, Way, split},
    play::{ask, complete, otherwise},
};

both_ways!(
    the_same_call_has_the_same_effect_and_the_same_refusal_through_every_door,
    so_has_a_call_for_nodes_variables_and_tabs,
    what_an_agent_says_is_the_same_message_through_every_door,
    a_client_reads_what_is_there_and_is_told_what_changes,
    a_worker_sees_no_more_through_this_door,
);

/// A client that talks to `callboard mcp`.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// What it was told without having asked.
    told: Vec<Value>,
}

impl Client {
    fn start(home: &Home, line: &str) -> Self {
        Self::of(home.start(&format!("mcp {line}")))
    }

    /// A client of a process that has been started.
    fn of(mut child: Child) -> Self {
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, last: 0, told: Vec::new() };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let welcome = client.ask("initialize", hello);
        assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// Waits until it is told of a change of this resource.
    fn wait_for(&mut self, address: &str) {
        self.wait_until_told(|message| message["params"]["uri"] == address);
    }

    fn wait_until_told(&mut self, is_it: impl Fn(&Value) -> bool) {
        while !self.told.iter().any(&is_it) {
            let message = self.read();
            self.told.push(message);
        }
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

const TEAM: &str = r#"
title = "Poem"
input = "Write a poem."
default_visibility = "none"
grant = ["context_sets"]
share = ["plan", "variables"]

[[agent]]
name = "lead"
role = "manager"
tools = [
    "callboard:update_plan", "callboard:set_variable", "callboard:add_file", "callboard:delegate",
    "callboard:create_node", "callboard:update_node", "callboard:delete_node", "callboard:get_node_result",
    "callboard:test_single_node", "callboard:clear_variable", "callboard:clear_all_variables",
]

[[agent]]
name = "writer"
role = "worker"
tools = [
    "callboard:read", "callboard:write_context_set", "callboard:add_file", "callboard:get_current_plan",
    "callboard:update_plan", "callboard:get_workflow_variable", "callboard:set_variable", "callboard:memory",
    "callboard:delegate", "callboard:create_node", "callboard:get_node", "callboard:test_single_node",
    "callboard:clear_variable", "callboard:inspect_tab", "callboard:debug_open_tab", "callboard:debug_close_tab",
]

[[set]]
name = "Tone"
content = "cheerful"
visible_to = ["writer"]

[[set]]
name = "Surprise"
content = "the boathouse"
visible_to = []
"#;

/// What is to come of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    Nothing,
    /// An entry in the journal.
    Change,
    Refusal,
}

/// A call of a tool by an agent, what is to come of it, and what the agent is to be told.
struct Called {
    agent: &'static str,
    tool: &'static str,
    arguments: Value,
    comes: Comes,
    told: &'static str,
}

impl std::fmt::Display for Called {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} by {} with {}", self.tool, self.agent, self.arguments)
    }
}

/// The doors, each with how a call goes through it: what is told, and whether it is refused.
type Door = (&'static str, fn(&Home, &Called) -> (String, bool));

const DOORS: &[Door] = &[
    ("MCP", |home, called| {
        let mut client = Client::start(home, &format!("--session demo --as {} --tools all", called.agent));
        let result = client.call(called.tool, &called.arguments);
        client.end();
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }),
    ("HTTP", |home, called| {
        let path = format!("/v1/sessions/demo/tools/{}?as={}", called.tool, called.agent);
        let (status, answer) = home.with_http(|http| http.send("POST", &path, &json!({"arguments": called.arguments})));
        assert_eq!(status, 200, "{called}: {answer}");
        (answer["result"].as_str().unwrap().to_owned(), answer["is_error"] == true)
    }),
    ("command line", |home, Called { agent, tool, arguments, .. }| {
        let done = home.run(&format!("tools call {tool} '{arguments}' --session demo --as {agent} --json"));
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        let told = answer["result"].as_str().or(answer["error"]["detail"].as_str());
        (told.unwrap().to_owned(), done.status != 0)
    }),
];

/// Calls of tools for what is said, shared, found and planned.
fn calls() -> Vec<Called> {
    let plan = json!({"overall_goal": "A poem", "current_phase": "One",
        "phases": [{"phase_name": "One", "status": "pending", "tasks": []}]});
    let by = |agent, tool, arguments, comes, told| Called { agent, tool, arguments, comes, told };
    let tone = json!({"name": "Tone", "content": "spring"});
    let elsewhere = json!({"message_id": "nothing", "thread": "elsewhere"});
    let count = json!({"variableName": "count", "value": 1, "reason": "Counted."});
    let new_plan = json!({"plan": plan, "reason": "Begun."});
    let remembered = json!({"command": "create", "path": "/memories/tide.md", "file_text": "High at six."});
    vec![
        by("writer", "read_context_set", json!({"name": "Tone"}), Comes::Nothing, "cheerful"),
        by("writer", "write_context_set", tone, Comes::Change, "The context set Tone"),
        by("writer", "read_context_set", json!({"name": "Surprise"}), Comes::Refusal, "there is no context set"),
        by("writer", "read_context_set", json!({"nam": "Tone"}), Comes::Refusal, "unknown field"),
        by("writer", "read_message", elsewhere, Comes::Refusal, "there is no thread"),
        by("writer", "recall", json!({"query": "cheerful", "limit": 1}), Comes::Nothing, "context set Tone"),
        by("writer", "recall", json!({"query": " "}), Comes::Refusal, "say what is looked for"),
        by("writer", "search", json!({"q": "cheerful type:context_set"}), Comes::Nothing, "context set Tone"),
        by("writer", "search", json!({"q": "boathouse type:context_set"}), Comes::Nothing, ""),
        by("writer", "search", json!({"q": " "}), Comes::Refusal, "say what is looked for"),
        by("writer", "read_messages", json!({"thread": "elsewhere"}), Comes::Refusal, "there is no thread"),
        by("writer", "read_document", json!({"name": "nothing"}), Comes::Refusal, "there is no document"),
        by("writer", "get_current_plan", json!({}), Comes::Nothing, "There is no plan yet."),
        by("writer", "update_plan", new_plan.clone(), Comes::Refusal, "may not change the plan"),
        by("lead", "update_plan", new_plan, Comes::Change, ""),
        by("lead", "update_plan", json!({"plan": {}, "reason": "Begun."}), Comes::Refusal, "missing field"),
        by("writer", "get_workflow_variable", json!({"variableName": "count"}), Comes::Refusal, "there is no variable"),
        by("writer", "set_variable", count.clone(), Comes::Refusal, "may not set variables"),
        by("lead", "set_variable", count, Comes::Change, "count = 1"),
        by("writer", "memory", remembered, Comes::Change, "created successfully at: /memories/tide.md"),
    ]
}

/// Calls of tools for nodes of the workflow, its variables, and tabs of the browser. None of them needs a running browser.
fn workflow_calls() -> Vec<Called> {
    let by = |agent, tool, arguments, comes, told| Called { agent, tool, arguments, comes, told };
    let node = json!({"type": "note", "config": {"text": "High at six."}, "position": 1, "reason": "Begun."});
    let nowhere = json!({"nodeId": "node_9"});
    let moved = json!({"nodeId": "node_9", "position": 1});
    let count = json!({"variableName": "count", "reason": "Counted."});
    let why = json!({"reason": "Counted."});
    let page = json!({"url": "https://example.com", "tabName": "Main Tab"});
    let look = json!({"tabName": "Main Tab", "inspectionType": "dom_snapshot"});
    let tab = json!({"tabName": "Main Tab"});
    vec![
        by("lead", "create_node", node.clone(), Comes::Change, "Node created with ID node_1"),
        by("writer", "create_node", node, Comes::Refusal, "may not change the workflow"),
        by("lead", "update_node", moved, Comes::Refusal, "there is no node"),
        by("lead", "delete_node", nowhere.clone(), Comes::Refusal, "there is no node"),
        by("writer", "get_node", nowhere.clone(), Comes::Refusal, "there is no node"),
        by("lead", "get_node_result", nowhere.clone(), Comes::Refusal, "there is no node"),
        by("lead", "test_single_node", nowhere.clone(), Comes::Refusal, "there is no node"),
        by("writer", "test_single_node", nowhere, Comes::Refusal, "may not execute the workflow"),
        by("lead", "clear_variable", count.clone(), Comes::Refusal, "there is no variable"),
        by("writer", "clear_variable", count, Comes::Refusal, "may not clear variables"),
        by("lead", "clear_all_variables", why, Comes::Nothing, "There were no variables."),
        by("writer", "inspect_tab", look, Comes::Refusal, "may not see the browser"),
        by("writer", "debug_open_tab", page, Comes::Refusal, "may not use the browser"),
        by("writer", "debug_close_tab", tab, Comes::Refusal, "may not use the browser"),
    ]
}

/// Calls of tools for context files.
fn file_calls() -> Vec<Called> {
    let by = |agent, tool, arguments, comes, told| Called { agent, tool, arguments, comes, told };
    let tide = json!({"name": "tide", "for": "writer", "request": "Look at the tide."});
    let look = json!({"to": "writer", "task": "Look at the tide."});
    vec![
        by("writer", "find_files", json!({}), Comes::Nothing, "files"),
        by("writer", "read_file", json!({"path": "nothing.md"}), Comes::Refusal, "there is no context file"),
        by("writer", "add_file", tide.clone(), Comes::Refusal, "may not add context files"),
        by("lead", "add_file", tide, Comes::Change, "tide-context.md"),
        by("lead", "delegate", look.clone(), Comes::Nothing, "Look at the tide."),
        by("writer", "delegate", look, Comes::Refusal, "may not delegate with context files"),
        by("lead", "delegate", json!({"to": "writer", "task": " "}), Comes::Refusal, "say what the agent has to do"),
    ]
}

/// A session as it was before each call, and how many entries it has.
fn before(way: Way, replies: Vec<Reply>) -> (Home, Scripted, usize) {
    let endpoint = Scripted::start(move |request, nth| replies.get(nth).cloned().unwrap_or_else(|| otherwise(request)));
    let home = way(Home::with(&endpoint));
    home.write("team.toml", TEAM);
    home.json("session new team.toml --id demo");
    let entries = home.journal("demo").len();
    (home, endpoint, entries)
}

/// What of the journal a call of a tool changed, and who did.
fn entries(home: &Home, before: usize) -> Vec<Value> {
    const ABOUT: &[&str] = &["context_set.", "document.", "file.", "node.", "plan.", "variable.", "workflow."];
    let new = home.journal("demo").into_iter().skip(before);
    new.filter(|entry| ABOUT.iter().any(|about| entry["type"].as_str().unwrap().starts_with(about)))
        .map(|entry| {
            let data = ["name", "content", "value", "path", "node", "reason"].map(|field| entry["data"][field].clone());
            json!([entry["type"], entry["by"], data])
        })
        .collect()
}

/// A text without the times in it.
fn without_times(text: &str) -> String {
    let mut parts = text.split("\"at\":\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('"').map_or(part, |(_, rest)| rest))
}

/// What an agent is told in a run, where its model makes this call, and what that changes.
fn in_a_run(way: Way, Called { agent, tool, arguments, .. }: &Called) -> (String, Vec<Value>) {
    let mut replies = vec![Reply::tool_calls([(*tool, arguments.clone())])];
    if *agent != "lead" {
        replies.insert(0, Reply::json(&ask(agent, "Go on.")));
    }
    let after_the_call = replies.len();
    let (home, endpoint, at) = before(way, replies);
    home.run("run --session demo \"Write.\"");
    (without_times(last_text(&endpoint.requests()[after_the_call])), entries(&home, at))
}

/// Makes each of the calls through each of the doors, on a session of its own.
fn assert_same(way: Way, calls: Vec<Called>) {
    for called in calls {
        let (in_run, changed) = in_a_run(way, &called);
        for (door, call) in DOORS {
            let (home, _endpoint, at) = before(way, Vec::new());
            let (told, is_refused) = call(&home, &called);
            assert!(told.contains(called.told), "{called} through {door}: {told}");
            assert_eq!(is_refused, called.comes == Comes::Refusal, "{called} through {door}: {told}");
            let first = without_times(told.lines().next().unwrap());
            let first = first.split(" (at ").next().unwrap();
            assert!(in_run.contains(first), "{called} through {door}: {told}, in a run: {in_run}");
            let entries = entries(&home, at);
            assert_eq!(
                entries.len(),
                usize::from(called.comes == Comes::Change),
                "{called} through {door}: {entries:?}"
            );
            assert_eq!(entries, changed, "{called} through {door}");
        }
    }
}

fn the_same_call_has_the_same_effect_and_the_same_refusal_through_every_door(way: Way) {
    assert_same(way, calls());
}

fn so_has_a_call_for_nodes_variables_and_tabs(way: Way) {
    assert_same(way, workflow_calls());
}

/// A server has the context files of a project.
#[test]
fn so_has_a_call_for_context_files() {
    assert_same(|home| home.at_server("--ttl never --project ."), file_calls());
}

/// How an agent says a text in a conversation through a door: what is told, and whether it is refused.
type Speaking = (&'static str, fn(&Home, &str, &str, &str) -> (String, bool));

const SPEAKING: &[Speaking] = &[
    ("MCP", |home, agent, thread, text| {
        let mut client = Client::start(home, &format!("--session demo --as {agent}"));
        let result = client.call("send_message", &json!({"thread": thread, "content": text}));
        client.end();
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }),
    ("HTTP", |home, agent, thread, text| {
        let path = format!("/v1/sessions/demo/threads/{thread}/messages?as={agent}");
        let messages = json!({"messages": [{"role": "assistant", "content": text}]});
        let (status, answer) = home.with_http(|http| http.send("POST", &path, &messages));
        (answer.to_string(), status != 200)
    }),
    ("command line", |home, agent, thread, text| {
        let done = home.run(&format!("say '{text}' --session demo --as {agent} --thread {thread} --json"));
        (done.stdout, done.status != 0)
    }),
];

/// What agents have said since, in order.
fn said(home: &Home, before: usize) -> Vec<Value> {
    let new = home.journal("demo").into_iter().skip(before);
    new.filter(|entry| entry["type"] == "message.added" && entry["by"] != "user")
        .map(|entry| {
            let data = ["thread_id", "role", "agent", "content"].map(|field| entry["data"][field].clone());
            json!([entry["by"], data])
        })
        .collect()
}

/// In a run, agents say things in directives and answers.
fn what_an_agent_says_is_the_same_message_through_every_door(way: Way) {
    let replies = vec![Reply::json(&ask("writer", "Go on.")), Reply::text("Here it is."), Reply::json(&complete())];
    let (home, _endpoint, at) = before(way, replies);
    home.run("run --session demo \"Write.\"");
    let in_run = said(&home, at);
    for (door, speak) in SPEAKING {
        let (home, _endpoint, at) = before(way, Vec::new());
        for (agent, thread, text) in [
            ("lead", "agent:writer", "Go on."),
            ("writer", "agent:writer", "Here it is."),
            ("lead", "main", "It is done."),
        ] {
            let (told, is_refused) = speak(&home, agent, thread, text);
            assert!(!is_refused, "{text} by {agent} through {door}: {told}");
        }
        let (told, is_refused) = speak(&home, "writer", "elsewhere", "Hello?");
        assert!(is_refused && told.contains("there is no thread"), "through {door}: {told}");
        assert_eq!(said(&home, at), in_run, "through {door}");
    }
}

fn a_client_reads_what_is_there_and_is_told_what_changes(way: Way) {
    let (home, _endpoint, _) = before(way, Vec::new());
    let mut client = Client::start(&home, "--session demo --as writer");
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].to_string();
    assert!(
        listed.contains("callboard://demo/context-sets/Tone") && listed.contains("callboard://demo/prompts/writer")
    );
    let tone = "callboard://demo/context-sets/Tone";
    let read = client.ask("resources/read", json!({"uri": tone}))["result"]["contents"][0].clone();
    assert_eq!((&read["text"], &read["mimeType"]), (&json!("cheerful"), &json!("text/plain")));
    assert!(client.ask("resources/subscribe", json!({"uri": tone}))["error"].is_null());
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].to_string();
    assert!(prompts.contains("join") && prompts.contains("agent:writer") && !prompts.contains("agent:lead"));
    let joined = client.ask("prompts/get", json!({"name": "join"}))["result"]["messages"][0]["content"]["text"].clone();
    let joined = joined.as_str().unwrap();
    assert!(joined.starts_with("You are writer, a worker") && joined.split_whitespace().count() < 240, "{joined}");
    let prompt = client.call("get_prompt", &json!({}));
    assert!(prompt["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{prompt}");
    let said = client.call("send_message", &json!({"content": "It is done."}));
    assert_ne!(said["isError"], true, "{said}");
    let message = &home.json("messages agent:writer --session demo")["messages"][0];
    assert_eq!((&message["content"], &message["role"]), (&json!("It is done."), &json!("AI")), "{message}");
    home.json("set put Tone sad --session demo --visible-to writer");
    client.wait_for(tone);
    client.end();
}

#[test]
fn each_document_and_each_file_is_a_resource() {
    let (home, _endpoint, _) = before(|home| home.at_server("--ttl never --project ."), Vec::new());
    let mut client = Client::start(&home, "--session demo --as writer");
    let list = |client: &mut Client| client.ask("resources/list", json!({}))["result"]["resources"].to_string();
    let (guide, login) = (
        "callboard://demo/documents/guide.md",
        "callboard://demo/files/.tmp%2Fsessions%2Fdemo%2Ffeatures%2Flogin-context.md",
    );
    let listed = list(&mut client);
    assert!(
        !listed.contains(guide) && !listed.contains(login) && listed.contains("callboard://demo/workflow"),
        "{listed}"
    );
    client.ask("resources/subscribe", json!({"uri": login}));
    let document = json!({"name": "guide.md", "text": "Tides rise twice a day.", "visible_to": ["writer"]});
    let file = json!({"category": "features", "name": "login", "for": "writer", "request": "Build the login."});
    home.http().done("POST", "/v1/sessions/demo/documents", &document);
    home.http().done("POST", "/v1/sessions/demo/files", &file);
    client.wait_for(login);
    client.wait_until_told(|message| message["method"] == "notifications/resources/list_changed");
    let listed = list(&mut client);
    for (address, says) in [(guide, "Tides rise twice a day."), (login, "Build the login.")] {
        assert!(listed.contains(address), "{address}: {listed}");
        let read = client.ask("resources/read", json!({"uri": address}));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(says), "{address}: {read}");
    }
    client.end();
}

fn a_worker_sees_no_more_through_this_door(way: Way) {
    let (home, _endpoint, _) = before(way, Vec::new());
    let mut client = Client::start(&home, "--session demo --as writer --tools all");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!tools.contains("update_plan") && !tools.contains("create_session"), "{tools}");
    // What is not on offer to it is refused, also where it is called by its name.
    for tool in ["list_sessions", "create_session"] {
        let refused = client.call(tool, &json!({}));
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && told.contains("works as the agent writer"), "{tool}: {refused}");
    }
    let mut all = client.ask("resources/list", json!({})).to_string();
    for address in [
        "callboard://demo/context-sets/Surprise",
        "callboard://demo/context-sets/Nothing",
        "callboard://demo/prompts/lead",
        "callboard://other/plan",
    ] {
        let refused = client.ask("resources/read", json!({"uri": address}));
        assert!(refused["error"]["message"].is_string(), "{address}: {refused}");
        all.push_str(&refused.to_string().replace(address, ""));
    }
    let refused = |name: &str, client: &mut Client| {
        let refused = client.ask("resources/read", json!({"uri": format!("callboard://demo/context-sets/{name}")}));
        refused["error"].to_string().replace(name, "X")
    };
    assert_eq!(refused("Surprise", &mut client), refused("Nothing", &mut client));
    client.ask("resources/subscribe", json!({"uri": "callboard://demo/context-sets/Surprise"}));
    home.json("set put Surprise 'the old boathouse' --session demo");
    home.json("set put Tone sad --session demo --visible-to writer");
    all.push_str(&client.ask("resources/list", json!({})).to_string());
    assert!(client.told.iter().all(|told| !told.to_string().contains("Surprise")), "{:?}", client.told);
    assert!(!all.contains("boathouse"), "{all}");
    client.end();
}

#[test]
fn what_names_nothing_is_refused_before_a_client_waits() {
    let (home, _endpoint, _) = before(|home| home, Vec::new());
    for (line, status, what) in [
        ("mcp --as writer", 2, "name the session too"),
        ("mcp --session nowhere", 1, "there is no session"),
        ("mcp --session demo --as nobody", 1, "nobody"),
        ("mcp --session demo --tools dance", 2, "there is no tool \"dance\""),
    ] {
        let (exit, error) = home.error(line);
        assert!(exit == status && error["detail"].as_str().unwrap().contains(what), "{line}: {exit} {error}");
    }
    let mut client = Client::start(&home, "");
    for (tool, arguments, what) in [
        ("read_context_set", json!({"name": "Tone"}), "name the session"),
        ("read_context_set", json!({"name": "Tone", "session": "nowhere"}), "there is no session"),
        ("get_prompt", json!({"session": "demo", "colour": 1}), "has no argument `colour`"),
        ("send_message", json!({"session": "demo"}), "`content` is missing"),
    ] {
        let result = client.call(tool, &arguments);
        let told = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && told.contains(what), "{tool} {arguments}: {result}");
    }
    let unknown = client.ask("tools/call", json!({"name": "dance"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there is no tool \"dance\""), "{unknown}");
    client.end();
}

#[test]
fn an_access_token_says_for_whom_and_where_a_client_works() {
    let (home, _endpoint, _) = before(Home::over_http, Vec::new());
    home.json("session new --id other --agent lead:manager --agent writer");
    let token = home.json("token new --agent writer --session demo")["token"].as_str().unwrap().to_owned();
    let with_token = |line: &str| {
        let mut command = home.command(split(line));
        command.env("CALLBOARD_TOKEN", &token).stdin(Stdio::piped()).stderr(Stdio::null());
        command
    };
    let mut client = Client::of(with_token("mcp --tools all").spawn().unwrap());
    let prompt = client.call("get_prompt", &json!({}));
    assert!(prompt["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{prompt}");
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].to_string();
    assert!(prompts.contains("agent:writer") && !prompts.contains("agent:lead"), "{prompts}");
    for (arguments, what) in [
        (json!({"session": "other"}), "for the session demo alone"),
        (json!({"agent": "lead"}), "may not build the prompts of others"),
    ] {
        let refused = client.call("get_prompt", &arguments);
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && told.contains(what), "{arguments}: {refused}");
    }
    client.end();
    for (line, code) in [("mcp --as lead --json", "forbidden"), ("mcp --session other --json", "unauthorized")] {
        let output = with_token(line).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &answer["error"]["code"]), (Some(1), &json!(code)), "{line}: {answer}");
    }
}

/// The blocks in this language of a page.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let pieces = page.split("```");
    pieces.filter_map(|piece| piece.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// The configurations of coding agents in the documentation, as they are pasted, start a server that answers.
#[test]
fn the_configurations_in_the_documentation_start_a_server() {
    let claude = include_str!("../../../../docs/clients/claude-code.md");
    let codex = include_str!("../../../../docs/clients/codex.md");
    let cursor = include_str!("../../../../docs/clients/cursor.md");
    let gemini = include_str!("../../../../docs/clients/gemini-cli.md");
    let opencode = include_str!("../../../../docs/clients/opencode.md");
    let mut lines = Vec::new();
    for line in blocks(claude, "sh").iter().flat_map(|block| block.lines()) {
        lines.extend(line.strip_prefix("claude mcp add callboard -- ").map(str::to_owned));
    }
    for line in blocks(gemini, "sh").iter().flat_map(|block| block.lines()) {
        lines.extend(line.strip_prefix("gemini mcp add callboard ").map(str::to_owned));
    }
    let words = |server: &Value| {
        let arguments = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        std::iter::once(server["command"].as_str().unwrap()).chain(arguments).collect::<Vec<_>>().join(" ")
    };
    for block in blocks(codex, "toml") {
        let config: Value = toml::from_str(block).unwrap();
        let server = &config["mcp_servers"]["callboard"];
        match server["url"].as_str() {
            Some(url) => assert_eq!(url, "http://127.0.0.1:7420/mcp?session=tides&as=writer"),
            None if server.is_null() => assert!(config["model_providers"].is_object(), "{block}"),
            None => lines.push(words(server)),
        }
    }
    for block in blocks(opencode, "json") {
        let config: Value = serde_json::from_str(block).unwrap();
        let command = config["mcp"]["callboard"]["command"].as_array();
        lines
            .extend(command.map(|words| words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")));
    }
    for block in blocks(cursor, "json") {
        let config: Value = serde_json::from_str(block).unwrap();
        let server = &config["mcpServers"]["callboard"];
        match server["url"].as_str() {
            Some(url) => assert_eq!(url, "http://127.0.0.1:7420/mcp?session=tides&as=writer"),
            None => lines.push(words(server)),
        }
    }
    assert_eq!(lines.len(), 5, "{lines:?}");
    let home = Home::new();
    home.json("session new --id tides --agent lead:manager --agent writer");
    for line in lines {
        let mut client = Client::start(&home, line.strip_prefix("callboard mcp ").unwrap());
        let prompt = client.call("get_prompt", &json!({}));
        assert!(prompt["content"][0]["text"].as_str().unwrap().contains("You are writer"), "{line}: {prompt}");
        client.end();
    }
}
