//! Who is let in, and who may do what.

use std::sync::Arc;

use callboard_core::time::Timestamp;
use callboard_engine::{Board, Settings as BoardSettings};
use callboard_store::{ManualClock, MemoryStore};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    fixtures::{self, Answer, Server, memory, settings},
    streams::{events, next},
};

#[tokio::test]
async fn a_token_lets_in_as_its_agent_until_it_is_revoked() {
    let (server, team) = Server::with_team().await;
    let other = server.team("other").await;
    let token = server.token(&team, "writer").await;
    let by_token = |method: &str, path: String| server.call(method, &path).bearer_auth(&token);
    let message = json!({"messages": [{"role": "assistant", "content": "done"}]});
    Answer::of(by_token("POST", format!("{team}/threads/main/messages")).json(&message)).await.is(200);
    let messages = server.get(&format!("{team}/threads/main/messages")).await;
    assert_eq!(messages.body["messages"][0]["agent"], "writer");
    Answer::of(by_token("GET", format!("{team}?as=writer"))).await.is(200);
    Answer::of(by_token("GET", format!("{team}?as=lead"))).await.problem(403, "forbidden");
    Answer::of(by_token("GET", other)).await.problem(401, "unauthorized");
    Answer::of(by_token("GET", "/v1/sessions/none".to_owned())).await.problem(401, "unauthorized");
    Answer::of(by_token("GET", "/v1/sessions".to_owned())).await.problem(403, "forbidden");
    let journal = server.get(&format!("{team}/export")).await.raw;
    assert!(!journal.contains(&token), "only the hash of a token is kept");
    let agents = |names: &[&str]| {
        let agents: Vec<_> = names.iter().map(|name| json!({"name": name, "role": "worker"})).collect();
        json!({ "agents": agents })
    };
    server.send("PATCH", &team, agents(&["critic"])).await.is(200);
    Answer::of(by_token("GET", team.clone())).await.problem(401, "unauthorized");
    server.send("PATCH", &team, agents(&["critic", "writer"])).await.is(200);
    Answer::of(by_token("GET", team.clone())).await.is(200);
    let id = server.get(&format!("{team}/tokens")).await.body["tokens"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&format!("{team}/tokens/{id}")).await.is(204);
    Answer::of(by_token("GET", team.clone())).await.problem(401, "unauthorized");
    server.delete(&format!("{team}/tokens/{id}")).await.problem(404, "not_found");
    server.send("POST", &format!("{team}/tokens"), json!({})).await.problem(422, "invalid");
    server.send("POST", &format!("{team}/tokens"), json!({"role": "worker"})).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_token_is_refused_from_when_on_it_expires() {
    let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000).unwrap());
    let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
    let board = BoardSettings { clock: Arc::new(clock.clone()), ..fixtures::board() };
    let server = Server::of(store, settings(), board).await;
    let team = server.team("s").await;
    let tokens = format!("{team}/tokens");
    for wrong in [json!(0), json!(-1), json!(1.5), json!("soon")] {
        let refused = server.send("POST", &tokens, json!({"agent": "writer", "expires_in": wrong})).await;
        assert_eq!(refused.problem(422, "invalid").body["errors"][0]["pointer"], "/expires_in");
    }
    server.token(&team, "critic").await;
    let new = json!({"agent": "writer", "expires_in": 60});
    let made = server.send("POST", &tokens, new).await.is(201).body;
    assert_eq!(made["expires_at"], "2023-11-14T22:14:20.000Z");
    let far = json!({"agent": "writer", "expires_in": 999_999_999_999_999_u64});
    assert_eq!(server.send("POST", &tokens, far).await.is(201).body["expires_at"], "9999-12-30T22:00:00.000Z");
    let by_token = |path: &str| server.call("GET", path).bearer_auth(made["token"].as_str().unwrap());
    let listed = async || server.get(&tokens).await.body["tokens"].as_array().unwrap().len();
    clock.advance_seconds(59);
    Answer::of(by_token(&team)).await.is(200);
    let mut stream = events(by_token(&format!("{team}/events"))).await;
    let put = async |text: &str| {
        server.send("PUT", &format!("{team}/context-sets/Brief"), json!({ "content": text })).await.is(200);
    };
    put("before").await;
    assert!(next(&mut stream).await.unwrap().data.contains("before"));
    assert_eq!(listed().await, 3);
    clock.advance_seconds(1);
    put("after").await;
    assert!(next(&mut stream).await.is_none(), "a stream ends before its next event");
    let refused = Answer::of(by_token(&team)).await.problem(401, "unauthorized");
    assert_eq!(refused.text("detail"), "the token has expired");
    Answer::of(by_token("/v1/me")).await.problem(401, "unauthorized");
    assert_eq!(listed().await, 2);
    let id = made["id"].as_str().unwrap();
    server.delete(&format!("{tokens}/{id}")).await.is(204);
}

