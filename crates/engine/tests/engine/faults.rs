use std::sync::Arc;

use callboard_engine::{
    Board, Filter, Session,
    core::{
        run::{NewRun, RunKind},
        viewer::Viewer,
    },
    store::{Lease, Store},
};
use proptest::prelude::*;
use tokio::sync::Semaphore;

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        add, assert_sound, clock, code, id, memory, new, put, say, settings, soon, text, texts, thread, with_id,
    },
};

struct Stage {
    store: Arc<dyn Store>,
    faulty: Arc<Faulty>,
    board: Board,
    session: Session,
}

async fn stage() -> Stage {
    let clock = clock();
    let store = memory(&clock);
    let faulty = Faulty::new(store.clone());
    let board = Board::new(faulty.clone(), settings(&clock));
    let session = board.create(new("s")).await.unwrap();
    Stage { store, faulty, board, session }
}

impl Stage {
    async fn say(&self, words: &str) -> &'static str {
        code(self.session.say(Viewer::User, &thread("main"), text(words)).await)
    }

    async fn texts(&self) -> Vec<String> {
        texts(&self.store, &id("s")).await
    }
}

#[tokio::test]
async fn i2_an_unsure_append_that_took_place_is_acknowledged() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 1, Act::FailAfter);
    assert_eq!(stage.say("one").await, "ok");
    assert_eq!(stage.say("two").await, "ok");
    assert_eq!(stage.texts().await, ["one", "two"]);
    assert_sound(&stage.session).await;
}

#[tokio::test]
async fn i2_an_unsure_append_that_did_not_take_place_is_made_again() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 1, Act::FailBefore);
    assert_eq!(stage.say("one").await, "ok");
    assert_eq!(stage.say("two").await, "ok");
    assert_eq!(stage.texts().await, ["one", "two"]);
    assert_sound(&stage.session).await;
}

#[tokio::test]
async fn i2_an_unsure_append_that_takes_place_later_is_not_made_twice() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 1, Act::FailLate);
    assert_eq!(stage.say("one").await, "ok");
    stage.faulty.next(Call::Append, 3, Act::FailLate);
    assert_eq!(stage.say("two").await, "ok");
    assert_eq!(stage.texts().await, ["one", "two"]);
    assert_sound(&stage.session).await;
}

#[tokio::test(start_paused = true)]
async fn i2_an_unsure_append_that_takes_place_when_nobody_waits_for_it_any_more_disturbs_nothing() {
    let stage = stage().await;
    let mut tries = 0;
    stage.faulty.play(move |call| match call {
        // The last of the tries takes place right before what is appended next.
        Call::Append => {
            tries += 1;
            if tries == 5 { Act::FailLate } else { Act::FailBefore }
        }
        _ => Act::Pass,
    });
    assert_eq!(stage.say("one").await, "store_unsettled");
    stage.faulty.mend();
    assert_eq!(stage.say("two").await, "ok");
    assert_eq!(stage.texts().await, ["one", "two"]);
    assert_sound(&stage.session).await;
}

#[tokio::test]
async fn i8_nobody_takes_for_its_own_what_somebody_else_did_at_the_same_moment() {
    let stage = stage().await;
    let other = Board::new(stage.store.clone(), settings(&clock())).session(&id("s")).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    stage.faulty.next(Call::Append, 1, Act::WaitAndFail(gate.clone()));
    let session = stage.session.clone();
    let saying = tokio::spawn(async move { code(session.say(Viewer::User, &thread("main"), text("hello")).await) });
    tokio::task::yield_now().await;
    // The same words of the same speaker, on the same head, in the same millisecond.
    assert_eq!(code(other.say(Viewer::User, &thread("main"), text("hello")).await), "ok");
    gate.add_permits(1);
    assert_eq!(soon("the answer", saying).await.unwrap(), "ok");
    assert_eq!(stage.texts().await, ["hello", "hello"]);
    assert_sound(&stage.session).await;
}

