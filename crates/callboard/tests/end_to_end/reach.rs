//! Commands at a server: which one is meant, and what is said where it cannot be used.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use serde_json::json;

use crate::{
    home::Home,
    server::{Server, words},
};

#[test]
fn the_command_line_goes_before_the_environment() {
    let home = Home::new().over_http().with_session("--id served");
    home.json("session new --id stored --store sqlite:other.db");
    let on_store = home.json("session list --store sqlite:other.db");
    assert_eq!(on_store["sessions"][0]["id"], "stored");
    let elsewhere = home.json("session list --store sqlite:team.db");
    assert_eq!(elsewhere["sessions"][0]["id"], "served");
    let (status, both) = home.error("session list --store memory: --url http://127.0.0.1:1");
    assert_eq!((status, &both["code"]), (2, &json!("usage")));
}

#[test]
fn a_store_that_is_named_and_not_there_is_told_of() {
    let home = Home::new();
    for command in ["session list", "messages", "say hello", "export"] {
        let (status, error) = home.error(&format!("{command} --store sqlite:none.db"));
        assert_eq!((status, &error["code"]), (1, &json!("store_cannot_open")), "{command}");
        assert_eq!(error["detail"], "there is no store at sqlite:none.db");
    }
    let doctor = home.run("doctor --no-model --store sqlite:none.db");
    assert!(doctor.status == 1 && doctor.stdout.contains("WRONG store"), "{}", doctor.stdout);
    assert!(!home.path("none.db").exists());
    assert_eq!(home.json("session list")["sessions"], json!([]), "one that nobody names is empty");
}

#[test]
fn a_server_that_is_not_there_is_told_of() {
    let home = Home::new();
    // A port that nobody listens on any more.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for command in ["session list", "say hello --session demo", "session journal --follow --session demo"] {
        let (status, error) = home.error(&format!("{command} --url http://127.0.0.1:{port}"));
        assert_eq!((status, &error["code"]), (1, &json!("unreachable")), "{command}");
        assert!(error["hint"].as_str().unwrap().contains("callboard serve"), "{error}");
    }
    let doctor = home.run(&format!("doctor --url http://127.0.0.1:{port}"));
    assert!(doctor.status == 1 && doctor.stdout.contains("WRONG server"), "{}", doctor.stdout);
}

#[test]
fn a_server_that_is_no_callboard_is_told_of() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answers = ["HTTP/1.1 200 OK\r\nContent-Type: text/html", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html"];
    let pages = std::thread::spawn(move || {
        for answer in answers {
            let (mut call, _) = listener.accept().unwrap();
            let _ = call.read(&mut [0; 4096]).unwrap();
            let page = "<html>Welcome!</html>";
            write!(call, "{answer}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}", page.len()).unwrap();
        }
    });
    for _ in answers {
        let (status, error) = home.error(&format!("session show --session demo --url {url}"));
        assert_eq!((status, &error["code"]), (1, &json!("no_callboard")));
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains(&url) && detail.contains("text/html"), "{detail}");
    }
    pages.join().unwrap();
}

