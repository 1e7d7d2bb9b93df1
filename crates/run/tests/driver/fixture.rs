//! A team, its session, and a model that plays all of its members.

use std::{fmt::Debug, future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_engine::{
    Board, MasterKey, NewBoardSession, RecallSettings, Session, Settings as EngineSettings,
    core::{
        command::Command,
        entry::{Actor, Entry},
        id::{RunId, Seq, ThreadId},
        limits::Limits,
        run::{NewRun, Run, RunKind, Status},
        session::SessionPatch,
        viewer::Viewer,
    },
    store::{ManualClock, MemoryStore, Order, Query, Store},
};
use callboard_model::{
    ChatAnswer, ChatModel, ChatRequest, Endpoints, ModelError, OnDelta, Retries, Settings as ModelSettings,
    scripted::{Reply, Scripted},
};
use callboard_run::{Driver, Error, Settings};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

pub(crate) fn memory() -> Arc<dyn Store> {
    let clock = ManualClock::new("2025-01-18T14:30:22Z".parse().unwrap());
    Arc::new(MemoryStore::new(Arc::new(clock)))
}

/// How long anything may take until a test is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Gives an answer on only when it is let through.
struct Gated {
    model: Arc<dyn ChatModel>,
    gate: Arc<Semaphore>,
}

#[async_trait]
impl ChatModel for Gated {
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let answer = self.model.chat(request, on_delta).await;
        self.gate.acquire().await.unwrap().forget();
        answer
    }
}

/// A model that answers from a script, and whoever may ask it.
pub(crate) struct Models {
    pub(crate) endpoint: Scripted,
}

impl Models {
    pub(crate) fn new(script: impl FnMut(&Value, usize) -> Reply + Send + 'static) -> Self {
        Self { endpoint: Scripted::start(script) }
    }

    /// A model whose answer number `nth`, from 0, is another one, and what is told when that one is asked for.
    pub(crate) fn cut_off_at(
        nth: usize,
        script: fn(&Value) -> Reply,
        other: impl Fn() -> Reply + Send + 'static,
    ) -> (Self, Arc<Notify>) {
        let reached = Arc::new(Notify::new());
        let told = reached.clone();
        let models = Self::new(move |request, asked| {
            if asked != nth {
                return script(request);
            }
            told.notify_one();
            other()
        });
        (models, reached)
    }

    pub(crate) fn driver(&self, session: &Session, node: &str) -> Driver {
        Driver::new(session.clone(), self.model(), self.settings(node))
    }

    pub(crate) fn settings(&self, node: &str) -> Settings {
        let (model, turn_timeout) = (Some("openai:scripted".to_owned()), 10 * PATIENCE);
        Settings { node: node.into(), model, turn_timeout }
    }

    pub(crate) fn model(&self) -> Arc<dyn ChatModel> {
        let settings = ModelSettings {
            openai_base_url: Some(self.endpoint.base_url()),
            anthropic_base_url: Some(self.endpoint.base_url()),
            retries: Retries { tries: 1, ..Retries::default() },
            ..ModelSettings::default()
        };
        Arc::new(Endpoints::from(settings))
    }

    /// The same model, whose answers come only when they are let through.
    pub(crate) fn gated(&self, gate: &Arc<Semaphore>) -> Arc<dyn ChatModel> {
        Arc::new(Gated { model: self.model(), gate: gate.clone() })
    }

    pub(crate) async fn drive(&self, session: &Session, run: &RunId) -> Result<Status, Error> {
        soon("the run", self.driver(session, "test").drive(run)).await
    }

    /// What was asked for in each request: `directive`, `form`, `verdict` or `work`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.endpoint.requests().iter().map(|request| asked(request).to_owned()).collect()
    }
}

/// What a request asks for.
pub(crate) fn asked(request: &Value) -> &str {
    let form = request["response_format"]["json_schema"]["name"].as_str();
    form.or(request["tool_choice"]["name"].as_str()).unwrap_or("work")
}

/// The text of all messages of a request, and of what comes before them.
pub(crate) fn prompt(request: &Value) -> String {
    json!([request["system"], request["messages"]]).to_string()
}

/// `lead`, `writer` who can look things up, and `editor`.
pub(crate) async fn session_on(store: &Arc<dyn Store>) -> Session {
    session_asking(store, None, None).await
}

/// The same session on a board with master keys.
pub(crate) async fn session_with_keys(store: &Arc<dyn Store>, master_keys: Arc<Vec<MasterKey>>) -> Session {
    let settings = EngineSettings { master_keys, ..settings() };
    let agents = serde_json::from_value(json!([{"name": "lead", "role": "manager"}])).unwrap();
    let new = NewBoardSession { id: "s".parse().ok(), agents, ..Default::default() };
    Board::new(store.clone(), settings).create(new).await.unwrap()
}

