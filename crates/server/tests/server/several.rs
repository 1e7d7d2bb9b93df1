//! Several servers on one store: a run is driven by one of them, and by another where that one is gone.

use std::{sync::Arc, time::Duration};

use callboard_core::time::Timestamp;
use callboard_model::scripted::{Reply, Scripted};
use callboard_store::{Lease, ManualClock, MemoryStore, Store};
use serde_json::{Value, json};

use crate::{
    faulty::{Act, Faulty},
    fixtures::{Server, models, settings},
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
        let mut settings = settings();
        settings.models = models(self.endpoint.base_url());
        settings.runs.node = name.into();
        Server::holding(store, settings, Lease { holder: name.into(), lasts: LASTS }).await
    }

    /// Waits until the model was asked so often.
    async fn asked(&self, count: usize) {
        while self.endpoint.requests().len() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Whether nobody has the lease on the run: who asks for it gets it, and gives it back.
    async fn is_free(&self) -> bool {
        let probe = |lasts| Lease { holder: "probe".into(), lasts };
        let free = !self.store.lease(&probe(LASTS), 1).await.unwrap().is_empty();
        self.store.lease(&probe(Duration::ZERO), 0).await.unwrap();
        free
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
    let (a, b) = (stage.server("a").await, stage.server("b").await);
    begin(&a).await;
    stage.asked(1).await;
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
    let delays = [300, 1500, 0, 0].map(Duration::from_millis);
    let stage = Stage::new(move |request, nth| team(request).after(delays[nth]));
    let faulty = Faulty::new(stage.store.clone());
    let (a, b) = (stage.server_on(faulty.clone(), "a").await, stage.server("b").await);
    begin(&a).await;
    stage.asked(1).await;
    faulty.play(|_| Act::FailBefore);
    stage.clock.advance_seconds(1);
    stage.asked(2).await;
    faulty.mend();
    // It answers again, and what it reads is what the other one wrote.
    while a.get("/v1/sessions/s").await.status != 200 {}
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
    while b.get(&run).await.is(200).body["status"] != "awaiting_user" {}
    stage.clock.advance_seconds(60);
    assert!(!stage.is_free().await, "what waits has no lease");
    b.send("POST", "/v1/sessions/s/forms/Where", json!({"answers": {"port": 8080}})).await.is(200);
    let seen = until_the_end(&a).await;
    assert_eq!(said(&seen, "run.claimed", "node"), ["a", "b"]);
    assert_eq!(said(&seen, "turn.answered", "turn"), [1, 2, 3, 4]);
}
