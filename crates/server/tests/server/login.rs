//! The page, and browsers that log in to it.

use callboard_server::Settings;
use serde_json::json;

use crate::fixtures::{Answer, Server, memory, settings};

/// The cookie that an answer sets, as a browser sends it back.
fn cookie(answer: &Answer) -> String {
    let set = answer.headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

async fn locked() -> Server {
    Server::with(memory().await, Settings { user_tokens: vec!["open sesame".to_owned()], ..settings() }).await
}

#[tokio::test]
async fn a_browser_logs_in_with_a_cookie_that_is_not_the_token() {
    let server = locked().await;
    server.get("/v1/me").await.problem(401, "unauthorized");
    server.send("POST", "/v1/login", json!({"token": "wrong"})).await.problem(401, "unauthorized");
    server.send("POST", "/v1/login", json!({"token": "wrong", "x": 1})).await.problem(422, "invalid");
    let answer = server.send("POST", "/v1/login", json!({"token": "open sesame"})).await.is(200);
    assert_eq!(answer.body, json!({"name": "user", "login": true, "project": false}));
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict") && !set.contains("sesame"), "{set}");

    let cookie = cookie(&answer);
    let from = |site: &str| server.call("GET", "/v1/sessions").header("cookie", &cookie).header("sec-fetch-site", site);
    Answer::of(from("same-origin")).await.is(200);
    for site in ["cross-site", "same-site", "none"] {
        Answer::of(from(site)).await.problem(401, "unauthorized");
    }
    Answer::of(server.call("GET", "/v1/sessions").header("cookie", &cookie)).await.problem(401, "unauthorized");
    let handle = cookie.split_once('=').unwrap().1;
    Answer::of(server.call("GET", "/v1/sessions").bearer_auth(handle)).await.problem(401, "unauthorized");

    let out = || server.call("POST", "/v1/logout").header("cookie", &cookie).header("sec-fetch-site", "same-origin");
    let answer = Answer::of(out()).await.is(204);
    assert!(answer.headers["set-cookie"].to_str().unwrap().ends_with("; Max-Age=0"));
    Answer::of(from("same-origin")).await.problem(401, "unauthorized");
    Answer::of(out()).await.problem(401, "unauthorized");
}

#[tokio::test]
async fn revoking_a_token_ends_what_was_logged_in_with_it() {
    let (server, team) = Server::with_team().await;
    let token = server.token(&team, "writer").await;
    let answer = server.send("POST", "/v1/login", json!({ "token": token })).await.is(200);
    assert_eq!(
        answer.body,
        json!({"name": "writer", "role": "worker", "session": "s", "login": false, "project": false})
    );
    let cookie = cookie(&answer);
    let get = |path: &str| server.call("GET", path).header("cookie", &cookie).header("sec-fetch-site", "same-origin");
    Answer::of(get("/v1/me")).await.is(200);
    Answer::of(get(&team)).await.is(200);
    Answer::of(get("/v1/sessions")).await.problem(403, "forbidden");
    let id = server.get(&format!("{team}/tokens")).await.body["tokens"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&format!("{team}/tokens/{id}")).await.is(204);
    for path in ["/v1/me", &team] {
        Answer::of(get(path)).await.problem(401, "unauthorized");
    }
}

#[tokio::test]
async fn the_page_is_there_for_every_view_and_may_load_only_itself() {
    let server = locked().await;
    let index = server.get("/").await.is(200);
    assert!(index.raw.contains("<base href=\"/\">"), "{}", index.raw);
    let policy = index.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(index.headers["x-content-type-options"], "nosniff");
    assert_eq!(index.headers["referrer-policy"], "no-referrer");
    assert_eq!(server.get("/sessions/s%2Fx/conversation").await.is(200).raw, index.raw);
    let tag = index.headers["etag"].clone();
    let again = Answer::of(server.call("GET", "/").header("if-none-match", tag)).await.is(304);
    assert!(again.raw.is_empty());
    server.get("/assets/none.js").await.problem(404, "not_found");
    server.get("/sessions").await.problem(404, "not_found");
    server.send("POST", "/sessions/s/plan", json!({})).await.problem(404, "not_found");
}

#[tokio::test]
async fn behind_a_proxy_the_page_knows_its_path_and_the_cookie_is_secure() {
    let public_url = Some("https://board.example/team".parse().unwrap());
    let server = Server::with(memory().await, Settings { public_url, ..settings() }).await;
    let from = |method: &str, path: &str| {
        let call = server.call(method, path).header("host", "board.example");
        call.header("origin", "https://board.example")
    };
    let index = Answer::of(from("GET", "/sessions/s/plan")).await.is(200);
    assert!(index.raw.contains("<base href=\"/team/\">"), "{}", index.raw);
    let team = server.team("s").await;
    let token = server.token(&team, "lead").await;
    let answer = Answer::of(from("POST", "/v1/login").json(&json!({ "token": token }))).await.is(200);
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.ends_with("; Path=/team/; HttpOnly; SameSite=Strict; Secure"), "{set}");
    let call = server.call("GET", "/").header("host", "other.example");
    Answer::of(call).await.problem(403, "host_refused");
}
