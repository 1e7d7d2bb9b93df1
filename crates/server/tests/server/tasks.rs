//! Panics: of background tasks, of drivers, and in calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use callboard_engine::Settings as BoardSettings;
use callboard_model::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta};
use callboard_server::Settings;
use serde_json::json;

use crate::{
    faulty::{Act, Call, Faulty},
    fixtures::{self, Server, memory, settings, until},
};

#[tokio::test]
async fn a_background_task_that_panics_is_named_and_started_again() {
    let store = Faulty::new(memory().await);
    let sweeps = Arc::new(AtomicUsize::new(0));
    let count = sweeps.clone();
    store.play(move |call| match call {
        Call::Sweep if count.fetch_add(1, Ordering::Relaxed) == 0 => Act::Panic,
        _ => Act::Pass,
    });
    // clock: how often the server sweeps; the test waits until it has
    let board = BoardSettings { sweep: Some(Duration::from_millis(20)), ..fixtures::board() };
    let server = Server::of(store, settings(), board).await;
    let trouble = server.when("/readyz", |answer| answer.status == 503).await.problem(503, "task_panicked");
    assert!(trouble.text("detail").contains("sweep"), "{}", trouble.raw);
    let metrics = server.get("/metrics").await.is(200);
    assert!(metrics.raw.contains("callboard_task_panics_total{task=\"sweep\"} 1"), "{}", metrics.raw);
    server.get("/healthz").await.is(200);
    until("another start", async || sweeps.load(Ordering::Relaxed) >= 3).await;
}

/// A model whose client has a fault.
struct Panicking;

#[async_trait]
impl ChatModel for Panicking {
    async fn chat(&self, _: &ChatRequest, _: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        panic!("the client has a fault")
    }
}

#[tokio::test]
async fn a_run_whose_driver_panics_is_paused_and_says_why() {
    let server = Server::with(memory().await, Settings { models: Arc::new(Panicking), ..settings() }).await;
    let team = server.team("s").await;
    let run = server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "Go."})).await.is(201);
    let run = format!("{team}/runs/{}", run.text("id"));
    let paused = server.when(&run, |run| run.text("status") == "paused").await;
    assert!(paused.raw.contains("panicked") && !paused.raw.contains("has a fault"), "{}", paused.raw);
    server.get("/readyz").await.problem(503, "task_panicked");
    server.send("POST", &format!("{run}/resume"), json!({})).await.is(200);
    server.when(&run, |run| run.text("status") == "paused").await;
}

#[tokio::test]
async fn a_call_that_panics_is_answered_and_does_no_harm() {
    let store = Faulty::new(memory().await);
    let server = Server::with(store.clone(), settings()).await;
    store.next(Call::Row, 1, Act::Panic);
    let failed = server.get("/v1/sessions/absent").await.problem(500, "internal");
    assert!(!failed.raw.contains("script"), "what the panic says is for the log: {}", failed.raw);
    server.get("/v1/sessions/absent").await.problem(404, "not_found");
    server.get("/readyz").await.is(200);
}
