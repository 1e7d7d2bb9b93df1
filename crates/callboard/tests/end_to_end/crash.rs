//! What was acknowledged is there, once, in order, however often `kill -9` comes.

use std::{collections::BTreeMap, io::Write as _, process::Child, thread::JoinHandle};

use crate::{home::Home, server::lines};

const WRITERS: usize = 3;
const ROUNDS: usize = 4;
const LINES: usize = 300;

/// Starts a process that says the lines `NAME-1`, `NAME-2` … with their text as their id.
fn speak(home: &Home, name: &str, durability: &str) -> (Child, JoinHandle<()>) {
    let line = format!("say --lines --id {name} --session demo --durability {durability}");
    let mut child = home.start(&line);
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = (1..=LINES).map(|n| format!("{name}-{n}\n")).collect();
    // It is killed while it reads.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
    (child, feeding)
}

/// Reads what a speaker acknowledges and kills it after `count`: the entry of each line that it spoke of.
fn kill_after(mut child: Child, feeding: JoinHandle<()>, count: usize) -> Vec<u64> {
    let mut lines = lines(&mut child);
    let mut acknowledged: Vec<u64> = (0..count).map(|_| lines.next().unwrap().parse().unwrap()).collect();
    child.kill().unwrap();
    // What it had still written was acknowledged too; a number that was cut off was not.
    acknowledged.extend(lines.filter_map(|line| line.parse::<u64>().ok()));
    child.wait().unwrap();
    feeding.join().unwrap();
    acknowledged
}

fn every_acknowledged_message_is_there(durability: &str) {
    let home = Home::new().with_session("--id demo");
    let mut acknowledged: BTreeMap<String, u64> = BTreeMap::new();
    for round in 0..ROUNDS {
        let names: Vec<_> = (0..WRITERS).map(|writer| format!("r{round}w{writer}")).collect();
        let speakers: Vec<_> = names.iter().map(|name| speak(&home, name, durability)).collect();
        let killing = speakers.into_iter().enumerate();
        let killing: Vec<_> = killing
            .map(|(at, (child, feeding))| {
                std::thread::spawn(move || kill_after(child, feeding, 5 + 7 * at + 3 * round))
            })
            .collect();
        for (name, killed) in names.iter().zip(killing) {
            let seqs = killed.join().unwrap();
            acknowledged.extend(seqs.iter().enumerate().map(|(n, seq)| (format!("{name}-{}", n + 1), *seq)));
        }
    }
    let messages = home.json("messages --session demo");
    let messages = messages["messages"].as_array().unwrap();
    let mut there: BTreeMap<String, u64> = BTreeMap::new();
    for message in messages {
        let (id, seq) = (message["message_id"].as_str().unwrap(), message["seq"].as_u64().unwrap());
        assert_eq!(message["content"], id, "a message says what it said");
        assert!(there.insert(id.to_owned(), seq).is_none(), "{id} is there twice");
    }
    for (id, seq) in &acknowledged {
        // A number that was cut off in the middle is a shorter number; it is the last of its writer.
        let found = there.get(id).unwrap_or_else(|| panic!("{id} was acknowledged and is not there"));
        assert!(found == seq || found.to_string().starts_with(&seq.to_string()), "{id} is entry {found}, not {seq}");
    }
    for name in (0..ROUNDS).flat_map(|round| (0..WRITERS).map(move |writer| format!("r{round}w{writer}-"))) {
        let mut own: Vec<_> = there.iter().filter(|(id, _)| id.starts_with(&name)).collect();
        own.sort_by_key(|(_, seq)| **seq);
        let numbers: Vec<usize> = own.iter().map(|(id, _)| id[name.len()..].parse().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>(), "{name} is in order, without a gap");
    }
    home.assert_sound();
}

#[test]
fn every_acknowledged_message_survives_kill_9_at_normal_durability() {
    every_acknowledged_message_is_there("normal");
}

#[test]
fn every_acknowledged_message_survives_kill_9_at_full_durability() {
    every_acknowledged_message_is_there("full");
}

#[test]
fn whoever_was_killed_says_all_again_and_each_message_is_there_once() {
    let home = Home::new().with_session("--id demo");
    for round in 0..ROUNDS {
        let (child, feeding) = speak(&home, "line", "normal");
        kill_after(child, feeding, 20 * (round + 1));
    }
    let (mut child, feeding) = speak(&home, "line", "normal");
    let lines = lines(&mut child).count();
    assert!(child.wait().unwrap().success());
    feeding.join().unwrap();
    let messages = home.json("messages --session demo");
    let ids: Vec<_> = messages["messages"].as_array().unwrap().iter().map(|message| &message["message_id"]).collect();
    let wanted: Vec<_> = (1..=LINES).map(|n| format!("line-{n}")).collect();
    assert_eq!(
        (lines, ids),
        (LINES, wanted.iter().map(|id| serde_json::json!(id)).collect::<Vec<_>>().iter().collect())
    );
}