#[tokio::test]
async fn a_role_has_a_token_too() {
    let (server, team) = Server::with_team().await;
    for (role, may_export) in [("user", 200), ("manager", 403)] {
        let made = server.send("POST", &format!("{team}/tokens"), json!({ "role": role })).await.is(201);
        let token = made.text("token");
        Answer::of(server.call("GET", &format!("{team}/runs")).bearer_auth(token)).await.is(200);
        Answer::of(server.call("GET", &format!("{team}/export")).bearer_auth(token)).await.is(may_export);
        Answer::of(server.call("GET", "/v1/sessions").bearer_auth(token)).await.problem(403, "forbidden");
    }
}

#[tokio::test]
async fn where_tokens_are_set_nobody_is_let_in_without() {
    let mut settings = settings();
    settings.user_tokens = vec!["open sesame".to_owned()];
    let server = Server::with(memory().await, settings).await;
    let answer = server.get("/v1/sessions").await.problem(401, "unauthorized");
    assert!(answer.headers.contains_key("www-authenticate"));
    for wrong in ["Bearer wrong", "Basic eDp5", "Bearer", "open sesame"] {
        let call = server.call("GET", "/v1/sessions").header("authorization", wrong);
        Answer::of(call).await.problem(401, "unauthorized");
    }
    Answer::of(server.call("GET", "/v1/sessions").bearer_auth("open sesame")).await.is(200);
    server.get("/healthz").await.is(200);
    server.get("/metrics").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn pages_of_other_sites_are_not_let_in() {
    let server = Server::start().await;
    let port = server.address.port();
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "192.168.0.1"] {
        let call = server.call("GET", "/v1/sessions").header("host", host);
        Answer::of(call).await.problem(403, "host_refused");
    }
    for host in [format!("localhost:{port}"), "127.0.0.1".to_owned(), format!("[::1]:{port}")] {
        Answer::of(server.call("GET", "/v1/sessions").header("host", host)).await.is(200);
    }
    for origin in ["http://evil.example", "null", "https://localhost", &format!("http://localhost:{}", port ^ 1)] {
        let call = server.call("GET", "/v1/sessions").header("origin", origin);
        Answer::of(call).await.problem(403, "origin_refused");
    }
    let own = format!("http://127.0.0.1:{port}");
    Answer::of(server.call("GET", "/v1/sessions").header("origin", own)).await.is(200);
}

#[tokio::test]
async fn nobody_can_listen_elsewhere_without_tokens() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let board = Board::new(memory().await, fixtures::board());
    let refused = callboard_server::Server::ready(board, settings(), listener).err().unwrap();
    assert!(refused.to_string().contains("no token is set"));
}

#[tokio::test]
async fn with_a_certificate_it_speaks_tls() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut settings = settings();
    settings.tls = Some(callboard_server::Tls { certificate: certificate.clone(), key });
    let server = Server::with(memory().await, settings.clone()).await;
    let trusted = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([trusted]).build().unwrap();
    let url = format!("https://localhost:{}/healthz", server.address.port());
    assert_eq!(client.get(url).send().await.unwrap().status(), 200);
    server.stop().await;
    std::fs::write(&certificate, "nothing").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let board = Board::new(memory().await, fixtures::board());
    let refused = callboard_server::Server::ready(board, settings, listener).err().unwrap();
    assert!(refused.to_string().contains("no certificate"));
}
