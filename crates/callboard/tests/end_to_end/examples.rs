//! The examples in `examples/` do what they say, at a server and with a real small model.

use std::{
    path::Path,
    process::{Command, Output},
};

use callboard_model::scripted::{Reply, Scripted};

use crate::{home::Home, real_model::model_url, server::Server};

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

/// The loop that the README shows, on a model that says what it was asked.
#[test]
fn the_loop_in_the_readme_asks_a_model_for_each_agent() {
    let page = include_str!("../../../../README.md");
    let (_, program) = page.split_once("```python\n# loop.py\n").unwrap();
    let program = program.split("```").next().unwrap();
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

#[test]
fn the_example_in_typescript_holds_a_teams_context() {
    let home = Home::new();
    let server = Server::start(&home, "");
    // What it needs is brought into a folder that goes with the test.
    let place = home.path("typescript");
    std::fs::create_dir(&place).unwrap();
    for file in ["package.json", "package-lock.json", "tsconfig.json", "team.ts", ".npmrc"] {
        std::fs::copy(folder("typescript").join(file), place.join(file)).unwrap();
    }
    let mut npm = Command::new("npm");
    said("npm", npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&place).output());
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