#[tokio::test]
async fn i2_where_the_journal_does_not_answer_at_once_it_is_asked_again() {
    let stage = stage().await;
    let mut reads = 0;
    stage.faulty.play(move |call| match call {
        Call::Append => Act::FailAfter,
        Call::Read if reads < 2 => {
            reads += 1;
            Act::FailBefore
        }
        _ => Act::Pass,
    });
    assert_eq!(stage.say("one").await, "ok");
    assert_eq!(stage.texts().await, ["one"]);
}

#[tokio::test(start_paused = true)]
async fn i2_what_cannot_be_settled_is_said_to_be_so_and_the_session_goes_on() {
    for act in [Act::FailAfter, Act::FailBefore] {
        let stage = stage().await;
        let landed = usize::from(matches!(act, Act::FailAfter));
        stage.faulty.play(move |call| match call {
            Call::Append => act.clone(),
            Call::Read => Act::FailBefore,
            _ => Act::Pass,
        });
        assert_eq!(stage.say("one").await, "store_unsettled");
        stage.faulty.mend();
        assert_eq!(stage.texts().await.len(), landed);
        assert_eq!(stage.say("two").await, "ok");
        assert_eq!(assert_sound(&stage.session).await.len(), 4 + landed + 1);
    }
}

#[tokio::test]
async fn i2_a_session_that_was_made_by_an_unsure_append_is_there() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 1, Act::FailAfter);
    assert_eq!(code(stage.board.create(new("t")).await), "ok");
    for (id, act) in [("u", Act::FailBefore), ("v", Act::FailLate)] {
        stage.faulty.next(Call::Append, 1, act);
        assert_eq!(code(stage.board.create(new(id)).await), "ok");
        assert_eq!(code(stage.board.create(new(id)).await), "session_exists");
    }
}

#[tokio::test]
async fn i2_a_full_store_changes_nothing() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 1, Act::Full);
    assert_eq!(stage.say("one").await, "store_full");
    assert_eq!(stage.say("two").await, "ok");
    assert_eq!(stage.texts().await, ["two"]);
    assert_sound(&stage.session).await;
}

#[tokio::test(start_paused = true)]
async fn conflicts_without_end_are_answered_with_busy() {
    let stage = stage().await;
    stage.faulty.next(Call::Append, 15, Act::Conflict);
    assert_eq!(stage.say("one").await, "ok");
    stage.faulty.next(Call::Append, 16, Act::Conflict);
    assert_eq!(stage.say("two").await, "busy");
    assert_eq!(stage.say("three").await, "ok");
    assert_eq!(stage.texts().await, ["one", "three"]);
}

#[tokio::test]
async fn i2_nothing_is_shown_before_it_is_durable() {
    let stage = stage().await;
    let before = stage.session.state().await.unwrap();
    let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    stage.faulty.next(Call::Append, 1, Act::Wait(gate.clone()));
    let session = stage.session.clone();
    let saying = tokio::spawn(async move { say(&session, "hello").await });
    // Others read while it waits, and as often as they like.
    for _ in 0..32 {
        tokio::task::yield_now().await;
        assert_eq!(stage.session.state().await.unwrap(), before);
        let page = stage.session.messages(&Viewer::User, &thread("main"), Default::default()).await.unwrap();
        assert!(page.messages.is_empty());
    }
    tokio::select! {
        biased;
        entry = stream.next() => panic!("{entry:?}"),
        () = tokio::task::yield_now() => {}
    }
    gate.add_permits(1);
    let seq = soon("the append", saying).await.unwrap();
    assert_eq!(soon("the entry", stream.next()).await.unwrap().unwrap().seq, seq);
}

#[tokio::test]
async fn whoever_stops_waiting_takes_nothing_back() {
    let stage = stage().await;
    let gate = Arc::new(Semaphore::new(0));
    stage.faulty.next(Call::Append, 1, Act::Wait(gate.clone()));
    let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    let session = stage.session.clone();
    let saying = tokio::spawn(async move { say(&session, "hello").await });
    for _ in 0..32 {
        tokio::task::yield_now().await;
    }
    saying.abort();
    gate.add_permits(1);
    soon("the entry", stream.next()).await.unwrap().unwrap();
    assert_eq!(stage.texts().await, ["hello"]);
}