/// The same team, in which the lead and the writer have models of their own.
pub(crate) async fn session_asking(store: &Arc<dyn Store>, lead: Option<&str>, writer: Option<&str>) -> Session {
    let tools = json!([{"name": "look_up", "description": "Looks something up."}]);
    let agents = json!([
        {"name": "lead", "role": "manager", "model": lead},
        {"name": "writer", "role": "worker", "model": writer, "tools": tools},
        {"name": "editor", "role": "worker"},
    ]);
    let new =
        NewBoardSession { id: "s".parse().ok(), agents: serde_json::from_value(agents).unwrap(), ..Default::default() };
    board(store).create(new).await.unwrap()
}

/// Settings whose time stands still, and with which nothing is swept or read unless somebody asks.
fn settings() -> EngineSettings {
    let clock = Arc::new(ManualClock::new("2025-01-18T14:30:22Z".parse().unwrap()));
    let recall = RecallSettings { quiet: None, patience: PATIENCE, ..RecallSettings::default() };
    EngineSettings { clock, recall, sweep: None, ..EngineSettings::default() }
}

pub(crate) fn board(store: &Arc<dyn Store>) -> Board {
    Board::new(store.clone(), settings())
}

pub(crate) async fn session() -> Session {
    session_on(&memory()).await
}

pub(crate) async fn start(session: &Session) -> RunId {
    start_with(session, None).await
}

pub(crate) async fn start_with(session: &Session, limits: Option<Limits>) -> RunId {
    let new = NewRun { kind: RunKind::Team, input: "Write a haiku on tides.".into(), limits };
    user(session, new).await
}

pub(crate) async fn user<C: Command>(session: &Session, command: C) -> C::Answer {
    session.execute(Actor::User, command).await.unwrap().answer
}

pub(crate) async fn run_of(session: &Session, run: &RunId) -> Run {
    session.state().await.unwrap().runs.get(run).unwrap().clone()
}

/// Why a run is held.
pub(crate) async fn reason(session: &Session, run: &RunId) -> String {
    let run = run_of(session, run).await;
    assert_eq!(run.status(), Status::Paused);
    run.halt.unwrap().reason.unwrap()
}

/// The texts of a thread.
pub(crate) async fn texts(session: &Session, thread: &str) -> Vec<String> {
    let thread: ThreadId = thread.parse().unwrap();
    let page = session.messages(&Viewer::User, &thread, Default::default()).await.unwrap();
    page.messages.iter().map(|message| message.content.as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn journal(store: &Arc<dyn Store>) -> Vec<Entry> {
    let all = Query::all(Seq(1)..Seq(u64::MAX), Order::Forward, usize::MAX);
    store.read(&"s".parse().unwrap(), all).await.unwrap()
}

/// What the entries of one type say.
pub(crate) fn of_type(entries: &[Entry], kind: &str) -> Vec<Value> {
    let wanted = entries.iter().filter(|entry| *entry.header.kind == *kind);
    wanted.map(|entry| serde_json::from_str(&entry.data).unwrap()).collect()
}

pub(crate) fn to(agent: &str, message: &str) -> Reply {
    Reply::json(&json!({"messageTo": agent, "message": message}))
}

pub(crate) fn done(message: &str) -> Reply {
    Reply::json(&json!({"messageTo": "user", "message": message, "workflowComplete": true}))
}

/// A whole run: a brief that only the writer sees, an order with criteria, an answer, a verdict, the end.
pub(crate) fn whole_run(request: &Value) -> Reply {
    match asked(request) {
        "directive" if prompt(request).contains("Waters come and go") => done("Here it is."),
        "directive" => Reply::json(&json!({
            "messageTo": "writer", "message": "Write it.", "expectedOutput": "three lines",
            "contextSetUpdate": {"contextSets": [
                {"name": "Brief", "context": "Season: winter.", "visibleToAgents": ["writer"]},
            ]},
        })),
        "work" => Reply::text("Waters come and go"),
        "verdict" => Reply::json(&json!({"valid": true, "reason": "It has three lines."})),
        other => panic!("nobody expects {other}"),
    }
}

/// What a future comes to, which it must soon.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Drops a future, which has not ended yet, once `reached` is told.
pub(crate) async fn before<T: Debug>(reached: &Notify, future: impl Future<Output = T>) {
    // A run's future is large in a debug build: it stands on the heap.
    let future = Box::pin(future);
    tokio::select! {
        ended = future => panic!("{ended:?}"),
        () = reached.notified() => {}
    }
}

/// A change of the session, written as JSON.
pub(crate) fn patch(fields: serde_json::Value) -> SessionPatch {
    serde_json::from_value(fields).unwrap()
}
