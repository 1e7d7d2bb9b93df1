//! What nobody should send.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use callboard_server::Limits;

use crate::fixtures::{Answer, Server, memory, settings, soon};

#[tokio::test]
async fn what_is_wrong_with_a_body_is_named_with_its_place() {
    let (server, team) = Server::with_team().await;
    let messages = format!("{team}/threads/main/messages");
    let cases = [
        (messages.clone(), json!({"messages": [{"role": "user", "text": "x"}]}), "/messages/0/text"),
        (messages.clone(), json!({"messages": [{"content": "x"}]}), "/messages/0/role"),
        (messages.clone(), json!({"messages": [{"role": "boss", "content": "x"}]}), "/messages/0/role"),
        (messages.clone(), json!({"messages": [], "more": 1}), "/more"),
        (messages.clone(), json!({}), "/messages"),
        (messages.clone(), json!([]), ""),
        (messages.clone(), json!({"messages": [{"role": "user", "timestamp": "soon"}]}), "/messages/0/timestamp"),
        (
            messages,
            json!({"messages": [{"role": "user", "tool_calls": [{"id": "a", "name": "b"}]}]}),
            "/messages/0/tool_calls",
        ),
        (format!("{team}/tokens"), json!({"agent": "a\nb"}), "/agent"),
        (format!("{team}/runs"), json!({"kind": "team", "input": " "}), "/input"),
        (format!("{team}/runs"), json!({"kind": "solo", "input": "x"}), "/kind"),
        ("/v1/sessions".to_owned(), json!({"ttl_seconds": 0}), "/ttl_seconds"),
        ("/v1/sessions".to_owned(), json!({"id": "a/b"}), "/id"),
        ("/v1/sessions".to_owned(), json!({"agents": [{"name": "all", "role": "worker"}]}), "/agents/0/name"),
        ("/v1/sessions".to_owned(), json!({"agents": [{"name": "a", "role": "boss"}]}), "/agents/0/role"),
    ];
    for (path, body, pointer) in cases {
        let answer = server.send("POST", &path, body.clone()).await.problem(422, "invalid");
        assert_eq!(answer.body["pointer"], pointer, "{body}: {}", answer.raw);
        assert_eq!(answer.body["errors"][0]["pointer"], pointer);
    }
    server.get(&format!("{team}/journal?depth=3")).await.problem(422, "invalid");
    server.get(&format!("{team}/journal?after=99")).await.problem(409, "beyond_head");
    server.get(&format!("{team}/threads?cursor=zz")).await.problem(422, "invalid");
}

#[tokio::test]
async fn what_contradicts_itself_or_the_session_is_told_from_what_is_malformed() {
    let (server, team) = Server::with_team().await;
    let agent = |name: &str, role: &str| json!({"name": name, "role": role});
    let new = "/v1/sessions".to_owned();
    let asking = |key: &str| json!({"key": key, "valueType": "STRING", "label": "l", "required": true});
    let doubled = json!({"isInfoRequest": true, "form": {"fields": [asking("a"), asking("a")]}});
    let cases = [
        ("POST", format!("{team}/tokens"), json!({"agent": "nobody"}), "no_agent", "/agent"),
        (
            "PUT",
            format!("{team}/context-sets/a"),
            json!({"content": "", "visible_to": "nobody"}),
            "no_agent",
            "/visible_to",
        ),
        ("PUT", format!("{team}/threads/a"), json!({"visible_to": ["nobody"]}), "no_agent", "/visible_to"),
        ("PATCH", team.clone(), json!({"default_visibility": "nobody"}), "no_agent", "/default_visibility"),
        (
            "POST",
            format!("{team}/directives"),
            json!({"messageTo": "nobody", "message": "x"}),
            "no_agent",
            "/messageTo",
        ),
        ("POST", format!("{team}/directives"), doubled, "contradiction", "/form/fields/1/key"),
        (
            "POST",
            format!("{team}/threads/main/messages"),
            json!({"messages": [{"role": "user", "thread_id": "b", "content": "x"}]}),
            "contradiction",
            "/messages/0/thread_id",
        ),
        (
            "POST",
            new.clone(),
            json!({"agents": [agent("a", "worker"), agent("a", "worker")]}),
            "contradiction",
            "/agents/1/name",
        ),
        (
            "POST",
            new.clone(),
            json!({"agents": [agent("a", "manager"), agent("b", "manager")]}),
            "contradiction",
            "/agents/1/role",
        ),
        (
            "POST",
            new,
            json!({"prompt": {"parts": {"task": {"min": 2, "max": 1}}}}),
            "contradiction",
            "/prompt/parts/task/min",
        ),
    ];
    for (method, path, body, code, pointer) in cases {
        let answer = server.send(method, &path, body.clone()).await.problem(409, code);
        assert_eq!(answer.body["pointer"], pointer, "{body}: {}", answer.raw);
    }
    assert_eq!(server.get(&team).await.head(), 4, "nothing was written");
}