#[tokio::test]
async fn a_call_that_nobody_polls_any_more_holds_up_nobody() {
    let stage = stage().await;
    let gate = Arc::new(Semaphore::new(0));
    stage.faulty.next(Call::Append, 1, Act::Wait(gate.clone()));
    let mut held = std::pin::pin!(stage.say("first"));
    tokio::select! {
        biased;
        code = &mut held => panic!("{code}"),
        () = std::future::ready(()) => {}
    }
    gate.add_permits(1);
    assert_eq!(soon("the other", stage.say("second")).await, "ok");
    assert_eq!(stage.texts().await, ["first", "second"]);
    assert_eq!(held.await, "ok");
}

#[tokio::test]
async fn a_stream_gets_what_another_board_wrote_although_reading_it_failed_at_first() {
    let stage = stage().await;
    let other = crate::fixture::board(&stage.store).session(&id("s")).await.unwrap();
    let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    stage.faulty.next(Call::Row, 2, Act::FailBefore);
    let seq = say(&other, "hello").await;
    assert_eq!(soon("the entry", stream.next()).await.unwrap().unwrap().seq, seq);
}

/// The store as it is now, to be restored later.
async fn backup(stage: &Stage) -> Arc<dyn Store> {
    let copy = memory(&clock());
    callboard_engine::copy(&stage.store, &copy, &Default::default()).await.unwrap();
    copy
}

#[tokio::test]
async fn a_store_that_went_back_in_time_is_noticed_and_nothing_is_mixed() {
    for after in [0, 1, 2, 5] {
        let stage = stage().await;
        assert_eq!(stage.say("before").await, "ok");
        let copy = backup(&stage).await;
        assert_eq!((stage.say("lost one").await, stage.say("lost two").await), ("ok", "ok"));
        let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
        stage.faulty.restore(copy.clone());
        // Another node goes on with what was restored, for a while as far as this one knows, or beyond.
        let other = Board::new(copy.clone(), settings(&clock())).session(&id("s")).await.unwrap();
        for n in 0..after {
            other.say(Viewer::User, &thread("main"), text(&format!("after {n}"))).await.unwrap();
        }
        assert_eq!(stage.say("on what is no more").await, "not_found", "the old one has ended");
        assert_eq!(soon("the end of the stream", stream.next()).await.unwrap(), None);
        let again = stage.board.session(&id("s")).await.unwrap();
        again.say(Viewer::User, &thread("main"), text("again")).await.unwrap();
        let after = (0..after).map(|n| format!("after {n}"));
        let wanted: Vec<_> = ["before".to_owned()].into_iter().chain(after).chain(["again".to_owned()]).collect();
        assert_eq!(texts(&copy, &id("s")).await, wanted);
        assert_sound(&again).await;
    }
}

#[tokio::test]
async fn a_run_that_goes_on_is_taken_up_where_its_session_was_copied_to() {
    let stage = stage().await;
    let start = NewRun { kind: RunKind::Team, input: "Begin.".into(), limits: None };
    stage.session.execute(Viewer::User, start).await.unwrap();
    stage.board.create(new("idle")).await.unwrap();
    let copy = backup(&stage).await;
    let lease = Lease { holder: "another".into(), lasts: std::time::Duration::from_secs(7) };
    assert_eq!(copy.lease(&lease, 9).await.unwrap(), [id("s")]);
}