#[test]
fn a_token_is_shown_from_a_file_or_the_environment_and_a_wrong_one_is_told_of() {
    let home = Home::new();
    home.write("tokens.txt", "user-token");
    home.write("wrong.txt", "other-token\n");
    let server = Server::of(home.on_the_store(words("--user-token-file tokens.txt")));
    let list = |more: &str, token: Option<&str>| {
        let mut command = home.on_the_store(["session", "list", "--json", "--url", &server.url]);
        command.args(more.split_whitespace());
        command.envs(token.map(|token| ("CALLBOARD_TOKEN", token)));
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(list("--token-file tokens.txt", None).0, 0);
    assert_eq!(list("", Some("user-token")).0, 0);
    for (more, token) in [("", None), ("", Some("other-token")), ("--token-file wrong.txt", Some("user-token"))] {
        let (status, said) = list(more, token);
        assert!(status == 1 && said.contains("\"unauthorized\"") && said.contains("CALLBOARD_TOKEN"), "{said}");
        assert!(!said.contains("other-token"), "{said}");
    }
    assert_eq!(list("--token-file none.txt", None).0, 1);
}

#[test]
fn a_token_of_an_agent_sees_and_does_what_the_agent_may() {
    let home = Home::new().over_http().with_session("--id demo --agent lead:manager --agent writer");
    home.json("set put Secret hush --visible-to lead --session demo");
    home.json("set put Open hello --session demo");
    let made = home.json("token new --agent writer --session demo");
    let listed = home.json("token list --session demo");
    assert_eq!((&listed["tokens"][0]["agent"], &listed["tokens"][0]["token"]), (&json!("writer"), &json!(null)));
    let writer = |line: &str| {
        let mut command = home.command(line.split(' '));
        let output = command.env("CALLBOARD_TOKEN", made["token"].as_str().unwrap()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert!(writer("set show Open --session demo --json").1.contains("hello"));
    for hidden in ["set show Secret --session demo --json", "token list --session demo --json"] {
        let (status, said) = writer(hidden);
        assert!(status == 1 && !said.contains("hush"), "{said}");
    }
    assert!(writer("doctor").1.contains("ok    rights"));
    home.json(&format!("token revoke {} --session demo", made["id"].as_str().unwrap()));
    assert!(writer("set show Open --session demo --json").1.contains("unauthorized"));
    let hour = home.json("token new --agent writer --expires-in 3600 --session demo");
    let listed = home.json("token list --session demo");
    assert_eq!((&listed["tokens"][0]["expires_at"], hour["expires_at"].is_string()), (&hour["expires_at"], true));
    assert_eq!(home.run("token new --agent writer --expires-in 0 --session demo").status, 2);
}

#[test]
fn a_name_that_cannot_stand_in_an_address_is_told_of() {
    let home = Home::new().over_http().with_session("--id demo");
    let (status, error) = home.error("set show .. --session demo");
    assert!(status == 1 && error["detail"].as_str().unwrap().contains("cannot be part of a URL"), "{error}");
}

#[test]
fn a_server_is_looked_over() {
    let home = Home::new().over_http();
    let doctor = home.run("doctor");
    assert_eq!(doctor.status, 0, "{}", doctor.stdout);
    for found in ["ok    server", "survive kill -9", "full access"] {
        assert!(doctor.stdout.contains(found), "{}", doctor.stdout);
    }
}

#[test]
fn times_are_milliseconds_too_and_limits_are_not_negative() {
    let home = Home::new().with_session("--id demo --agent writer");
    home.json("say hello -s demo");
    let count = |line: &str| home.json(line)["messages"].as_array().unwrap().len();
    assert_eq!(count("messages -s demo --after 1000"), 1);
    assert_eq!(count("messages -s demo --before 1000"), 0);
    assert_eq!(count("messages -s demo --after 2000-01-01T00:00:00Z"), 1);
    assert!(home.error("messages -s demo --after noon").1["detail"].as_str().unwrap().contains("noon"));
    for line in ["messages -s demo --limit -1", "session list --limit -1", "turns -s demo --limit -1"] {
        let refused = home.run(line);
        assert_eq!(refused.status, 2, "{line}");
        assert!(refused.stderr.contains("a limit is a whole number, 0 or more"), "{}", refused.stderr);
    }
}

#[test]
fn a_limit_under_which_nothing_can_be_done_is_refused() {
    let home = Home::new();
    for limit in ["turns", "tokens", "seconds", "pages"] {
        let refused = home.run(&format!("run team.toml --limit-{limit} 0"));
        assert!(refused.status == 2 && refused.stderr.contains("use a whole number, 1 or more"), "{}", refused.stderr);
    }
}

#[test]
fn the_layout_of_a_session_is_set_and_the_rest_of_its_settings_stays() {
    let home = Home::new().with_session("--id demo --agent writer");
    home.json("session update demo --budget 5000");
    let prompt = home.json("session update demo --layout plain")["prompt"].clone();
    assert_eq!((&prompt["layout"], &prompt["budget"]), (&json!("plain"), &json!(5000)));
    assert!(home.run("session update demo --layout round").stderr.contains("use team, plain or director"));
}

#[test]
fn a_text_where_the_path_of_a_file_belongs_is_told_what_would_do() {
    let home = Home::new().with_session("--id demo --agent lead:manager");
    for line in ["directive 'Context set: A' -s demo", "workflow set '{}' -s demo"] {
        let error = home.error(line).1;
        assert_eq!(error["code"], "unreadable", "{line}");
        assert!(error["hint"].as_str().unwrap().contains("pipe the text to the standard input"), "{error}");
    }
}
