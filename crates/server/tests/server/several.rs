//! Several servers on one store: a run is driven by one of them, and by another where that one is gone.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_core::time::Timestamp;
use callboard_engine::Settings as BoardSettings;
use callboard_model::{
    BytesOfAnswer, ChatAnswer, ChatModel, ChatRequest, Forwarded, ModelError, OnDelta,
    scripted::{Reply, Scripted},
};
use callboard_store::{Lease, ManualClock, MemoryStore, Store};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::{
    faulty::{Act, Call, Faulty},
    fixtures::{self, Answer, Server, models, moment, settings, soon, until},
    streams::{events, next},
};

/// How long the leases of these tests last, by a clock that stands still.
const LASTS: Duration = Duration::from_secs(1);

struct Stage {
    clock: ManualClock,
    store: Arc<dyn Store>,
    endpoint: Scripted,
}

impl Stage {
    fn new(script: impl FnMut(&Value, usize) -> Reply + Send + 'static) -> Self {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000).unwrap());
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        Self { clock, store, endpoint: Scripted::start(script) }
    }

    async fn server(&self, name: &str) -> Server {
        self.server_on(self.store.clone(), name).await
    }

    async fn server_on(&self, store: Arc<dyn Store>, name: &str) -> Server {
        self.server_asking(models(self.endpoint.base_url()), store, name).await
    }

    /// The model, whose answers come only when they are let through.
    fn gated(&self, gate: &Arc<Semaphore>) -> Arc<dyn ChatModel> {
        Arc::new(Gated { model: models(self.endpoint.base_url()), gate: gate.clone() })
    }

    async fn server_asking(&self, models: Arc<dyn ChatModel>, store: Arc<dyn Store>, name: &str) -> Server {
        let mut settings = settings();
        settings.models = models;
        settings.runs.node = name.into();
        let (clock, lease) = (Arc::new(self.clock.clone()), Lease { holder: name.into(), lasts: LASTS });
        Server::of(store, settings, BoardSettings { clock, lease, ..fixtures::board() }).await
    }

    /// Waits until the model was asked so often.
    async fn asked(&self, count: usize) {
        until("the model to be asked", async || self.endpoint.requests().len() >= count).await;
    }

    /// Whether nobody has the lease on the run: who asks for it gets it, and gives it back.
    async fn is_free(&self) -> bool {
        let probe = |lasts| Lease { holder: "probe".into(), lasts };
        let free = !self.store.lease(&probe(LASTS), 1).await.unwrap().is_empty();
        self.store.lease(&probe(Duration::ZERO), 0).await.unwrap();
        free
    }
}

/// Lets nothing of a server through to its store any more, and waits until it asks for its leases again: then no call from
/// before, which would renew them, is under way.
async fn cut_off(store: &Faulty) {
    let has_asked = Arc::new(Notify::new());
    let asks = has_asked.clone();
    store.play(move |call| {
        if call == Call::Lease {
            asks.notify_one();
        }
        Act::FailBefore
    });
    soon("leases to be asked for", has_asked.notified()).await;
}

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

    async fn forward(&self, request: Forwarded) -> Result<http::Response<BytesOfAnswer>, ModelError> {
        let answer = self.model.forward(request).await;
        self.gate.acquire().await.unwrap().forget();
        answer
    }
}

/// A team that is done after two turns of its manager and one of its writer.
fn team(request: &Value) -> Reply {
    if request.get("response_format").is_none() {
        return Reply::text("A page on tides.");
    }
    let is_written = request["messages"].to_string().contains("A page on tides.");
    let end = json!({"messageTo": "user", "message": "It is written.", "workflowComplete": true});
    let begin = json!({"messageTo": "writer", "message": "Write the page."});
    Reply::json(if is_written { &end } else { &begin })
}

