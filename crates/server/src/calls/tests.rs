//! Calls without HTTP: a caller and typed input in, a typed answer or an error out.

use std::{fs, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_api as api;
use callboard_engine::{Board, Settings as BoardSettings};
use callboard_model::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta};
use futures::TryStreamExt;
use serde_json::{Value, json};

use super::{
    Authorized, AuthorizedIfThere, AuthorizedOnServer, AuthorizedToAdd, CallError, Caller, Credentials, WriteOptions,
    rights::{AddMessages, CreateSession, DeleteSession, ReadJournal, ReadSets, WriteSets},
};
use crate::{Settings, app::App, driving::Driving, settings::Limits};

/// A model that nobody asks.
struct NoModel;

#[async_trait]
impl ChatModel for NoModel {
    async fn chat(&self, _: &ChatRequest, _: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        std::future::pending().await
    }
}

async fn app() -> App {
    let store = callboard_store::open("memory:", callboard_store::Settings::default()).await.unwrap();
    let settings = Settings {
        user_tokens: Vec::new(),
        token_secret: Some([7; 32]),
        tls: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        public_url: None,
        project: None,
        prices: None,
        browsers: None,
        limits: Limits::default(),
        models: Arc::new(NoModel),
        runs: callboard_run::Settings { node: "test".into(), model: None, turn_timeout: Duration::from_secs(60) },
    };
    App::new(Board::new(store, BoardSettings::default()), settings, None, Driving::None, String::new).unwrap()
}

fn user() -> Caller {
    Caller { credentials: Credentials::User, acting: None }
}

fn agent(name: &str) -> Caller {
    Caller { credentials: Credentials::User, acting: Some(name.to_owned()) }
}

fn input<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn id() -> api::SessionId {
    "s".parse().unwrap()
}

/// A session with a manager `lead` and a worker `writer`.
async fn with_team(app: &App) -> api::Session {
    let new = json!({"id": "s", "agents": [
        {"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]});
    let server = AuthorizedOnServer::<CreateSession>::enter(app, &user()).await.unwrap();
    server.create_session(input(new), WriteOptions::default()).await.unwrap().body
}

async fn put(app: &App, caller: &Caller, set: Value) -> Result<api::PutContextSetAnswer, CallError> {
    let caller = Authorized::<WriteSets>::enter(app, caller, &id()).await?;
    Ok(caller.put_set("facts".parse().unwrap(), input(set), WriteOptions::default()).await?.body)
}

#[tokio::test]
async fn a_call_takes_typed_input_and_gives_a_typed_answer() {
    let app = app().await;
    assert_eq!(with_team(&app).await.agents.len(), 2);
    put(&app, &user(), json!({"content": "The sky is blue.", "visible_to": "all"})).await.unwrap();
    let reader = Authorized::<ReadSets>::enter(&app, &agent("writer"), &id()).await.unwrap();
    let set = reader.read_set("facts".parse().unwrap(), api::AtQuery::default()).await.unwrap().body;
    assert_eq!(set.content.as_deref(), Some("The sky is blue."));
}

#[tokio::test]
async fn an_error_has_a_code_a_pointer_and_a_hint() {
    let app = app().await;
    with_team(&app).await;
    let absent = put(&app, &user(), json!({"content": "x", "visible_to": ["nobody"]})).await.unwrap_err();
    assert_eq!((absent.code, &*absent.faults[0].pointer), ("no_agent", "/visible_to"), "{absent:?}");

    let adder = AuthorizedToAdd::<AddMessages>::enter(&app, &user(), &id()).await.unwrap();
    let messages =
        json!({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "tool_call_id": "c"}]});
    let invalid =
        adder.add_messages("main".parse().unwrap(), input(messages), Vec::new(), WriteOptions::default()).await;
    let invalid = invalid.err().unwrap();
    assert_eq!((invalid.code, &*invalid.faults[0].pointer), ("invalid", "/messages/1/tool_call_id"), "{invalid:?}");

    let forbidden = put(&app, &agent("writer"), json!({"content": "x"})).await.unwrap_err();
    assert_eq!(
        forbidden,
        CallError {
            code: "forbidden",
            detail: "agent:writer may not write context sets".to_owned(),
            faults: Vec::new(),
            hint: Some("ask the manager or the user".to_owned()),
        }
    );
    let stranger = Caller { credentials: Credentials::Token("callboard_s_0".to_owned()), acting: None };
    assert_eq!(put(&app, &stranger, json!({"content": "x"})).await.unwrap_err().code, "unauthorized");
}

#[tokio::test]
async fn a_long_list_comes_in_typed_pages() {
    let app = app().await;
    with_team(&app).await;
    put(&app, &user(), json!({"content": "x"})).await.unwrap();
    let reader = Authorized::<ReadSets>::enter(&app, &user(), &id()).await.unwrap();
    let listed = reader.list_sets(api::PageAtQuery::default()).await.unwrap();
    let sets: Vec<_> = listed.sets.try_concat().await.unwrap();
    assert_eq!(sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>(), ["facts"]);
}

#[tokio::test]
async fn a_session_that_is_gone_is_deleted_by_nobody_else() {
    let app = app().await;
    with_team(&app).await;
    let delete = async || {
        let caller = AuthorizedIfThere::<DeleteSession>::enter(&app, &user(), &id()).await?;
        caller.delete_session(WriteOptions::default()).await
    };
    delete().await.unwrap();
    assert_eq!(delete().await.unwrap_err().code, "not_found");
    let gone = Authorized::<ReadJournal>::enter(&app, &user(), &id()).await.err().unwrap();
    assert_eq!(gone.code, "not_found");
}

#[test]
fn no_call_knows_http() {
    let calls = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/calls");
    for file in fs::read_dir(calls).unwrap() {
        let path = file.unwrap().path();
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["axum", "http::", "hyper", "StatusCode"] {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
}
