//! Secrets on the command line: the key file, other keys, rotation that is interrupted, late marking, and restoring.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::home::Home;

const SECRET: &str = "zq-hunter22-canary";
const KEY_FILE: &str = "callboard-secrets.key";

fn with_secret(sessions: usize) -> Home {
    let home = Home::new();
    for number in 0..sessions {
        home.json(&format!("session new --id s{number} --agent lead:manager"));
        home.json(&format!("var set password '{SECRET}' --session s{number}"));
    }
    home
}

/// The keys in the key file, the newest first.
fn keys(home: &Home) -> Vec<String> {
    let file = fs::read_to_string(home.path(KEY_FILE)).unwrap();
    file.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

fn reveal(home: &Home, session: &str) -> String {
    let shown = home.json(&format!("var get password --reveal --session {session}"));
    shown["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_key_file_is_the_owners_alone() {
    let home = with_secret(1);
    let file = home.path(KEY_FILE);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(reveal(&home, "s0"), SECRET);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (_, error) = home.error("var get password --reveal --session s0");
    assert_eq!(error["code"], "sealed");
    assert!(error["detail"].as_str().unwrap().contains("chmod 600"), "{error}");
    let said = home.command(["say", "hello", "--session", "s0"]).env_remove("RUST_LOG").output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.matches("its mode is").count(), 1, "it is said once: {said}");
    let doctor = home.run("doctor --no-model");
    assert!(
        doctor.status != 0 && doctor.stdout.contains("WRONG secrets") && doctor.stdout.contains("chmod 600"),
        "{}",
        doctor.stdout
    );
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(reveal(&home, "s0"), SECRET);
}

#[test]
fn with_a_wrong_key_all_else_can_be_read_until_the_user_drops_the_secrets() {
    let home = with_secret(1);
    home.json("say hello --session s0");
    let home = home.over_http();
    let http = home.http();
    fs::write(home.path(KEY_FILE), format!("{}\n", "ab".repeat(32))).unwrap();
    let (status, messages) = http.get("/v1/sessions/s0/threads/main/messages");
    assert_eq!((status, &messages["messages"][0]["content"]), (200, &"hello".into()), "{messages}");
    for (method, path, body) in [
        ("POST", "/v1/sessions/s0/threads/main/messages", said("more")),
        ("PUT", "/v1/sessions/s0/context-sets/Brief", serde_json::json!({"content": "x"})),
    ] {
        let (status, problem) = http.send(method, path, &body);
        assert_eq!((status, &problem["code"]), (503, &"sealed".into()), "{problem}");
    }
    let (status, problem) = http.get("/v1/sessions/s0/variables/password?reveal=true");
    assert_eq!((status, &problem["code"]), (503, &"sealed".into()), "{problem}");
    let (status, _) = http.send("DELETE", "/v1/sessions/s0/variables/password?reason=lost", &serde_json::Value::Null);
    assert_eq!(status, 204);
    http.done("POST", "/v1/sessions/s0/threads/main/messages", &said("more"));
}

#[test]
fn a_server_does_not_start_with_another_key_until_the_right_one_is_said_to_be_lost() {
    let home = with_secret(1);
    let right = fs::read(home.path(KEY_FILE)).unwrap();
    let refused = |why: &str| {
        let done = home.run("serve --listen 127.0.0.1:0");
        assert!(done.status != 0 && done.stdout.is_empty() && done.stderr.contains(why), "{}", done.stderr);
    };
    fs::write(home.path(KEY_FILE), format!("{}\n", "ab".repeat(32))).unwrap();
    refused("another key is given");
    let (_, error) = home.error("var set password x --session s0");
    assert_eq!(error["code"], "sealed", "{error}");
    fs::write(home.path(KEY_FILE), "no key").unwrap();
    refused("holds no master key");
    fs::remove_file(home.path(KEY_FILE)).unwrap();
    refused("is not there");
    home.json("session new --id other --agent lead:manager");
    let (_, error) = home.error("var set password x --session other");
    assert!(error["detail"].as_str().unwrap().contains("under the master key"), "{error}");
    assert!(!home.path(KEY_FILE).exists(), "no other key is made");
    fs::write(home.path(KEY_FILE), right).unwrap();
    fs::set_permissions(home.path(KEY_FILE), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(reveal(&home, "s0"), SECRET);
    fs::remove_file(home.path(KEY_FILE)).unwrap();
    home.run("secrets rotate --lost");
    home.json("var set password another-canary --session other");
    assert_eq!(reveal(&home, "other"), "another-canary");
    home.assert_sound();
}

#[test]
fn where_nothing_is_a_secret_there_is_no_key_to_rotate() {
    let home = Home::new().with_session("--id demo --agent lead:manager");
    let done = home.run("secrets rotate");
    assert!(done.status == 0 && done.stdout.contains("there is no key to rotate"), "{}{}", done.stdout, done.stderr);
    assert!(!home.path(KEY_FILE).exists());
}

fn said(text: &str) -> serde_json::Value {
    serde_json::json!({"messages": [{"role": "user", "content": text}]})
}

#[test]
fn a_rotation_that_is_killed_midway_loses_nothing_and_goes_on() {
    let home = with_secret(40);
    let old = keys(&home);
    let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
    let version = || db.query_row("PRAGMA data_version", [], |row| row.get::<_, u32>(0)).unwrap();
    let mut interrupted = 0;
    // Most of the rotations that are to be killed late have ended by themselves before.
    for changes in [0, 1, 3, 6, 10, 15, 20, 25].into_iter().cycle().take(64) {
        let mut rotation = home.start("secrets rotate");
        // It has begun when there is another key, and goes on with each change of the store.
        let (mut seen, mut last) = (0, version());
        while rotation.try_wait().unwrap().is_none() && (keys(&home).len() < 2 || seen < changes) {
            let now = version();
            seen += u32::from(now != last);
            last = now;
        }
        // It may have ended by itself.
        let _ = rotation.kill();
        rotation.wait().unwrap();
        if keys(&home).len() == 2 {
            interrupted += 1;
            for session in ["s0", "s20", "s39"] {
                assert_eq!(reveal(&home, session), SECRET, "{session} after {changes} changes");
            }
        }
        if interrupted == 5 {
            break;
        }
    }
    assert!(interrupted > 0, "no rotation was killed in its middle");
    let done = home.json("secrets rotate");
    assert_eq!(done["failed"].as_array().map(Vec::len), Some(0), "{done}");
    let new = keys(&home);
    assert_eq!(new.len(), 1);
    assert_ne!(new, old);
    for number in 0..40 {
        assert_eq!(reveal(&home, &format!("s{number}")), SECRET);
    }
    home.assert_sound();
}

#[test]
fn what_was_said_before_a_secret_was_known_is_hidden_and_can_be_put_back() {
    let home = Home::new().with_session("--id demo --agent lead:manager");
    home.json(&format!("say 'my password is {SECRET}'"));
    home.json(&format!("set put Brief 'use {SECRET}'"));
    let set = format!("var set password '{SECRET}'");
    let transcript = home.transcript(&[&set, "messages"]);
    insta::assert_snapshot!(transcript.replace(SECRET, "SECRET"));
    let files = fs::read_dir(home.path(".")).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap_or_default());
    let stored: Vec<u8> = files.flatten().collect();
    assert!(!stored.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()), "a file holds the secret");
    assert_eq!(reveal(&home, "demo"), SECRET);
    home.assert_sound();
    let restored = home.transcript(&["secrets restore password", "messages", "secrets restore password"]);
    insta::assert_snapshot!(restored.replace(SECRET, "SECRET"));
    home.assert_sound();
}
