//! A driver that ends at any moment, and another one that goes on.

use std::{
    collections::HashSet,
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use callboard_engine::{
    Session,
    core::{
        entry::{Entry, Hash},
        id::RunId,
        run::Status,
    },
    store::Store,
};
use callboard_model::scripted::Reply;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

use crate::{
    faulty::{Act, Faulty},
    fixture::{Models, before, board, journal, memory, of_type, session, session_on, soon, start, texts, whole_run},
};

/// The prompts of the turns that these entries are of.
fn prompts(entries: &[Entry], kind: &str) -> HashSet<String> {
    let turns: HashSet<_> = of_type(entries, kind).iter().map(|turn| turn["turn"].as_u64()).collect();
    let requested =
        of_type(entries, "turn.requested").into_iter().filter(|turn| turns.contains(&turn["turn"].as_u64()));
    requested.map(|turn| turn["prompt"]["sha256"].as_str().unwrap().to_owned()).collect()
}

fn hash(request: &Value) -> String {
    Hash::of(&serde_json::to_vec(&request["messages"]).unwrap()).to_string()
}

/// Goes on with a run that was cut off, as a program that has just started does, and checks that nothing was done twice.
async fn go_on(store: &Arc<dyn Store>, models: &Models, run: &RunId) {
    let (asked, cut_off) = (models.endpoint.requests().len(), journal(store).await);
    let session = board(store).session(&"s".parse().unwrap()).await.unwrap();
    assert_eq!(models.drive(&session, run).await.unwrap(), Status::Completed);
    assert_done_once(store, &session).await;
    let entries = journal(store).await;
    assert_eq!(entries[..cut_off.len()], cut_off, "what was there stays");
    let answered = prompts(&cut_off, "turn.answered");
    let recorded = prompts(&entries, "turn.requested");
    let requests = models.endpoint.requests();
    for (nth, request) in requests.iter().enumerate() {
        assert!(recorded.contains(&hash(request)), "what was asked is what was noted");
        assert!(nth < asked || !answered.contains(&hash(request)), "what was answered is not asked again");
    }
    assert!(requests.len() <= 5, "at most one turn is asked twice");
}

/// The run is there whole, and each step of it once.
async fn assert_done_once(store: &Arc<dyn Store>, session: &Session) {
    let entries = journal(store).await;
    for kind in ["turn.requested", "turn.answered"] {
        let turns: Vec<_> = of_type(&entries, kind).iter().map(|turn| turn["turn"].as_u64().unwrap()).collect();
        assert_eq!(turns, [1, 2, 3, 4], "{kind}");
    }
    assert_eq!(texts(session, "main").await, ["Write a haiku on tides.", "Here it is."]);
    assert_eq!(texts(session, "agent:writer").await, ["Write it.", "Waters come and go"]);
    assert_eq!(of_type(&entries, "context_set.updated").len(), 1);
    assert_eq!(of_type(&entries, "message.checked").len(), 1);
}

/// Drives a run over a store whose call number `nth` never answers, before or after it is carried out, and goes on
/// without that program. Says whether there was such a call.
async fn cut_off_at_store_call(nth: usize, after: bool) -> bool {
    let store = memory();
    let run = start(&session_on(&store).await).await;
    let faulty = Faulty::new(store.clone());
    let session = board(&(faulty.clone() as _)).session(&"s".parse().unwrap()).await.unwrap();
    let (reached, never) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (told, mut count) = (reached.clone(), 0);
    faulty.play(move |_| {
        count += 1;
        if count <= nth {
            return Act::Pass;
        }
        told.notify_one();
        // From there on the whole program stands still.
        if after && count == nth + 1 { Act::WaitAfter(never.clone()) } else { Act::Wait(never.clone()) }
    });
    let models = Models::new(|request, _| whole_run(request));
    let was_cut_off = tokio::select! {
        status = models.drive(&session, &run) => {
            assert_eq!(status.unwrap(), Status::Completed);
            false
        }
        () = reached.notified() => {
            // What is carried out before the answer fails to come is carried out now.
            tokio::task::yield_now().await;
            true
        }
    };
    drop(session);
    go_on(&store, &models, &run).await;
    was_cut_off
}

#[tokio::test]
async fn a_run_that_is_cut_off_at_any_call_of_the_store_goes_on_where_it_was() {
    let mut nth = 0;
    // A run's future is large in a debug build: it stands on the heap.
    let cut_off = async |nth, lost| soon("a run", Box::pin(cut_off_at_store_call(nth, lost))).await;
    while Box::pin(cut_off(nth, false)).await | Box::pin(cut_off(nth, true)).await {
        nth += 1;
    }
    assert!(nth > 20, "{nth}");
}

#[tokio::test]
async fn a_run_that_is_cut_off_at_any_call_of_the_model_goes_on_where_it_was() {
    for cut_off in 0..4 {
        let store = memory();
        let session = session_on(&store).await;
        let run = start(&session).await;
        let (models, reached) = Models::cut_off_at(cut_off, whole_run, || Reply::stall("Wat"));
        before(&reached, models.drive(&session, &run)).await;
        drop(session);
        go_on(&store, &models, &run).await;
        assert_eq!(models.endpoint.requests().len(), 5);
    }
}

#[tokio::test]
async fn a_turn_that_was_begun_is_asked_with_the_prompt_that_was_noted_whatever_was_said_since() {
    let session = session().await;
    let run = start(&session).await;
    let (models, reached) = Models::cut_off_at(0, whole_run, Reply::silence);
    before(&reached, models.drive(&session, &run)).await;
    let main = callboard_engine::core::id::ThreadId::main();
    let hurry = callboard_engine::core::conversation::NewMessage::text(
        callboard_engine::core::conversation::Role::User,
        "Hurry up!",
    );
    session.say(callboard_engine::core::entry::Actor::User, &main, hurry).await.unwrap();
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    assert_eq!(requests[0]["messages"], requests[1]["messages"]);
    assert!(requests[4]["messages"].to_string().contains("Hurry up!"));
}

/// What a future comes to, unless it is dropped after it was polled so often.
async fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let (mut future, mut left) = (pin!(future), polls);
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[tokio::test]
async fn a_driver_that_is_dropped_at_any_moment_is_followed_by_another_on_the_same_board() {
    let most = AtomicUsize::new(0);
    for polls in 0.. {
        let store = memory();
        let session = session_on(&store).await;
        let run = start(&session).await;
        let models = Models::new(|request, _| whole_run(request));
        let driver = models.driver(&session, "first");
        if soon("a run", dropped_after(polls, driver.drive(&run))).await.is_some() {
            most.store(polls, Ordering::SeqCst);
            break;
        }
        // What the first one had asked the session for is still done, in order, before what the second asks for.
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
        assert_done_once(&store, &session).await;
        assert!(models.endpoint.requests().len() <= 5);
    }
    assert!(most.load(Ordering::SeqCst) > 20);
}
