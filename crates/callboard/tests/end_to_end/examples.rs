//! The examples in `examples/` do what they say, at a server and with a real small model.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use callboard_model::scripted::{Reply, Scripted};
use serde_json::json;

use crate::{
    home::Home,
    real_model::model_url,
    server::{Http, Relay, Server, lines},
};

/// An example, in its folder, with the programs it is run by and what it needs of the world.
fn example(folder: &Path, program: &str, arguments: &[&str], server: &Server) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("CALLBOARD_URL", &server.url).env("no_proxy", "*");
    command.env("OPENAI_BASE_URL", model_url());
    said(program, command.output())
}

fn said(program: &str, output: std::io::Result<Output>) -> String {
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}: install it to run the examples"));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// What both agents said, which nobody but the model knows, and that the critic saw what it may and no more.
fn assert_played(said: &str) {
    for expected in ["writer is shown", "critic is shown", "the critic saw the facts, and never the brief"] {
        assert!(said.contains(expected), "{said}");
    }
    let messages = said.split("never the brief\n").nth(1).unwrap();
    assert!(messages.contains("user: Say when high water comes."), "{said}");
    assert!(messages.contains("\nwriter: ") && messages.contains("\ncritic: "), "{said}");
    assert!(said.contains("message.added by agent:writer"), "the stream shows what happens: {said}");
}

#[test]
fn the_example_in_python_holds_a_teams_context() {
    let home = Home::new();
    let server = Server::start(&home, "");
    assert_played(&example(&folder("python"), "python3", &["team.py"], &server));
}

const README: &str = include_str!("../../../../README.md");
const OWN_LOOP: &str = include_str!("../../../../docs/own-loop.md");

/// The program of this name that a page shows.
fn program_in<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, program) = page.split_once(&format!("```python\n# {name}\n")).unwrap();
    program.split("```").next().unwrap()
}

/// The loop that the README shows, on a model that says what it was asked.
#[test]
fn the_loop_in_the_readme_asks_a_model_for_each_agent() {
    let program = program_in(README, "loop.py");
    let lines = program.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 18, "the loop has {lines} lines");
    let home = Home::new();
    let server = Server::start(&home, "");
    home.write("loop.py", program.replace("http://127.0.0.1:7420", &server.url));
    let endpoint = Scripted::start(|request, nth| {
        let shown = request["messages"].to_string();
        assert!(shown.contains("haiku about tides"), "{shown}");
        // Each sees what those before it said.
        assert!((0..nth).all(|before| shown.contains(&format!("answer {before}"))), "{shown}");
        Reply::text(format!("answer {nth}"))
    });
    let mut python = Command::new("python3");
    python.arg("loop.py").current_dir(home.path("")).env("OPENAI_BASE_URL", endpoint.base_url()).env("no_proxy", "*");
    assert_eq!(said("python3", python.output()), "writer: answer 0\ncritic: answer 1\nwriter: answer 2\n");
}

/// The loop with tools of the documentation: a tool's result is in the next prompt.
#[test]
fn the_loop_in_the_documentation_executes_tools() {
    let program = program_in(OWN_LOOP, "own_loop.py");
    let home = Home::new().over_http();
    let http = home.http();
    home.run("session new --id tides --agent writer --agent critic");
    home.run("set put Facts 'High water comes at noon.' --session tides --visible-to writer");
    home.run("say 'When does high water come?' --session tides");
    home.write("own_loop.py", program.replace("http://127.0.0.1:7420", &http.url));
    let endpoint = Scripted::start(|request, nth| match nth {
        0 => {
            assert!(request["tools"].to_string().contains("read_context_set"), "{request}");
            Reply::tool_calls([("read_context_set", json!({"name": "Facts"}))])
        }
        _ => {
            let last = request["messages"].as_array().unwrap().last().unwrap();
            assert!(last["role"] == "tool" && last.to_string().contains("comes at noon"), "{request}");
            Reply::text("At noon.")
        }
    });
    let mut python = Command::new("python3");
    python.args(["own_loop.py", "tides", "writer"]).current_dir(home.path("")).env("no_proxy", "*");
    python.env("OPENAI_BASE_URL", endpoint.base_url()).env("OPENAI_API_KEY", "none");
    assert_eq!(said("python3", python.output()), "At noon.\n");
    let (_, turns) = http.get("/v1/sessions/tides/turns");
    assert_eq!(turns["turns"].as_array().unwrap().len(), 2);
}

