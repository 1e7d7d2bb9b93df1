//! The server as a process: how it starts, what it refuses, how it ends.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
};

use serde_json::json;

use crate::{
    home::Home,
    server::{Http, Server, lines, until, words},
};

/// What a server says that must not start, and its exit status.
fn refused(home: &Home, more: &str) -> (i32, String) {
    let done = home.run(&format!("serve --listen 127.0.0.1:0 {more}"));
    assert_eq!(done.stdout, "", "it started");
    (done.status, done.stderr)
}

#[test]
fn a_server_says_where_it_listens_and_what_its_store_promises() {
    let home = Home::new();
    for (options, promise) in [
        ("", "survive kill -9"),
        ("--durability full", "survive a power failure"),
        ("--store memory:", "lost when this process ends"),
    ] {
        let mut child = home.start(&format!("serve --listen 127.0.0.1:0 {options}"));
        let mut lines = lines(&mut child);
        let (listening, store) = (lines.next().unwrap(), lines.next().unwrap());
        let address = listening.strip_prefix("listening on http://").expect("it says where");
        TcpStream::connect(address).unwrap();
        assert!(store.contains(promise), "{store}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_server_that_is_told_to_end_closes_its_streams_and_ends() {
    let home = Home::new();
    let mut server = Server::start(&home, "");
    let http = Http::new(&server);
    http.done("POST", "/v1/sessions", &json!({"id": "demo"}));
    let mut stream = http.follow("demo", 0);
    assert_eq!(stream.next().unwrap()["type"], "session.created");
    server.tell_to_end();
    assert_eq!(stream.next(), None);
    assert!(server.ended().success());
    home.assert_sound();
}

#[test]
fn a_server_that_is_told_twice_to_end_ends_at_once() {
    let home = Home::new();
    let mut server = Server::start(&home, "");
    // A call whose body never comes whole is waited for.
    let mut call = TcpStream::connect(server.address()).unwrap();
    let head = format!("POST /v1/sessions HTTP/1.1\r\nHost: {}\r\n", server.address());
    let head = head + "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n";
    call.write_all(head.as_bytes()).unwrap();
    // It says that it reads the body now.
    call.read_exact(&mut [0; 12]).unwrap();
    server.tell_to_end();
    until("the end of new connections", || TcpStream::connect(server.address()).err());
    server.tell_to_end();
    // One that waits for its calls, and gives them up in the end, ends with 0.
    assert_eq!(server.ended().code(), Some(1), "it waited for the call");
}

#[test]
fn a_port_that_is_taken_is_refused_with_what_to_do() {
    let home = Home::new();
    let server = Server::start(&home, "");
    let done = home.run(&format!("serve --listen {}", server.address()));
    assert_eq!((done.status, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("in use") && done.stderr.contains("--port"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_served_is_refused_in_words() {
    let home = Home::new();
    home.write("empty.txt", "# none\n\n");
    home.write("odd.txt", "two words\n");
    home.write("no.pem", "nothing");
    for (options, status, said) in [
        ("--listen 0.0.0.0:0", 1, "--user-token-file"),
        ("--listen nowhere", 1, "cannot listen on nowhere"),
        ("--user-token-file none.txt", 1, "cannot read none.txt"),
        ("--user-token-file empty.txt", 1, "empty.txt contains no token"),
        ("--user-token-file odd.txt", 1, "visible ASCII"),
        ("--tls-certificate no.pem", 2, "--tls-key"),
        ("--tls-key no.pem", 2, "--tls-certificate"),
        ("--tls-certificate no.pem --tls-key no.pem", 1, "no certificate"),
        ("--sweep-seconds 0", 2, "off"),
        ("--origin board.example", 2, "https://board.example"),
        ("--url http://127.0.0.1:1", 2, "remove --url"),
        ("--store mysql://me:secret@host/db", 1, "sqlite:PATH"),
        ("--store postgres://me:secret@127.0.0.1:1/db", 1, "is it running"),
        ("--data no.pem", 1, "--data DIR"),
    ] {
        let listen = if options.contains("--listen") { "" } else { "--listen 127.0.0.1:0" };
        let done = home.run(&format!("serve {listen} {options}"));
        assert_eq!((done.status, done.stdout.as_str()), (status, ""), "{options}: {}", done.stderr);
        assert!(done.stderr.contains(said) && !done.stderr.contains("secret"), "{options}: {}", done.stderr);
    }
    let (status, said) = refused(&home, "--user-token-file odd.txt");
    assert!(status == 1 && !said.contains("two words"), "a token is shown: {said}");
}

#[test]
fn tokens_outlive_a_restart_and_their_key_is_for_its_owner_alone() {
    let home = Home::new();
    let mut server = Server::start(&home, "");
    let http = Http::new(&server);
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]);
    http.done("POST", "/v1/sessions", &json!({"id": "demo", "agents": agents}));
    let writer = json!({"agent": "writer"});
    let (status, made) = http.keyed("make it", "/v1/sessions/demo/tokens", &writer);
    assert_eq!(status, 201);
    let mode = std::fs::metadata(home.path("callboard-tokens.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.kill();

    let server = Server::start(&home, "");
    let http = Http::new(&server);
    assert_eq!(http.keyed("make it", "/v1/sessions/demo/tokens", &writer).1["token"], made["token"]);
    let writer = http.with(made["token"].as_str().unwrap());
    assert_eq!(writer.get("/v1/sessions/demo").0, 200);
    assert_eq!(writer.get("/v1/sessions/demo/tokens").0, 403);
}

#[test]
fn what_is_not_in_the_store_is_where_data_says() {
    let home = Home::new();
    let _server = Server::start(&home, "--data keys/here");
    assert!(home.path("keys/here/callboard-tokens.key").is_file());
    assert!(!home.path("callboard-tokens.key").exists());
}

#[test]
fn user_tokens_come_from_a_file_or_the_environment() {
    let home = Home::new();
    home.write("tokens.txt", "# who\nfrom-file\n");
    let mut command = home.on_the_store(words("--user-token-file tokens.txt"));
    command.env("CALLBOARD_USER_TOKENS", "from-environment another");
    let server = Server::of(command);
    let http = Http::new(&server);
    assert_eq!(http.get("/v1/sessions").0, 401);
    let mut http = http;
    for (token, status) in [("from-file", 200), ("from-environment", 200), ("another", 200), ("none", 401)] {
        http = http.with(token);
        assert_eq!(http.get("/v1/sessions").0, status, "{token}");
    }
}

#[test]
fn names_and_origins_are_those_that_were_given() {
    let home = Home::new();
    let server = Server::start(&home, "--host board.example --origin https://page.example");
    let asks = |host: &str, origin: &str| {
        let mut call = TcpStream::connect(server.address()).unwrap();
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n");
        call.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        call.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(asks("board.example", "https://page.example"), "200");
    assert_eq!(asks("other.example", "https://page.example"), "403");
    assert_eq!(asks("board.example", "https://other.example"), "403");
}

#[test]
fn a_server_with_a_certificate_speaks_https() {
    let home = Home::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    home.write("cert.pem", made.cert.pem());
    home.write("key.pem", made.signing_key.serialize_pem());
    let server = Server::start(&home, "--tls-certificate cert.pem --tls-key key.pem");
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let doctor = |certificates: &str| {
        let mut command = home.on_the_store(["doctor", "--url", &server.url, "--json"]);
        command.env("SSL_CERT_FILE", home.path(certificates)).output().unwrap()
    };
    let (trusted, unknown) = (doctor("cert.pem"), doctor("none.pem"));
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stdout));
    assert_eq!(unknown.status.code(), Some(1));
}
