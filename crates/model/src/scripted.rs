//! A chat endpoint that answers from a script, over real HTTP on a free port of this machine: for tests.
//!
//! ```
//! use callboard_model::scripted::{Reply, Scripted, last_text};
//!
//! let endpoint = Scripted::start(|request, nth| match last_text(request) {
//!     _ if nth == 0 => Reply::error(503, "busy"),
//!     "hello" => Reply::text("Good morning."),
//!     _ => Reply::json(&serde_json::json!({"ok": true})),
//! });
//! let base_url = endpoint.base_url(); // for OPENAI_BASE_URL or `Settings::openai_base_url`
//! assert!(base_url.ends_with("/v1") && endpoint.requests().is_empty());
//! ```
//!
//! It speaks chat completions, streaming or not as the request says, and lists one model. It has a thread of its own, so
//! a test may block while it waits for another process; dropping it ends it, also in the middle of an answer.

mod reply;
mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub use reply::Reply;

type Script = Box<dyn FnMut(&Value, usize) -> Reply + Send>;

/// A running endpoint.
pub struct Scripted {
    address: SocketAddr,
    play: Arc<Mutex<Play>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What was asked so far, and what will be answered.
struct Play {
    script: Script,
    requests: Vec<Value>,
    keys: Vec<Option<String>>,
}

impl Scripted {
    /// Starts an endpoint. `script` gets the body of each request for a chat completion and its number, from 0 on, and
    /// says what is answered.
    ///
    /// # Panics
    ///
    /// Where this machine has no free port or no thread left: a test can do nothing then.
    #[allow(clippy::expect_used, reason = "only tests use it, and they can do nothing without it")]
    pub fn start(script: impl FnMut(&Value, usize) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("no free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let play = Play { script: Box::new(script), requests: Vec::new(), keys: Vec::new() };
        let play = Arc::new(Mutex::new(play));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let routes = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&play));
        let serve = async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            tokio::select! {
                _ = axum::serve(listener, routes) => {}
                _ = stopped => {}
            }
        };
        let thread = std::thread::Builder::new().name("scripted model".to_owned());
        let thread = thread.spawn(move || runtime.block_on(serve)).expect("a thread");
        Self { address, play, stop: Some(stop), thread: Some(thread) }
    }

    /// What an OpenAI client calls its base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all requests for chat completions so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Value> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// The `Authorization` header of each of these requests.
    pub fn keys(&self) -> Vec<Option<String>> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner).keys.clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A script that panicked has been heard of already.
            let _ = thread.join();
        }
    }
}

/// The text of the last message of a request; empty where it has none.
pub fn last_text(request: &Value) -> &str {
    let last = request.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
    last.and_then(text_of).unwrap_or_default()
}

/// The text of the first message of a request, which says who is asked; empty where it has none.
pub fn first_text(request: &Value) -> &str {
    let first = request.get("messages").and_then(Value::as_array).and_then(|messages| messages.first());
    first.and_then(text_of).unwrap_or_default()
}

fn text_of(message: &Value) -> Option<&str> {
    let content = message.get("content")?;
    content.as_str().or_else(|| content.as_array()?.iter().find_map(|part| part.get("text")?.as_str()))
}

async fn chat(State(play): State<Arc<Mutex<Play>>>, headers: HeaderMap, body: String) -> Response {
    let Ok(request) = serde_json::from_str::<Value>(&body) else {
        return wire::error(400, "the body is not JSON", None);
    };
    let reply = {
        let mut play = play.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = play.requests.len();
        let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        play.keys.push(key.map(str::to_owned));
        play.requests.push(request.clone());
        (play.script)(&request, nth)
    };
    wire::respond(reply, &request).await
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}