async fn begin(server: &Server) -> String {
    let team = server.team("s").await;
    let run = server.send("POST", &format!("{team}/runs"), json!({"kind": "team", "input": "Go."})).await;
    format!("{team}/runs/{}", run.is(201).text("id"))
}

/// All that happens in the session until the run has ended, as a server streams it.
async fn until_the_end(server: &Server) -> Vec<(String, Value)> {
    let mut stream = events(server.call("GET", "/v1/sessions/s/events?after=0")).await;
    let mut seen: Vec<(String, Value)> = Vec::new();
    while seen.last().is_none_or(|(kind, _)| kind != "run.ended") {
        let event = next(&mut stream).await.unwrap();
        if event.event != "turn.delta" {
            assert_eq!(event.id, (seen.len() + 1).to_string(), "nothing is missed and nothing comes twice");
            seen.push((event.event, serde_json::from_str(&event.data).unwrap()));
        }
    }
    seen
}

/// What the entries of a type say in this field.
fn said<'a>(seen: &'a [(String, Value)], kind: &str, field: &str) -> Vec<&'a Value> {
    seen.iter().filter(|(of, _)| of == kind).map(|(_, entry)| &entry["data"][field]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i12_a_run_whose_server_was_killed_is_taken_over_when_its_lease_has_run_out() {
    let stage = Stage::new(|request, nth| if nth == 0 { Reply::silence() } else { team(request) });
    let faulty = Faulty::new(stage.store.clone());
    let (a, b) = (stage.server_on(faulty.clone(), "a").await, stage.server("b").await);
    begin(&a).await;
    stage.asked(1).await;
    cut_off(&faulty).await;
    a.kill().await;
    assert!(!stage.is_free().await, "the lease has not run out");
    stage.clock.advance_seconds(1);
    let seen = until_the_end(&b).await;
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "b"]);
    assert_eq!(said(&seen, "turn.requested", "turn"), [1, 2, 3], "the turn that was cut off is asked again as it was");
    assert_eq!(said(&seen, "turn.answered", "turn"), [1, 2, 3]);
    assert_eq!(stage.endpoint.requests().len(), 4);
    stage.clock.advance_seconds(60);
    assert!(!stage.is_free().await, "what has ended has no lease");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_server_ends_in_order_goes_on_at_once_elsewhere() {
    let stage = Stage::new(|request, nth| if nth == 0 { Reply::silence() } else { team(request) });
    let (a, b) = (stage.server("a").await, stage.server("b").await);
    begin(&a).await;
    stage.asked(1).await;
    a.stop().await;
    let seen = until_the_end(&b).await;
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "b"]);
    assert_eq!(stage.endpoint.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_back_goes_on_at_once_with_its_own_run_and_with_no_other() {
    let stage = Stage::new(|request, nth| if nth == 0 { Reply::silence() } else { team(request) });
    let a = stage.server("a").await;
    begin(&a).await;
    stage.asked(1).await;
    a.kill().await;
    let b = stage.server("b").await;
    let a = stage.server("a").await;
    let seen = until_the_end(&a).await;
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "a"]);
    assert_eq!(until_the_end(&b).await, seen);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i8_who_was_cut_off_from_the_store_does_not_disturb_who_took_over() {
    // The answer to the one who is cut off comes while it is, and that to the other one when it is back.
    let stage = Stage::new(|request, _| team(request));
    let faulty = Faulty::new(stage.store.clone());
    let (to_a, to_b) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let a = stage.server_asking(stage.gated(&to_a), faulty.clone(), "a").await;
    let b = stage.server_asking(stage.gated(&to_b), stage.store.clone(), "b").await;
    begin(&a).await;
    stage.asked(1).await;
    cut_off(&faulty).await;
    let has_failed = Arc::new(Notify::new());
    let failing = has_failed.clone();
    faulty.play(move |call| {
        if call == Call::Append {
            failing.notify_one();
        }
        Act::FailBefore
    });
    to_a.add_permits(1);
    soon("the answer that cannot be recorded", has_failed.notified()).await;
    stage.clock.advance_seconds(1);
    stage.asked(2).await;
    faulty.mend();
    // It answers again, and what it reads is what the other one wrote.
    soon("the one who was cut off", async { while a.get("/v1/sessions/s").await.status != 200 {} }).await;
    to_b.add_permits(10);
    let seen = until_the_end(&b).await;
    assert_eq!(until_the_end(&a).await, seen);
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "b"], "it was left to the other, for good");
    assert_eq!(said(&seen, "turn.answered", "turn"), [1, 2, 3]);
    assert_eq!(stage.endpoint.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_goes_on_where_the_answer_is_given() {
    let stage = Stage::new(|request, nth| match nth {
        0 => {
            let field = json!({"key": "port", "valueType": "NUMBER", "label": "Port", "required": true});
            let form = json!({"name": "Where", "fields": [field]});
            Reply::json(&json!({"isInfoRequest": true, "message": "Which port?", "form": form}))
        }
        _ => team(request),
    });
    let (a, b) = (stage.server("a").await, stage.server("b").await);
    let run = begin(&a).await;
    soon("a question", async { while b.get(&run).await.is(200).body["status"] != "awaiting_user" {} }).await;
    stage.clock.advance_seconds(60);
    assert!(!stage.is_free().await, "what waits has no lease");
    b.send("POST", "/v1/sessions/s/forms/Where", json!({"answers": {"port": 8080}})).await.is(200);
    let seen = until_the_end(&a).await;
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "b"]);
    assert_eq!(said(&seen, "turn.answered", "turn"), [1, 2, 3, 4]);
}