/// Both loops take an empty answer as one, and a tool that fails tells its model so.
#[test]
fn the_loops_in_the_pages_go_on_after_an_empty_answer_and_a_tool_that_fails() {
    let home = Home::new().over_http();
    let http = home.http();
    let run = |program: &str, words: &[&str], endpoint: &Scripted| {
        home.write("loop.py", program.replace("http://127.0.0.1:7420", &http.url));
        let mut python = Command::new("python3");
        python.arg("loop.py").args(words).current_dir(home.path("")).env("no_proxy", "*");
        said("python3", python.env("OPENAI_BASE_URL", endpoint.base_url()).output())
    };
    let silent = Scripted::start(|_, nth| Reply::text(if nth == 0 { "" } else { "A haiku." }));
    let told = run(program_in(README, "loop.py"), &[], &silent);
    assert_eq!(told, "writer: \ncritic: A haiku.\nwriter: A haiku.\n");

    home.run("session new --id tides --agent writer");
    home.run("say 'When does high water come?' --session tides");
    let failing = Scripted::start(|request, nth| match nth {
        0 => Reply::tool_calls([("read_context_set", json!({"name": "Nowhere"}))]),
        _ => {
            let last = request["messages"].as_array().unwrap().last().unwrap();
            assert!(last["role"] == "tool" && last.to_string().contains("there is no context set"), "{request}");
            Reply::text("")
        }
    });
    assert_eq!(run(program_in(OWN_LOOP, "own_loop.py"), &["tides", "writer"], &failing), "\n");
    let (_, turns) = http.get("/v1/sessions/tides/turns");
    let turns = turns["turns"].as_array().unwrap();
    assert!(turns.len() == 2 && turns.iter().all(|turn| turn["answered"] == true), "{turns:?}");
}

/// What the documentation shows for Anthropic: the answer and its usage are taken as that API gives them.
#[test]
fn the_lines_in_the_documentation_ask_anthropic() {
    let (_, page) = OWN_LOOP.split_once("## With Anthropic\n").unwrap();
    let shown = page.lines().map(|line| line.strip_prefix("    "));
    let lines: Vec<_> = shown.skip_while(Option::is_none).map_while(|line| line).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let home = Home::new().over_http();
    let http = home.http();
    home.run("session new --id tides --agent writer");
    home.run("say 'When does high water come?' --session tides");
    let endpoint = Scripted::start(|request, _| {
        assert!(request["system"].is_array() && request["messages"].to_string().contains("high water"), "{request}");
        Reply::text("At noon.").with_usage(90, 4)
    });
    let asked = format!("{}/messages", endpoint.base_url());
    let lines = lines.join("\n").replace("https://api.anthropic.com/v1/messages", &asked);
    let before = format!(
        "import json, urllib.request\nMODEL, agent, session = 'claude-sonnet-4-5', 'writer', '{}/v1/sessions/tides'\n\
         def post(url, body):\n    headers = {{'Content-Type': 'application/json'}}\n    \
         return json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)))\n",
        http.url
    );
    home.write("ask.py", before + &lines);
    let mut python = Command::new("python3");
    said("python3", python.arg("ask.py").current_dir(home.path("")).env("no_proxy", "*").output());
    let (_, turns) = http.get("/v1/sessions/tides/turns");
    assert_eq!(
        (&turns["turns"][0]["answered"], &turns["turns"][0]["usage"]["prompt_tokens"]),
        (&json!(true), &json!(90))
    );
    let (_, messages) = http.get("/v1/sessions/tides/threads/main/messages");
    assert!(messages["messages"][1].to_string().contains("At noon."), "{messages}");
}

/// What stands for the clients of the documentation's loop: a way to post, and a model that calls the tool once.
const MEMORY_CLIENTS: &str = r#"
import json, sys, types, urllib.request

class Answer:
    def __init__(self, url, body):
        headers = {"Content-Type": "application/json"}
        self.request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    def raise_for_status(self):
        return self
    def json(self):
        return json.load(urllib.request.urlopen(self.request))

sys.modules["httpx"] = types.SimpleNamespace(post=lambda url, json: Answer(url, json))

def create(messages, **_):
    print(messages[-1]["content"][0]["content"])
    return types.SimpleNamespace(stop_reason="end_turn", content=[])

client = types.SimpleNamespace(messages=types.SimpleNamespace(create=create))
MODEL, messages = "claude-sonnet-4-5", []
block = types.SimpleNamespace(type="tool_use", id="c1", input=json.loads(sys.argv[1]))
answer = types.SimpleNamespace(stop_reason="tool_use", content=[block])
"#;

/// The loop of the documentation answers calls of Anthropic's memory tool: what one client kept, another one reads.
#[test]
fn the_loop_in_the_documentation_keeps_a_memory_in_the_session() {
    let (_, page) = include_str!("../../../../docs/gateway.md").split_once("## Anthropic's memory tool\n").unwrap();
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let home = Home::new().over_http();
    home.run("session new --id talk --agent helper");
    let program = program.replace("http://127.0.0.1:7420", &home.http().url);
    home.write("memory.py", format!("{MEMORY_CLIENTS}{program}"));
    let told = |call: serde_json::Value| {
        let mut python = Command::new("python3");
        python.args(["memory.py", &call.to_string()]).current_dir(home.path("")).env("no_proxy", "*");
        said("python3", python.output())
    };
    let path = "/memories/tide.md";
    let made = told(json!({"command": "create", "path": path, "file_text": "High water comes at noon."}));
    assert!(made.contains("created successfully"), "{made}");
    let seen = told(json!({"command": "view", "path": path}));
    assert!(seen.contains("High water comes at noon."), "{seen}");
}