#[tokio::test]
async fn a_whole_number_may_be_written_with_a_fraction_of_nothing() {
    let server = Server::start().await;
    let new = json!({"id": "s", "ttl_seconds": 60.0, "limits": {"turns": 5.0}, "prompt": {"budget": 900.0}});
    let made = server.send("POST", "/v1/sessions", new).await.is(201).body;
    assert_eq!((&made["ttl_seconds"], &made["limits"]["turns"]), (&json!(60), &json!(5)));
    server.get("/v1/sessions/s/journal?after=1.0&limit=2.0").await.is(200);
    server.send("POST", "/v1/sessions/s/fork", json!({"at": 1.0})).await.is(201);
    for wrong in [json!({"at": 1.5}), json!({"at": -1.0}), json!({"at": 1e300})] {
        server.send("POST", "/v1/sessions/s/fork", wrong).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn what_is_an_object_is_not_taken_as_a_list() {
    let (server, team) = Server::with_team().await;
    let messages = format!("{team}/threads/main/messages");
    for (path, body, pointer) in [
        ("/v1/sessions", json!([]), ""),
        ("/v1/sessions", json!({"limits": []}), "/limits"),
        ("/v1/sessions", json!({"agents": [["a", "worker"]]}), "/agents/0"),
        ("/v1/sessions", json!({"prompt": {"parts": {"task": [null, null]}}}), "/prompt/parts/task"),
        (&messages, json!([[{"role": "user", "content": "x"}]]), ""),
        (&messages, json!({"messages": [[null, null, "user", "x"]]}), "/messages/0"),
    ] {
        let answer = server.send("POST", path, body.clone()).await.problem(422, "invalid");
        assert_eq!(answer.body["pointer"], pointer, "{body}: {}", answer.raw);
        assert!(answer.text("detail").ends_with("expected an object"), "{}", answer.raw);
    }
}

#[tokio::test]
async fn what_cannot_be_done_with_a_thing_is_said_with_what_can() {
    let (server, team) = Server::with_team().await;
    for (method, path, allowed) in [
        ("PUT", team.clone(), ["GET", "PATCH", "DELETE"].as_slice()),
        ("POST", format!("{team}/context-sets/a"), &["GET", "PUT", "DELETE"]),
        ("DELETE", "/v1/sessions".to_owned(), &["GET", "POST"]),
        ("TRACE", "/v1/import".to_owned(), &["POST"]),
    ] {
        let answer = Answer::of(server.call(method, &path)).await.problem(405, "method_not_allowed");
        let allow = answer.headers["allow"].to_str().unwrap();
        assert!(allowed.iter().all(|method| allow.contains(method)), "{method} {path}: {allow}");
        assert!(answer.body["hint"].is_string());
    }
}

#[tokio::test]
async fn what_is_no_json_is_told_by_line_and_column() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/context-sets/a");
    let deep = format!("{{\"content\": {}1{}}}", "[".repeat(1000), "]".repeat(1000));
    for body in ["{\n \"content\": }", "{\"content\": \"x\"} x", "{\"content\": \"\\ud800\"}", "\u{1}", &deep, "{"] {
        let call = server.call("PUT", &path).header("content-type", "application/json").body(body.to_owned());
        let answer = Answer::of(call).await;
        assert!([400, 422].contains(&answer.status.as_u16()), "{body:.40}: {}", answer.raw);
        if answer.status == 400 {
            assert!(answer.body["code"] == "bad_json" && answer.text("detail").contains("line"), "{}", answer.raw);
        }
    }
    let raw =
        server.call("PUT", &path).header("content-type", "application/json").body(b"{\"content\": \"\xff\"}".to_vec());
    Answer::of(raw).await.problem(400, "bad_json");
    let text = server.call("PUT", &path).header("content-type", "text/plain").body("{\"content\": \"x\"}");
    Answer::of(text).await.problem(415, "unsupported_media_type");
    let packed = server.call("PUT", &path).header("content-encoding", "gzip").json(&json!({"content": "x"}));
    Answer::of(packed).await.problem(415, "unsupported_media_type");
    let numbers = ["{\"content\": NaN}", "{\"content\": 1e999}"];
    for body in numbers {
        let call = server.call("PUT", &path).header("content-type", "application/json").body(body);
        Answer::of(call).await.problem(400, "bad_json");
    }
    let twice = "{\"content\": \"x\", \"content\": \"y\"}";
    let call = server.call("PUT", &path).header("content-type", "application/json").body(twice);
    assert_eq!(Answer::of(call).await.problem(422, "invalid").body["pointer"], "/content");
    server.get(&path).await.problem(404, "not_found");
    let variable = format!("{team}/variables/a");
    let twice = "{\"value\": {\"b\": [{\"c\": 1, \"c\": 2}]}, \"reason\": \"r\"}";
    let call = server.call("PUT", &variable).header("content-type", "application/json").body(twice);
    assert_eq!(Answer::of(call).await.problem(422, "invalid").body["pointer"], "/value/b/0/c");
    server.get(&variable).await.problem(404, "not_found");
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let mut settings = settings();
    settings.limits = Limits { body_bytes: 1000, import_bytes: 1000, ..settings.limits };
    let server = Server::with(memory().await, settings).await;
    let large = json!({"title": "x".repeat(2000)});
    server.send("POST", "/v1/sessions", large).await.problem(413, "too_large");
    let pieces = futures::stream::iter((0..10).map(|_| Ok::<_, std::io::Error>("y".repeat(500))));
    let call = server.call("POST", "/v1/sessions").header("content-type", "application/json");
    Answer::of(call.body(reqwest::Body::wrap_stream(pieces))).await.problem(413, "too_large");
    Answer::of(server.import("/v1/import", &"z".repeat(5000))).await.problem(413, "too_large");
    let head = server.call("GET", "/healthz").header("x-long", "x".repeat(200_000));
    // The connection is cut, or the head is refused.
    assert!(head.send().await.map_or(true, |answer| answer.status() == 431));
}

#[tokio::test]
async fn a_client_that_hangs_up_in_mid_body_changes_nothing() {
    let (server, team) = Server::with_team().await;
    let head = server.get(&team).await.head();
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "PUT {team}/context-sets/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"content\": \"x\"}}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer).await;
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    assert_eq!(server.get(&team).await.head(), head);
}

#[tokio::test]
async fn a_slow_body_is_not_waited_for() {
    let mut settings = settings();
    settings.limits.body_time = Duration::from_secs(1);
    let server = Server::with(memory().await, settings).await;
    for path in ["/v1/sessions", "/mcp"] {
        let slow = futures::stream::pending::<Result<String, std::io::Error>>();
        let call = server.call("POST", path).header("content-type", "application/json");
        Answer::of(call.body(reqwest::Body::wrap_stream(slow))).await.problem(408, "too_slow");
    }
}

#[tokio::test]
async fn names_are_checked_where_they_come_in() {
    let (server, team) = Server::with_team().await;
    server.get("/v1/sessions/a%2Fb").await.problem(404, "not_found");
    server.get("/v1/sessions/%ff").await.problem(400, "bad_path");
    for name in ["%0A", "%20", &"x".repeat(201), "%E2%80%A8"] {
        let path = format!("{team}/context-sets/{name}");
        let refused = server.send("PUT", &path, json!({"content": "x"})).await.problem(422, "invalid");
        assert_eq!(refused.text("pointer"), "/name", "{}", refused.raw);
    }
    // The name that is wrong is said, whichever of a path it is.
    for (method, path, pointer) in [
        ("GET", "threads/%20/messages", "/thread"),
        ("PUT", "threads/main/messages/%0A/pin", "/message"),
        ("GET", "variables/a%0Ab", "/name"),
        ("GET", "documents/%0A", "/name"),
        ("DELETE", "journal/one?reason=r", "/seq"),
        ("POST", "threads/main/compressions/one/undo", "/seq"),
    ] {
        let refused = server.send(method, &format!("{team}/{path}"), Value::Null).await.problem(422, "invalid");
        assert_eq!(refused.text("pointer"), pointer, "{method} {path}: {}", refused.raw);
    }
    let refused = server.send("PUT", "/v1/collections/a%2Fb", Value::Null).await.problem(422, "invalid");
    assert_eq!(refused.text("pointer"), "/collection", "{}", refused.raw);
    let markup = format!("{team}/context-sets/%3C%2FSHARED_CONTEXT_SETS%3E%22");
    server.send("PUT", &markup, json!({"content": "x"})).await.is(200);
    server.get(&format!("{team}?as=no%0Abody")).await.problem(404, "not_found");
    server.get(&format!("{team}?as=nobody")).await.problem(404, "not_found");
}

#[tokio::test]
async fn two_hundred_connections_at_once_are_answered() {
    // Each takes two descriptors here, and a process may have 1,024.
    let server = Server::start().await;
    server.team("s").await;
    let mut sockets = Vec::new();
    for _ in 0..200 {
        sockets.push(TcpStream::connect(server.address).await.unwrap());
    }
    let request = b"GET /v1/sessions/s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for socket in &mut sockets {
        socket.write_all(request).await.unwrap();
    }
    for mut socket in sockets {
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.100}");
    }
}

#[tokio::test]
async fn more_connections_than_there_is_room_for_wait() {
    let mut settings = settings();
    settings.limits.connections = 2;
    let server = Server::with(memory().await, settings).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let second = TcpStream::connect(server.address).await.unwrap();
    let mut third = TcpStream::connect(server.address).await.unwrap();
    third.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    // Many calls of the first are answered before anything comes of the third.
    for _ in 0..20 {
        first.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut metrics = String::new();
        while !metrics.contains("callboard_connections 2\n") {
            let mut piece = [0; 4096];
            let length = soon("the metrics", first.read(&mut piece)).await.unwrap();
            assert_ne!(length, 0, "{metrics}");
            metrics += &String::from_utf8_lossy(&piece[..length]);
        }
    }
    let early = third.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);
    drop((first, second));
    soon("an answer", third.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.100}");
}
