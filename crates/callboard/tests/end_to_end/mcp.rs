//! The door for clients of the Model Context Protocol: what goes through it is what goes through every other one.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout},
};

use callboard_model::scripted::{Reply, Scripted, last_text};
use serde_json::{Value, json};

use crate::{
    home::{Home, Way},
    play::{ask, complete, otherwise},
};

both_ways!(
    the_same_call_has_the_same_effect_and_the_same_refusal_through_every_door,
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
        let mut child = home.start(&format!("mcp {line}"));
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
        let is_it = |message: &Value| message["params"]["uri"] == address;
        while !self.told.iter().any(is_it) {
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

[[agent]]
name = "lead"
role = "manager"

[[agent]]
name = "writer"
role = "worker"
tools = ["callboard:read_context_set", "callboard:write_context_set", "callboard:read_message", "callboard:search"]

[[set]]
name = "Tone"
content = "cheerful"
visible_to = ["writer"]

[[set]]
name = "Surprise"
content = "the boathouse"
visible_to = []
"#;

/// What came of a call: what the caller was told, whether it was refused, and what is in the journal for it.
#[derive(Debug, PartialEq)]
struct Outcome {
    told: String,
    is_refused: bool,
    entries: Vec<(Value, Value)>,
}

/// The doors, each with how a call as the writer goes through it: what is told, and whether it is refused.
type Door = (&'static str, fn(&Home, &str, &Value) -> (String, bool));

const DOORS: &[Door] = &[
    ("MCP", |home, tool, arguments| {
        let mut client = Client::start(home, "--session demo --as writer --tools all");
        let result = client.call(tool, arguments);
        client.end();
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }),
    ("command line", |home, tool, arguments| {
        let done = home.run(&format!("tools call {tool} '{arguments}' --session demo --as writer --json"));
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        let told = answer["result"].as_str().or(answer["error"]["detail"].as_str());
        (told.unwrap().to_owned(), done.status != 0)
    }),
];

/// Tools, their arguments, and what is to come of it.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("read_context_set", json!({"name": "Tone"}), "cheerful"),
        ("write_context_set", json!({"name": "Tone", "content": "spring"}), "The context set Tone"),
        ("read_context_set", json!({"name": "Surprise"}), "there is no context set"),
        ("read_context_set", json!({"nam": "Tone"}), "unknown field"),
        ("read_message", json!({"message_id": "nothing", "thread": "elsewhere"}), "there is no thread"),
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

fn entries(home: &Home, before: usize) -> Vec<(Value, Value)> {
    let new = home.journal("demo").into_iter().skip(before);
    new.filter(|entry| entry["type"].as_str().unwrap().starts_with("context_set."))
        .map(|entry| (entry["author"].clone(), entry["data"]["content"].clone()))
        .collect()
}

fn the_same_call_has_the_same_effect_and_the_same_refusal_through_every_door(way: Way) {
    for (tool, arguments, expected) in calls() {
        // In a run, the writer's model calls it.
        let replies = vec![
            Reply::json(&ask("writer", "Go on.")),
            Reply::tool_calls([(tool, arguments.clone())]),
            Reply::text("Here it is."),
            Reply::json(&complete()),
        ];
        let (home, endpoint, at) = before(way, replies);
        home.run("run --session demo \"Write.\"");
        let requests = endpoint.requests();
        let in_run = last_text(&requests[2]);
        let of_run = entries(&home, at);
        for (door, call) in DOORS {
            let (home, _endpoint, at) = before(way, Vec::new());
            let (told, is_refused) = call(&home, tool, &arguments);
            let outcome = Outcome { told, is_refused, entries: entries(&home, at) };
            assert!(outcome.told.contains(expected), "{tool} {arguments} by {door}: {outcome:?}");
            let what = outcome.told.lines().next().unwrap();
            let what = what.split(" (at ").next().unwrap();
            assert!(in_run.contains(what), "{tool} {arguments} by {door}: {outcome:?}, in a run: {in_run}");
            assert_eq!(outcome.entries, of_run, "{tool} {arguments} by {door}");
            assert_eq!(
                outcome.is_refused,
                !["cheerful", "The context set Tone"].contains(&expected),
                "{tool} {arguments} by {door}"
            );
        }
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

fn a_worker_sees_no_more_through_this_door(way: Way) {
    let (home, _endpoint, _) = before(way, Vec::new());
    let mut client = Client::start(&home, "--session demo --as writer --tools all");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!tools.contains("update_plan") && !tools.contains("create_session"), "{tools}");
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