/// A small agent of `examples/agents`, ready to be started.
fn agent(program: &str, words: &[&str], server: &Server, endpoint: Option<&Scripted>) -> Command {
    let path = folder("agents").join(program);
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines <= 60, "{program} has {lines} lines: it is to be read in a minute");
    let mut python = Command::new("python3");
    python.arg(path).args(words).env("CALLBOARD_URL", &server.url).env("no_proxy", "*");
    if let Some(endpoint) = endpoint {
        python.env("OPENAI_BASE_URL", endpoint.base_url());
    }
    python
}

#[test]
fn three_agents_work_in_a_loop_of_their_own() {
    let home = Home::new();
    let server = Server::start(&home, "");
    let endpoint = Scripted::start(|request, nth| {
        let shown = request["messages"].to_string();
        let field = json!({"key": "who", "valueType": "STRING", "label": "Readers", "required": true});
        let form = json!({"name": "Who reads", "fields": [field]});
        let brief =
            json!({"contextSets": [{"name": "Brief", "context": "For sailors.", "visibleToAgents": ["writer"]}]});
        match nth {
            0 => Reply::json(&json!({"isInfoRequest": true, "message": "For whom?", "form": form})),
            1 => {
                assert!(shown.contains("Readers: sailors") && shown.contains("the user has answered it"), "{shown}");
                Reply::json(&json!({"messageTo": "writer", "message": "Write it.", "contextSetUpdate": brief}))
            }
            2 => {
                assert!(shown.contains("For sailors.") && shown.contains("Write it."), "{shown}");
                Reply::text("The tide rises.")
            }
            3 => {
                let told = shown.split_once("To writer: Write it.").expect("its message").1;
                assert!(told.contains("context set Brief: created") && !told.contains("Write it."), "{shown}");
                Reply::json(&json!({"messageTo": "critic", "message": "Judge: The tide rises."}))
            }
            4 => {
                assert!(shown.contains("The tide rises.") && !shown.contains("For sailors."), "{shown}");
                assert!(!shown.contains("Write it."), "its thread is its own: {shown}");
                Reply::text("Too short.")
            }
            _ => Reply::json(&json!({"messageTo": "user", "message": "It is done.", "workflowComplete": true})),
        }
    });
    home.write("answers", "sailors\n");
    let mut python = agent("team.py", &["Tides"], &server, Some(&endpoint));
    let said = said("python3", python.stdin(std::fs::File::open(home.path("answers")).unwrap()).output());
    let expected = "lead to user: For whom?\nReaders: lead to writer: Write it.\nwriter: The tide rises.\n\
                    lead to critic: Judge: The tide rises.\ncritic: Too short.\nlead to user: It is done.\n";
    assert_eq!(said, expected);
    let http = Http::new(&server);
    let id = http.get("/v1/sessions").1["sessions"][0]["id"].as_str().unwrap().to_owned();
    let (_, turns) = http.get(&format!("/v1/sessions/{id}/turns"));
    let turns = turns["turns"].as_array().unwrap();
    assert!(turns.len() == 6 && turns.iter().all(|turn| turn["answered"] == true), "{turns:?}");
}

#[test]
fn a_directive_that_is_refused_or_none_at_all_is_told_to_the_manager_that_gives_another() {
    let home = Home::new();
    let server = Server::start(&home, "");
    let endpoint = Scripted::start(|request, nth| {
        let shown = request["messages"].to_string();
        match nth {
            0 | 3 => Reply::text(""),
            1 => {
                assert!(shown.contains("Your directive was refused: no JSON object"), "{shown}");
                Reply::json(&json!({"messageTo": "cook", "message": "Cook it."}))
            }
            2 => {
                assert!(shown.contains("cook") && shown.contains("writer, critic"), "{shown}");
                Reply::json(&json!({"messageTo": "writer", "message": "Write it."}))
            }
            _ => Reply::json(&json!({"messageTo": "user", "message": "It is done.", "workflowComplete": true})),
        }
    });
    let said = said("python3", agent("team.py", &["Tides"], &server, Some(&endpoint)).output());
    assert_eq!(said, "lead to writer: Write it.\nwriter: \nlead to user: It is done.\n");
    let http = Http::new(&server);
    let id = http.get("/v1/sessions").1["sessions"][0]["id"].as_str().unwrap().to_owned();
    let (_, turns) = http.get(&format!("/v1/sessions/{id}/turns"));
    let failed = turns["turns"].as_array().unwrap().iter().filter(|turn| turn["failed"] == true).count();
    assert_eq!(failed, 3, "{turns}");
}