/// A request of a program that asks through a server, under its own name for it.
fn program(server: &Server, key: &str) -> RequestBuilder {
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "How high?"}]});
    let call = server.call("POST", "/gateway/s/writer/openai/v1/chat/completions");
    call.header("Idempotency-Key", key).json(&body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_of_a_program_whose_server_was_killed_is_interrupted() {
    let stage = Stage::new(|_, nth| if nth == 0 { Reply::silence() } else { Reply::text("High.") });
    let (a, b) = (stage.server("a").await, stage.server("b").await);
    let asking = tokio::spawn(program(&a, "one").send());
    stage.asked(1).await;
    let turns = async || b.get("/v1/sessions/s/turns").await.is(200).body["turns"].clone();
    assert_eq!(turns().await[0]["answered"], false, "its server may still answer it");
    a.kill().await;
    soon("the end of the turn", async {
        while turns().await[0]["failed"] != true {
            stage.clock.advance_seconds(1);
            moment().await;
        }
    })
    .await;
    let failed = b.get("/v1/sessions/s/journal?types=turn.failed").await.is(200);
    let [failed] = failed.body["entries"].as_array().unwrap().as_slice() else { panic!("{}", failed.raw) };
    let error = failed["data"]["error"].as_str().unwrap();
    assert!(error.starts_with("interrupted: "), "{failed}");
    // A loop of one's own may take as long as it likes.
    let own = json!({"agent": "writer", "record": true});
    b.send("POST", "/v1/sessions/s/prompt", own).await.is(200);
    stage.clock.advance_seconds(60);
    assert_eq!(turns().await[0]["answered"], false);
    // The same request again asks the model again, and adds nothing but its answer.
    let again = Answer::of(program(&b, "one")).await.is(200);
    assert_eq!(again.body["choices"][0]["message"]["content"], "High.", "{}", again.raw);
    let thread = b.get("/v1/sessions/s/threads/chat:writer/messages").await.is(200);
    assert_eq!(thread.body["messages"].as_array().unwrap().len(), 2, "{}", thread.raw);
    asking.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_whose_server_was_killed_is_interrupted_where_messages_are_only_added() {
    let stage = Stage::new(|_, _| Reply::silence());
    let (a, b) = (stage.server("a").await, stage.server("b").await);
    let asking = tokio::spawn(program(&a, "one").send());
    stage.asked(1).await;
    b.get("/v1/sessions/s").await.is(200);
    let id = "s".parse().unwrap();
    let open = async || {
        let session = b.board.session(&id).await.unwrap();
        session.state().await.unwrap().runs.asking().count()
    };
    assert_eq!(open().await, 1);
    a.kill().await;
    soon("the end of the turn", async {
        while open().await > 0 {
            stage.clock.advance_seconds(1);
            b.say("/v1/sessions/s", "main", "Anybody there?").await;
            moment().await;
        }
    })
    .await;
    asking.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_request_of_a_program_at_two_servers_is_asked_once() {
    let stage = Stage::new(|_, nth| match nth {
        2 => Reply::error(400, "the model does not like it"),
        _ => Reply::text(format!("answer {nth}")),
    });
    let gate = Arc::new(Semaphore::new(0));
    let a = stage.server_asking(stage.gated(&gate), stage.store.clone(), "a").await;
    let b = stage.server_asking(stage.gated(&gate), stage.store.clone(), "b").await;
    let first = tokio::spawn(Answer::of(program(&a, "one")));
    stage.asked(1).await;
    let refused = Answer::of(program(&b, "one")).await.is(409);
    assert!(refused.raw.contains("still being answered"), "{}", refused.raw);
    gate.add_permits(10);
    let first = first.await.unwrap().is(200);
    // What came of it is noted behind the answer.
    let noted = async |key: &str| loop {
        let answer = Answer::of(program(&b, key)).await;
        if answer.status != 409 {
            break answer;
        }
        moment().await;
    };
    let again = soon("the answer at the other server", noted("one")).await.is(200);
    assert_eq!(again.body["choices"], first.body["choices"], "{}", again.raw);
    assert_eq!(stage.endpoint.requests().len(), 1);
    // At the same moment it is asked once, too.
    let both = tokio::join!(Answer::of(program(&a, "two")), Answer::of(program(&b, "two")));
    assert!([&both.0, &both.1].iter().any(|answer| answer.status == 200), "{} {}", both.0.raw, both.1.raw);
    assert!([&both.0, &both.1].iter().all(|answer| [200, 409].contains(&answer.status.as_u16())));
    assert_eq!(stage.endpoint.requests().len(), 2);
    // What failed at one of them is asked again at the other.
    Answer::of(program(&a, "three")).await.is(400);
    soon("the request that is open no more", noted("three")).await.is(200);
    assert_eq!(stage.endpoint.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_says_at_two_servers_at_once_is_there_once() {
    let stage = Stage::new(|_, nth| Reply::text(format!("answer {nth}")));
    let faulty = Faulty::new(stage.store.clone());
    let (a, b) = (stage.server_on(faulty.clone(), "a").await, stage.server("b").await);
    b.team("s").await;
    let ask = |server: &Server| {
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "How high?"}]});
        Answer::of(server.call("POST", "/gateway/s/writer/openai/v1/chat/completions").json(&body))
    };
    // One of them has looked at what is known, and adds what is new when the other one has done so.
    let (adds, gate) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (adding, held, mut is_first) = (adds.clone(), gate.clone(), true);
    faulty.play(move |call| {
        if call != Call::Append || !std::mem::take(&mut is_first) {
            return Act::Pass;
        }
        adding.notify_one();
        Act::Wait(held.clone())
    });
    let asking = tokio::spawn(ask(&a));
    soon("what is new", adds.notified()).await;
    ask(&b).await.is(200);
    gate.add_permits(1);
    asking.await.unwrap().is(200);
    let thread = b.get("/v1/sessions/s/threads/chat:writer/messages").await.is(200);
    let said = thread.body["messages"].as_array().unwrap().iter();
    let said: Vec<_> = said.map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["How high?", "answer 0", "answer 1"], "{}", thread.raw);
}
