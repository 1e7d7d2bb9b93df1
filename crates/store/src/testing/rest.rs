//! A proxy that speaks the REST protocol of Vercel KV and Upstash, in front of a real Redis.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use redis::{Cmd, Value as Reply, aio::MultiplexedConnection};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::redis::connection;

/// The access token that it requires.
const TOKEN: &str = "to/ken";

/// A server that speaks REST. It ends when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    _task: JoinSet<()>,
    state: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    redis: MultiplexedConnection,
    fault: Mutex<Option<Fault>>,
    requests: AtomicUsize,
}

/// A fault in the answer to the next request.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Status 429: the request is not done, and the sender has to wait.
    TooMany,
    /// The request is done, but the answer is status 504.
    AnswerLost,
    /// A redirect to another server, which must not get the token.
    Redirect,
    /// The answer is an HTML page.
    Page,
}

impl Proxy {
    /// Starts a proxy for the Redis that listens on this port.
    pub async fn start(redis: u16) -> Self {
        let state =
            Arc::new(Shared { redis: connection(redis).await, fault: Mutex::default(), requests: AtomicUsize::new(0) });
        let app = Router::new()
            .route("/", post(one))
            .route("/pipeline", post(several))
            .layer(DefaultBodyLimit::disable())
            .with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut task = JoinSet::new();
        task.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { port, _task: task, state }
    }

    /// The URL of a namespace in it.
    pub fn url(&self, namespace: &str) -> String {
        self.url_with("to%2Fken", namespace)
    }

    /// The URL with another token, in percent-encoding.
    pub fn url_with(&self, token: &str, namespace: &str) -> String {
        format!("redis-rest+http://{token}@127.0.0.1:{}?namespace={namespace}&poll_ms=20", self.port)
    }

    /// Lets the next request fail in this way.
    pub fn fail_next_request(&self, fault: Fault) {
        *self.state.fault.lock().unwrap() = Some(fault);
    }

    /// How many requests it got.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

async fn one(State(state): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let fault = match enter(&state, &headers, &body) {
        Ok(fault) => fault,
        Err(response) => return *response,
    };
    let answer = carry_out(&state.redis, serde_json::from_slice(&body).unwrap()).await;
    if let Some(Fault::AnswerLost) = fault {
        return (StatusCode::GATEWAY_TIMEOUT, "<html>too slow</html>").into_response();
    }
    let status = if answer.get("error").is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    respond(status, &answer)
}

async fn several(State(state): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(response) = enter(&state, &headers, &body) {
        return *response;
    }
    let mut answers = vec![];
    for command in serde_json::from_slice::<Vec<Value>>(&body).unwrap() {
        answers.push(carry_out(&state.redis, command).await);
    }
    respond(StatusCode::OK, &json!(answers))
}

/// Checks the token. Returns the fault for this request, if one is set.
fn enter(state: &Shared, headers: &HeaderMap, body: &[u8]) -> Result<Option<Fault>, Box<Response>> {
    state.requests.fetch_add(1, Ordering::SeqCst);
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token != Some(&format!("Bearer {TOKEN}")) {
        return Err(respond(StatusCode::UNAUTHORIZED, &json!({"error": "Unauthorized"})).into());
    }
    if body.starts_with(b"[\"XREAD\"") {
        // Watchers poll at any time. The fault is for a request of the test itself.
        return Ok(None);
    }
    let response = match state.fault.lock().unwrap().take() {
        Some(Fault::TooMany) => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "0")]).into_response(),
        Some(Fault::Redirect) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "http://127.0.0.1:1/")]).into_response()
        }
        Some(Fault::Page) => "<html>welcome</html>".into_response(),
        fault => return Ok(fault),
    };
    Err(response.into())
}

fn respond(status: StatusCode, answer: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

async fn carry_out(redis: &MultiplexedConnection, command: Value) -> Value {
    let mut cmd = Cmd::new();
    for word in command.as_array().unwrap() {
        cmd.arg(word.as_str().unwrap());
    }
    match redis.clone().send_packed_command(&cmd).await.and_then(Reply::extract_error) {
        Ok(reply) => json!({"result": json_of(reply)}),
        Err(error) => {
            let words = format!("{} {}", error.code().unwrap_or("ERR"), error.detail().unwrap_or_default());
            json!({"error": words})
        }
    }
}

fn json_of(reply: Reply) -> Value {
    match reply {
        Reply::Nil => Value::Null,
        Reply::Int(number) => json!(number),
        Reply::Okay => json!("OK"),
        Reply::BulkString(bytes) => json!(String::from_utf8(bytes).unwrap()),
        Reply::SimpleString(text) => json!(text),
        Reply::Array(list) => list.into_iter().map(json_of).collect(),
        other => panic!("{other:?}"),
    }
}