#[test]
fn a_follower_misses_nothing_while_the_server_is_restarted() {
    let home = Home::new();
    let mut server = Server::start(&home, "");
    home.run("session new --id talk --agent writer");
    let relay = Relay::to(&server);
    let mut python = agent("follow.py", &["talk", "0"], &server, None);
    python.env("CALLBOARD_URL", format!("http://{}", relay.address));
    let mut follower = python.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = lines(&mut follower);
    let mut next = || lines.next().unwrap().split_once(' ').unwrap().1.to_owned();
    home.run("say one --session talk --as writer");
    assert_eq!(next(), "writer: one");
    relay.cut();
    server.kill();
    home.run("say two --session talk");
    let server = Server::start(&home, "");
    relay.lead_to(&server);
    home.run("say three --session talk");
    assert_eq!((next(), next()), ("user: two".to_owned(), "user: three".to_owned()));
    drop(server);
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn a_conversation_goes_on_past_the_window_of_its_model() {
    const WINDOW: u64 = 2000;
    let home = Home::new();
    let server = Server::start(&home, "");
    let endpoint = Scripted::start(|_, nth| Reply::text(format!("I see, number {nth}.")));
    let talk =
        (0..60).map(|day| format!("Day {day}: at the pier the water stood {day} centimetres over the forecast."));
    let first = "My sister Ana moved to Lisbon in May.".to_owned();
    let lines: Vec<_> = [first].into_iter().chain(talk).chain(["Where did Ana move?".to_owned()]).collect();
    home.write("lines", lines.join("\n"));
    let mut python = agent("chat.py", &["talk"], &server, Some(&endpoint));
    python.env("WINDOW", WINDOW.to_string()).stdin(std::fs::File::open(home.path("lines")).unwrap());
    let said = said("python3", python.output());
    assert_eq!(said.lines().count(), lines.len());
    let sizes = said.lines().map(|line| line[1..].split(' ').next().unwrap().parse::<u64>().unwrap());
    assert!(sizes.max() <= Some(WINDOW - WINDOW / 8), "{said}");
    let requests = endpoint.requests();
    assert!(requests.last().unwrap()["messages"].to_string().contains("Lisbon"), "what was said first is still found");
    let http = Http::new(&server);
    let compressed = http.get("/v1/sessions/talk/journal?types=conversation.compressed").1;
    assert!(!compressed["entries"].as_array().unwrap().is_empty(), "the older part was compressed");
    let messages = http.get("/v1/sessions/talk/threads/main/messages").1;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2 * lines.len(), "and nothing is deleted");
}

#[test]
fn the_example_in_typescript_holds_a_teams_context() {
    let home = Home::new();
    let server = Server::start(&home, "");
    // What it needs is installed already. The rest is in a folder that goes with the test.
    let packages = folder("typescript").join("node_modules");
    assert!(packages.exists(), "the packages of the example are missing: run `cargo xtask setup`");
    let place = home.path("typescript");
    std::fs::create_dir(&place).unwrap();
    for file in ["package.json", "package-lock.json", "tsconfig.json", "team.ts", ".npmrc"] {
        std::fs::copy(folder("typescript").join(file), place.join(file)).unwrap();
    }
    std::os::unix::fs::symlink(packages, place.join("node_modules")).unwrap();
    assert_played(&example(&place, "npm", &["start"], &server));
}

#[test]
fn the_example_with_curl_holds_a_teams_context() {
    let home = Home::new();
    let server = Server::start(&home, "");
    let said = example(&folder("curl"), "sh", &["team.sh"], &server);
    for expected in ["\"text\":\"<AGENT_INSTRUCTIONS>", "\"system\":", "event: message.added", "\"status\":404"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(said.trim_end().ends_with("as it should be"), "{said}");
    let answers: Vec<_> = said.lines().filter(|line| line.contains("\"message_id\":\"m7\",\"seq\":7")).collect();
    assert!(answers.len() >= 2 && answers[0] == answers[1], "the same request is answered the same: {said}");
}

#[test]
fn the_example_with_files_hands_work_over_and_leaves_nothing() {
    let binary = Path::new(env!("CARGO_BIN_EXE_callboard")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binary).chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    let said = said("sh", shell.arg("handover.sh").current_dir(folder("files")).env("PATH", path).output());
    for expected in ["Delegating to @coder", "People log in", "2. The check.", "\"for\":\"@planner\""] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(said.lines().filter(|line| line.starts_with("deleted")).count(), 4, "{said}");
}
