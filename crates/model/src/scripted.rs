//! An endpoint that answers from a script, over real HTTP on a free port of this machine: for tests.
//!
//! ```
//! use callboard_model::scripted::{Reply, Scripted, last_text};
//!
//! let endpoint = Scripted::start(|request, nth| match last_text(request) {
//!     _ if nth == 0 => Reply::error(503, "busy"),
//!     "hello" => Reply::text("Good morning."),
//!     _ => Reply::json(&serde_json::json!({"ok": true})),
//! });
//! let base_url = endpoint.base_url(); // for OPENAI_BASE_URL or `Settings::openai_base_url`, and Anthropic's
//! assert!(base_url.ends_with("/v1") && endpoint.requests().is_empty());
//! ```
//!
//! It speaks chat completions and Anthropic's messages, streamed if the request says so, and lists one model. Embeddings,
//! sources of passages (`/v1/passages`) and responses (`/v1/responses`) are asked with the same script; their replies are
//! [`Reply::vectors`] and [`Reply::raw`]. It runs on its
//! own thread, so a test may block while it waits for another process. Dropping it ends it, even in the middle of an answer.

mod reply;
mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use wire::{Wire, anthropic::Anthropic, openai::OpenAi};

pub use reply::Reply;

type Script = Box<dyn FnMut(&Value, usize) -> Reply + Send>;

/// A running endpoint.
pub struct Scripted {
    address: SocketAddr,
    stage: Arc<Stage>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state of the endpoint, and the notification of requests.
struct Stage {
    play: Mutex<Play>,
    asked: Condvar,
}

/// The requests so far, and the script.
struct Play {
    script: Script,
    requests: Vec<Value>,
    bodies: Vec<String>,
    keys: Vec<Option<String>>,
}

impl Scripted {
    /// Starts an endpoint. `script` gets the body of each request for a message, in either API, and its number, from 0. It
    /// returns the reply.
    ///
    /// # Panics
    ///
    /// If there is no free port or thread: a test cannot go on then.
    #[allow(clippy::expect_used, reason = "only tests use it, and they can do nothing without it")]
    pub fn start(script: impl FnMut(&Value, usize) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("no free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let play = Play { script: Box::new(script), requests: Vec::new(), bodies: Vec::new(), keys: Vec::new() };
        let stage = Arc::new(Stage { play: Mutex::new(play), asked: Condvar::new() });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let routes = Router::new()
            .route("/v1/chat/completions", post(|stage, headers, body| chat(&OpenAi, stage, headers, body)))
            .route("/v1/responses", post(|stage, headers, body| chat(&OpenAi, stage, headers, body)))
            .route("/v1/messages", post(|stage, headers, body| chat(&Anthropic, stage, headers, body)))
            .route("/v1/messages/count_tokens", post(|stage, headers, body| chat(&Anthropic, stage, headers, body)))
            .route("/v1/embeddings", post(|stage, headers, body| chat(&OpenAi, stage, headers, body)))
            .route("/v1/passages", post(|stage, headers, body| chat(&OpenAi, stage, headers, body)))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&stage));
        let serve = async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            tokio::select! {
                _ = axum::serve(listener, routes) => {}
                _ = stopped => {}
            }
        };
        let thread = std::thread::Builder::new().name("scripted model".to_owned());
        let thread = thread.spawn(move || runtime.block_on(serve)).expect("a thread");
        Self { address, stage, stop: Some(stop), thread: Some(thread) }
    }

    /// Its base URL for clients, including those of Anthropic that accept a version in it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all requests for messages so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Value> {
        self.stage.lock().requests.clone()
    }

    /// The same, byte for byte.
    pub fn bodies(&self) -> Vec<String> {
        self.stage.lock().bodies.clone()
    }

    /// The `Authorization` header of each of these requests, or `x-api-key`, which Anthropic has for it.
    pub fn keys(&self) -> Vec<Option<String>> {
        self.stage.lock().keys.clone()
    }

    /// Blocks until there were `count` requests for messages, at most for `timeout`. Returns whether there were.
    pub fn wait_for(&self, count: usize, timeout: Duration) -> bool {
        let too_few = |play: &mut Play| play.requests.len() < count;
        let waited = self.stage.asked.wait_timeout_while(self.stage.lock(), timeout, too_few);
        waited.unwrap_or_else(PoisonError::into_inner).0.requests.len() >= count
    }
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the script has been reported already.
            let _ = thread.join();
        }
    }
}

/// The last text of the last message of a request; empty if there is none.
pub fn last_text(request: &Value) -> &str {
    let last = request.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
    last.and_then(|message| texts(message.get("content")?).pop()).unwrap_or_default()
}

/// The first text of a request, by which a script tells agents apart: that of the system or of the first message; empty if
/// there is none.
pub fn first_text(request: &Value) -> &str {
    let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten();
    let contents = messages.filter_map(|message| message.get("content"));
    request.get("system").into_iter().chain(contents).take(1).flat_map(texts).next().unwrap_or_default()
}

/// The texts of a content, which is a text or a list of blocks.
fn texts(content: &Value) -> Vec<&str> {
    let in_blocks = content.as_array().into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    content.as_str().into_iter().chain(in_blocks).collect()
}

async fn chat(wire: &dyn Wire, State(stage): State<Arc<Stage>>, headers: HeaderMap, body: String) -> Response {
    let Ok(request) = serde_json::from_str::<Value>(&body) else {
        return wire::error(wire, 400, "the body is not JSON", None);
    };
    let reply = {
        let mut play = stage.lock();
        let nth = play.requests.len();
        let key = headers.get(header::AUTHORIZATION).or_else(|| headers.get("x-api-key"));
        let key = key.and_then(|value| value.to_str().ok());
        play.keys.push(key.map(str::to_owned));
        play.requests.push(request.clone());
        play.bodies.push(body);
        stage.asked.notify_all();
        (play.script)(&request, nth)
    };
    wire::respond(wire, reply, &request).await
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}
