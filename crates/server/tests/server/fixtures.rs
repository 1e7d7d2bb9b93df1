//! A server on a free port of this machine, and callers of it.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_core::session::Ttl;
use callboard_engine::{Board, LEASE, MasterKey, RecallSettings, Settings as BoardSettings};
use callboard_model::{
    ChatAnswer, ChatModel, ChatRequest, Endpoints, ModelError, OnDelta, Settings as ModelSettings, scripted::Scripted,
};
use callboard_server::{Limits, Settings};
use callboard_store::{Lease, Store};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

/// A server that runs.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) address: std::net::SocketAddr,
    pub(crate) client: Client,
    pub(crate) board: Board,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// A model that nobody asks.
struct NoModel;

#[async_trait]
impl ChatModel for NoModel {
    async fn chat(&self, _: &ChatRequest, _: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        std::future::pending().await
    }
}

/// Settings with which a test begins.
pub(crate) fn settings() -> Settings {
    let runs = callboard_run::Settings {
        node: "test".into(),
        model: Some("openai:scripted".to_owned()),
        turn_timeout: Duration::from_secs(60),
    };
    Settings {
        token_secret: Some([7; 32]),
        limits: Limits { grace: Duration::from_secs(5), ..Limits::default() },
        ..Settings::new(Arc::new(NoModel), runs)
    }
}

/// The same where the models are those of this endpoint.
pub(crate) fn asking(endpoint: &Scripted) -> Settings {
    Settings { models: models(endpoint.base_url()), ..settings() }
}

/// How long anything may take until a test is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a future comes to, which it must soon.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Lets others run for a moment, between two looks at something that is waited for.
pub(crate) async fn moment() {
    // clock: a pause that stands for nothing, only lets others run
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Waits until something holds, which it must soon.
pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    soon(what, async {
        while !holds().await {
            moment().await;
        }
    })
    .await;
}

/// Settings of a board with which nothing is read unless somebody asks.
pub(crate) fn board() -> BoardSettings {
    BoardSettings { recall: recall(), ..BoardSettings::default() }
}

/// Settings of recall with which nothing is read unless somebody asks, and who asks waits until it is.
pub(crate) fn recall() -> RecallSettings {
    RecallSettings { quiet: None, patience: PATIENCE, ..RecallSettings::default() }
}

/// The models behind a scripted endpoint.
pub(crate) fn models(base_url: String) -> Arc<dyn ChatModel> {
    Arc::new(Endpoints::from(ModelSettings { openai_base_url: Some(base_url), ..ModelSettings::default() }))
}

pub(crate) async fn memory() -> Arc<dyn Store> {
    callboard_store::open("memory:", callboard_store::Settings::default()).await.unwrap()
}

pub(crate) async fn sqlite(path: &Path) -> Arc<dyn Store> {
    let url = format!("sqlite:{}", path.display());
    callboard_store::open(&url, callboard_store::Settings::default()).await.unwrap()
}

impl Server {
    /// A server over a store in memory.
    pub(crate) async fn start() -> Self {
        Self::with(memory().await, settings()).await
    }

    /// The same with a [team](Self::team) in the session `s`, and the path of that.
    pub(crate) async fn with_team() -> (Self, String) {
        let server = Self::start().await;
        let team = server.team("s").await;
        (server, team)
    }

    /// A server with a key, so that secrets can be sealed.
    pub(crate) async fn start_with_key() -> Self {
        Self::with_key(settings()).await
    }

    pub(crate) async fn with_key(settings: Settings) -> Self {
        let master_keys = Arc::new(vec![MasterKey::new([7; 32])]);
        Self::of(memory().await, settings, BoardSettings { master_keys, ..board() }).await
    }

    /// A server whose models are those of this endpoint.
    pub(crate) async fn asking(endpoint: &Scripted) -> Self {
        Self::with(memory().await, asking(endpoint)).await
    }

