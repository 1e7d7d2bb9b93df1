//! The public REST protocol in front of a real Redis: what Vercel KV and Upstash speak.

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
use redis::{Client, Cmd, Value as Reply, aio::MultiplexedConnection};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// What is asked for in the header.
const TOKEN: &str = "to/ken";

/// A server that speaks REST, ended when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    task: JoinHandle<()>,
    state: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    redis: MultiplexedConnection,
    trouble: Mutex<Option<Trouble>>,
    requests: AtomicUsize,
}

/// What goes wrong with the next request.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    /// It is not taken, and the sender is to wait.
    TooMany,
    /// It is carried out, and something in between answers that it was too slow.
    AnswerLost,
    /// It is sent on to where the token must not go.
    Redirect,
    /// A page for people answers.
    Page,
}

impl Proxy {
    /// One in front of the Redis that listens on this port.
    pub async fn start(redis: u16) -> Self {
        let client = Client::open(format!("redis://127.0.0.1:{redis}")).unwrap();
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
        let redis = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
        let state = Arc::new(Shared { redis, trouble: Mutex::default(), requests: AtomicUsize::new(0) });
        let app = Router::new()
            .route("/", post(one))
            .route("/pipeline", post(several))
            .layer(DefaultBodyLimit::disable())
            .with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { port, task, state }
    }

    /// The URL of a namespace in it.
    pub fn url(&self, namespace: &str) -> String {
        self.url_with("to%2Fken", namespace)
    }

    /// The same with another token, as it stands in a URL.
    pub fn url_with(&self, token: &str, namespace: &str) -> String {
        format!("redis-rest+http://{token}@127.0.0.1:{}?namespace={namespace}&poll_ms=20", self.port)
    }

    /// Lets this go wrong with the next request.
    pub fn trouble(&self, trouble: Trouble) {
        *self.state.trouble.lock().unwrap() = Some(trouble);
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn one(State(state): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let trouble = match enter(&state, &headers, &body) {
        Ok(trouble) => trouble,
        Err(response) => return *response,
    };
    let answer = carry_out(&state.redis, serde_json::from_slice(&body).unwrap()).await;
    if let Some(Trouble::AnswerLost) = trouble {
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

/// Lets in who has the token, and says what is to go wrong once it is in.
fn enter(state: &Shared, headers: &HeaderMap, body: &[u8]) -> Result<Option<Trouble>, Box<Response>> {
    state.requests.fetch_add(1, Ordering::SeqCst);
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token != Some(&format!("Bearer {TOKEN}")) {
        return Err(respond(StatusCode::UNAUTHORIZED, &json!({"error": "Unauthorized"})).into());
    }
    if body.starts_with(b"[\"XREAD\"") {
        // Whoever watches asks at any time; trouble waits for what the test does.
        return Ok(None);
    }
    let response = match state.trouble.lock().unwrap().take() {
        Some(Trouble::TooMany) => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "0")]).into_response(),
        Some(Trouble::Redirect) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "http://127.0.0.1:1/")]).into_response()
        }
        Some(Trouble::Page) => "<html>welcome</html>".into_response(),
        trouble => return Ok(trouble),
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