#[tokio::test]
async fn a_node_whose_clock_is_off_writes_nothing_and_says_why() {
    let stage = stage().await;
    let own = clock();
    let node = Board::new(stage.store.clone(), settings(&own));
    let session = node.session(&id("s")).await.unwrap();
    for (off, outcome) in [(59, "ok"), (61, "clock_off"), (-61, "clock_off"), (-59, "ok"), (0, "ok")] {
        own.set(callboard_engine::store::Clock::now(&clock()).plus_seconds(off));
        assert_eq!(code(session.say(Viewer::User, &thread("main"), text("hello")).await), outcome, "{off}");
        assert_eq!(code(session.state().await), "ok", "what is there can be read");
    }
    own.advance_seconds(3600);
    let error = node.create(new("t")).await.err().unwrap().to_string();
    assert!(error.contains("the clock of this node shows 2023-11-14T23:13:20.000Z"), "{error}");
    assert!(error.contains("that of the store 2023-11-14T22:13:20.000Z: set both by NTP"), "{error}");
    assert_eq!(texts(&stage.store, &id("s")).await.len(), 3);
}

#[tokio::test]
async fn i2_a_batch_whose_answer_was_lost_is_there_whole_and_once() {
    for act in [Act::FailBefore, Act::FailAfter] {
        let stage = stage().await;
        stage.faulty.next(Call::Append, 1, act);
        let messages = (0..20).map(|n| with_id(&format!("id{n}"), &format!("message {n}"))).collect();
        assert_eq!(code(stage.session.execute(Viewer::User, add("main", messages)).await), "ok");
        assert_eq!(stage.texts().await, (0..20).map(|n| format!("message {n}")).collect::<Vec<_>>());
        assert_sound(&stage.session).await;
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_and_never_not_found() {
    let stage = stage().await;
    say(&stage.session, "hello").await;
    let fresh = Board::new(stage.faulty.clone(), settings(&clock()));
    stage.faulty.play(|_| Act::FailBefore);
    assert_eq!(code(fresh.session(&id("s")).await), "store_failed");
    assert_eq!(code(fresh.sessions_that(None, 9, |_| true).await), "store_failed");
    assert_eq!(code(fresh.delete(&id("s")).await), "store_failed");
    assert_eq!(code(stage.session.state().await), "store_failed");
    stage.faulty.mend();
    assert_eq!(code(fresh.session(&id("s")).await), "ok");
    assert_eq!(code(stage.session.state().await), "ok");
}

fn act() -> impl Strategy<Value = u8> {
    // Most calls go through.
    prop_oneof![6 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3), 1 => Just(4)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn i12_whatever_fails_a_session_is_what_was_acknowledged(acts in prop::collection::vec(act(), 1..80)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let stage = stage().await;
            let mut script = acts.clone().into_iter();
            stage.faulty.play(move |call| match (script.next().unwrap_or(0), call) {
                (1, _) => Act::FailBefore,
                (2, _) => Act::FailAfter,
                (3, Call::Append) => Act::Conflict,
                (4, Call::Append) => Act::Full,
                _ => Act::Pass,
            });
            let (mut acknowledged, mut unsettled) = (Vec::new(), Vec::new());
            for n in 0..24 {
                let words = n.to_string();
                let message = if n % 4 == 1 { with_id(&format!("id {}", n / 8), &words) } else { text(&words) };
                let is_message = n % 4 != 0;
                let executed = match is_message {
                    true => code(stage.session.execute(Viewer::User, add("main", vec![message])).await),
                    false => code(stage.session.execute(Viewer::User, put(&words, &words)).await),
                };
                match executed {
                    "ok" if is_message => acknowledged.push(words),
                    "store_unsettled" if is_message => unsettled.push(words),
                    "ok" | "store_failed" | "store_full" | "store_unsettled" | "busy" | "message_exists" => {}
                    other => panic!("{other}"),
                }
                let _ = stage.session.messages(&Viewer::User, &thread("main"), Default::default()).await;
                let _ = stage.session.prompt(&Default::default()).await;
            }
            stage.faulty.mend();
            assert_sound(&stage.session).await;
            let mut there = stage.texts().await;
            there.retain(|words| !unsettled.contains(words));
            assert_eq!(there, acknowledged);
            // A board that knows nothing of all this finds the same.
            let fresh = crate::fixture::board(&stage.store).session(&id("s")).await.unwrap();
            assert_eq!(fresh.state().await.unwrap(), stage.session.state().await.unwrap());
        });
    }
}
