//! Several processes on one store.

use std::{io::Write as _, process::Child};

use serde_json::Value;

use crate::{
    home::Home,
    play::{model, stage},
    server::lines,
};

fn tell(child: &mut Child, lines: &str) {
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
}

#[test]
fn two_processes_say_into_one_session_and_nothing_is_lost() {
    const LINES: usize = 150;
    let home = Home::new().with_session("--id demo");
    let mut speakers: Vec<_> =
        ["a", "b"].iter().map(|name| home.start(&format!("say --lines --id {name} --session demo"))).collect();
    for (child, name) in speakers.iter_mut().zip(["a", "b"]) {
        let lines: String = (1..=LINES).map(|n| format!("{name} {n}\n")).collect();
        tell(child, &lines);
        drop(child.stdin.take());
    }
    let mut seqs: Vec<u64> = Vec::new();
    for child in speakers {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        seqs.extend(String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse::<u64>().unwrap()));
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (2..2 + 2 * LINES as u64).collect::<Vec<_>>());
    assert_eq!(home.json("messages --session demo")["messages"].as_array().unwrap().len(), 2 * LINES);
    home.assert_sound();
}

#[test]
fn who_follows_a_journal_sees_what_another_process_writes() {
    let home = Home::new().with_session("--id demo --agent lead:manager --agent writer");
    home.json("set put Secret hush --visible-to lead --session demo");
    let mut follower = home.start("session journal --session demo --follow --as writer --json --types message.added");
    let mut lines = lines(&mut follower);
    home.json("say first --session demo");
    home.json("say hidden --thread agent:lead --session demo");
    home.json("say second --session demo");
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap();
    assert_eq!([next(), next()].map(|entry| entry["data"]["content"].clone()), ["first", "second"]);
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn a_set_is_changed_while_a_team_is_at_work() {
    let endpoint = model(Vec::new());
    let home = stage(&endpoint);
    home.json("session new team.toml --id demo");
    let mut run = home.start("run --session demo Go --json");
    for n in 0..10 {
        home.json(&format!("set put Note 'number {n}' --session demo"));
    }
    drop(run.stdin.take());
    assert!(run.wait_with_output().unwrap().status.success());
    assert_eq!(home.json("set show Note --session demo")["content"], "number 9");
    home.assert_sound();
}

#[test]
fn a_session_that_another_process_deletes_is_gone() {
    let home = Home::new().with_session("--id demo");
    let mut speaker = home.start("say --lines --session demo");
    let mut lines = lines(&mut speaker);
    tell(&mut speaker, "one\n");
    lines.next().unwrap();
    home.json("session delete --session demo");
    tell(&mut speaker, "two\n");
    drop(speaker.stdin.take());
    assert_eq!(speaker.wait().unwrap().code(), Some(1));
    assert_eq!(home.error("session show --session demo").1["code"], "not_found");
}
