//! Team runs on a scripted model.

use std::process::Output;

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::home::{Home, Way};

/// A team that needs nothing but a model.
pub const TEAM: &str = r#"
title = "Poem"
input = "Write a poem."
default_visibility = "none"

[[agent]]
name = "lead"
role = "manager"
title = "who directs"

[[agent]]
name = "writer"
role = "worker"
instructions = "You write."

[[agent]]
name = "critic"
role = "worker"

[[set]]
name = "Tone"
content = "cheerful"
visible_to = ["writer"]
"#;

/// A directive that ends the work.
pub fn complete() -> Value {
    json!({"messageTo": "user", "message": "It is done.", "workflowComplete": true})
}

/// A directive that asks a worker.
pub fn ask(worker: &str, message: &str) -> Value {
    json!({"messageTo": worker, "message": message})
}

/// Whether a request is one for a directive.
pub fn wants_directive(request: &Value) -> bool {
    request.pointer("/response_format/json_schema/name") == Some(&json!("directive"))
}

/// What a well-behaved team says where a script has come to its end: the manager that it is done, workers a text.
pub fn otherwise(request: &Value) -> Reply {
    if wants_directive(request) { Reply::json(&complete()) } else { Reply::text("Here it is.") }
}

/// A model that gives `replies` in this order, and then whatever lets the run end well.
pub fn model(replies: Vec<Reply>) -> Scripted {
    Scripted::start(move |request, nth| replies.get(nth).cloned().unwrap_or_else(|| otherwise(request)))
}

/// A model that tells a story, turn by turn, and gives the same answer to the same question, however often it comes. `before`
/// says what it answers instead at a request.
pub fn storyteller(story: Vec<Reply>, mut before: impl FnMut(usize) -> Option<Reply> + Send + 'static) -> Scripted {
    let mut asked: Vec<Value> = Vec::new();
    Scripted::start(move |request, nth| {
        let known = asked.iter().position(|messages| *messages == request["messages"]);
        let turn = known.unwrap_or_else(|| {
            asked.push(request["messages"].clone());
            asked.len() - 1
        });
        before(nth).unwrap_or_else(|| story[turn].clone())
    })
}

/// How many turns were answered.
pub fn answered(journal: &[Value]) -> usize {
    journal.iter().filter(|entry| entry["type"] == "turn.answered").count()
}

/// What `callboard run --json` printed.
pub struct Played {
    pub entries: Vec<Value>,
    /// The last line; nothing where the process did not come that far.
    pub result: Value,
    pub status: Option<i32>,
}

impl Played {
    pub fn of(output: &Output) -> Self {
        let stdout = String::from_utf8(output.stdout.clone()).unwrap();
        let mut entries: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let result = entries.pop_if(|last| last.get("result").is_some());
        let result = result.map_or(Value::Null, |mut last| last["result"].take());
        Self { entries, result, status: output.status.code() }
    }

    /// Where the run is.
    pub fn run(&self) -> &str {
        self.result["run"]["status"].as_str().unwrap_or("unknown")
    }

    /// Why it does not go on.
    pub fn reason(&self) -> &str {
        self.result["run"]["reason"].as_str().unwrap_or_default()
    }

    /// What the entries of this type say.
    pub fn data(&self, kind: &str) -> Vec<&Value> {
        self.entries.iter().filter(|entry| entry["type"] == kind).map(|entry| &entry["data"]).collect()
    }
}

/// A home with the team's file in it.
pub fn stage(endpoint: &Scripted) -> Home {
    stage_on(endpoint, |home| home)
}

/// The same, whose store is reached in this way.
pub fn stage_on(endpoint: &Scripted, way: Way) -> Home {
    let home = way(Home::with(endpoint));
    home.write("team.toml", TEAM);
    home
}

/// Runs the team in the session `demo`.
pub fn play(home: &Home, more: &str) -> Played {
    run(home, &format!("run team.toml --id demo --json {more}"))
}

/// Goes on with the session `demo`.
pub fn go_on(home: &Home) -> Played {
    run(home, "run --session demo --json")
}

fn run(home: &Home, line: &str) -> Played {
    Played::of(&home.command(line.split_whitespace()).output().unwrap())
}