    pub(crate) async fn with(store: Arc<dyn Store>, settings: Settings) -> Self {
        // One that is started again has its name again.
        let lease = Lease { holder: "test".into(), lasts: LEASE };
        Self::of(store, settings, BoardSettings { lease, ttl: Ttl::DAY, ..board() }).await
    }

    /// A server of a board with these settings.
    pub(crate) async fn of(store: Arc<dyn Store>, settings: Settings, board: BoardSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let board = Board::new(store, board);
        let shutdown = async move { drop(stopped.await) };
        let ready = callboard_server::Server::ready(board.clone(), settings, listener).unwrap();
        let task = tokio::spawn(ready.serve(shutdown));
        // Another test of this process may have been faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { url: format!("http://{address}"), address, client, board, stop: Some(stop), task }
    }

    /// Stops it and waits until it has ended.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        self.task.await.unwrap();
        self.board.close().await;
    }

    /// Kills it: nothing is ended in order.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.call("GET", path)).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        Answer::of(self.call(method, path).json(&body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::of(self.call("DELETE", path)).await
    }

    /// Reads this again and again until it is so, which it must soon.
    pub(crate) async fn when(&self, path: &str, is_so: impl Fn(&Answer) -> bool) -> Answer {
        soon(path, async {
            loop {
                let answer = self.get(path).await;
                if is_so(&answer) {
                    return answer;
                }
                moment().await;
            }
        })
        .await
    }

    /// A session with this id, a manager `lead` and workers `writer` and `critic`.
    pub(crate) async fn team(&self, id: &str) -> String {
        let agents = json!([
            {"name": "lead", "role": "manager"},
            {"name": "writer", "role": "worker"},
            {"name": "critic", "role": "worker"},
        ]);
        self.send("POST", "/v1/sessions", json!({"id": id, "agents": agents})).await.is(201);
        format!("/v1/sessions/{id}")
    }

    /// The call that imports what was exported.
    pub(crate) fn import(&self, path: &str, export: &str) -> RequestBuilder {
        self.call("POST", path).header("content-type", "application/x-ndjson").body(export.to_owned())
    }

    /// The user says something in a thread: the number of its entry.
    pub(crate) async fn say(&self, session: &str, thread: &str, text: &str) -> u64 {
        let body = json!({"messages": [{"role": "user", "content": text}]});
        let said = self.send("POST", &format!("{session}/threads/{thread}/messages"), body).await.is(200);
        said.body["messages"][0]["seq"].as_u64().unwrap()
    }

    /// A token of an agent.
    pub(crate) async fn token(&self, session: &str, agent: &str) -> String {
        let made = self.send("POST", &format!("{session}/tokens"), json!({ "agent": agent })).await.is(201);
        made.text("token").to_owned()
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) raw: String,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let raw = response.text().await.unwrap();
        let body = serde_json::from_str(&raw).unwrap_or(Value::Null);
        Self { status, headers, raw, body }
    }

    /// The same, where it has this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.raw);
        self
    }

    /// The same, where it is this problem.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Self {
        let answer = self.is(status);
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        assert_eq!(answer.body["code"], code, "{}", answer.raw);
        assert_eq!(answer.body["status"], status);
        answer
    }

    /// What a model is told of a tool that failed.
    #[track_caller]
    pub(crate) fn tool_error(self) -> String {
        let answer = self.is(200);
        assert_eq!(answer.body["is_error"], true, "{}", answer.raw);
        answer.text("result").to_owned()
    }

    #[track_caller]
    pub(crate) fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_else(|| panic!("no {field} in {}", self.raw))
    }

    pub(crate) fn head(&self) -> u64 {
        self.body["head"].as_u64().unwrap()
    }

    /// The head that the answer has in its header.
    pub(crate) fn etag(&self) -> u64 {
        self.headers["etag"].to_str().unwrap().trim_matches('"').parse().unwrap()
    }
}
