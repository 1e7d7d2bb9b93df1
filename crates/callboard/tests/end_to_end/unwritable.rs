//! A log or an output that cannot be written: a pipe that was closed, a disk that is full.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, pipe},
    process::Stdio,
};

use serde_json::json;

use crate::{
    home::Home,
    server::{Http, Server, until, words},
};

/// What cannot be written: a pipe that nobody reads, and a disk without room.
fn unwritable() -> [(&'static str, Stdio); 2] {
    let (_, closed) = pipe().unwrap();
    [("a closed pipe", closed.into()), ("a full disk", File::create("/dev/full").unwrap().into())]
}

#[test]
fn a_server_goes_on_without_its_log() {
    for (name, log) in unwritable() {
        let home = Home::at("http://127.0.0.1:9/v1".to_owned(), "openai:absent");
        home.run("session new --id damaged --agent lead:manager");
        home.run("say hello --session damaged");
        let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
        assert!(db.execute("UPDATE entry SET data = '{}' WHERE data LIKE '%hello%'", []).unwrap() > 0);
        drop(db);

        let mut command = home.on_the_store(words(""));
        command.env("RUST_LOG", "warn");
        let server = Server::logging_to(command, log);
        let http = Http::new(&server);
        let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]);
        http.done("POST", "/v1/sessions", &json!({"id": "demo", "agents": agents}));
        let mut stream = http.follow("demo", 1);
        let run = http.done("POST", "/v1/sessions/demo/runs", &json!({"kind": "team", "input": "Go."}));
        for _ in 0..3 {
            let (status, problem) = http.get("/v1/sessions/damaged");
            assert_eq!((status, &problem["code"]), (500, &json!("damaged")), "{name}: a call that fails is answered");
        }
        // Each try to reach the model is logged.
        while stream.next().expect("the stream goes on")["type"] != "run.paused" {}
        let (_, run) = http.get(&format!("/v1/sessions/demo/runs/{}", run["id"].as_str().unwrap()));
        assert_eq!(run["status"], "paused", "{name}: {run}");
    }
}

#[test]
fn a_command_fails_as_it_should_where_nobody_hears_why() {
    for (name, log) in unwritable() {
        let home = Home::new();
        let status = home.command(["session", "show", "--session", "absent"]).stderr(log).status().unwrap();
        assert_eq!(status.code(), Some(1), "{name}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error_unless_nobody_wants_it() {
    for (line, (name, out)) in
        ["export -", "session journal"].into_iter().flat_map(|line| unwritable().map(|it| (line, it)))
    {
        let home = Home::new();
        home.run("session new --id demo");
        let done = home.command(line.split(' ')).stdout(out).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        match name {
            "a closed pipe" => {
                assert_eq!((done.status.code(), said.contains("error")), (Some(0), false), "{line}: {said}")
            }
            _ => assert!(done.status.code() == Some(1) && said.contains("No space left"), "{line}: {said}"),
        }
    }
}

#[test]
fn following_a_session_ends_once_nobody_reads() {
    let home = Home::new().over_http();
    home.run("session new --id demo");
    let mut child = home.start("session journal --follow --session demo");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.contains("created the session"), "{line}");
    drop(out);
    home.run("session update --session demo --title Review");
    let ended = until("the end of the follower", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
}
