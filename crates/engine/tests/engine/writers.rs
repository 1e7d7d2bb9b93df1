use std::{collections::BTreeMap, sync::Arc};

use callboard_engine::{
    Board, Error, Session,
    core::{command::Command, context_set::DeleteSet, id::Seq, viewer::Viewer},
    store::Store,
};
use proptest::prelude::*;
use tokio::task::JoinSet;

use crate::fixture::{
    File, add, assert_sound, board, clock, code, id, insist, journal, memory, new, put, run, say, session, settings,
    soon, text, texts, with_id,
};

/// How many tasks write at once, and how often each.
const WRITERS: usize = 24;
const EACH: usize = 8;

/// Lets many tasks write through these sessions, which are one, and holds the journal against what was acknowledged.
async fn all_write(sessions: &[Session]) {
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let session = sessions[writer % sessions.len()].clone();
        tasks.spawn(async move {
            let mut acknowledged = Vec::new();
            for n in 0..EACH {
                let words = format!("{writer}/{n}");
                let receipt = insist(&session, add("main", vec![text(&words)])).await;
                acknowledged.push((receipt.answer[0].seq, words));
            }
            acknowledged
        });
    }
    let acknowledged: BTreeMap<Seq, String> =
        soon("all writers", tasks.join_all()).await.into_iter().flatten().collect();
    assert_eq!(acknowledged.len(), WRITERS * EACH, "each has an entry of its own");
    for session in sessions {
        let entries = assert_sound(session).await;
        assert_eq!(entries.len(), 4 + WRITERS * EACH);
        for entry in &entries[4..] {
            let words = &acknowledged[&entry.header.seq];
            assert!(entry.data.contains(&format!("{words:?}")), "{} {words}", entry.data);
        }
    }
}

async fn two(stores: [Arc<dyn Store>; 2]) -> [Session; 2] {
    let [here, there] = stores.map(|store| board(&store));
    [here.create(new("s")).await.unwrap(), there.session(&id("s")).await.unwrap()]
}

#[tokio::test(flavor = "multi_thread")]
async fn i8_concurrent_writers_never_lose_an_update_on_one_board() {
    all_write(&[session().await]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i8_concurrent_writers_never_lose_an_update_on_two_boards() {
    let store = memory(&clock());
    all_write(&two([store.clone(), store]).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i8_concurrent_writers_never_lose_an_update_on_two_handles_of_a_file() {
    let (file, clock) = (File::new(), clock());
    all_write(&two([file.open(&clock), file.open(&clock)]).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_with_the_same_head_exactly_one_gets_through() {
    let store = memory(&clock());
    let sessions = two([store.clone(), store.clone()]).await;
    let head = sessions[0].state().await.unwrap().head.seq;
    let mut tasks = JoinSet::new();
    for n in 0..32 {
        let session = sessions[n % 2].clone();
        tasks.spawn(async move {
            code(session.execute_at(Viewer::User, Some(head), add("main", vec![text(&n.to_string())])).await)
        });
    }
    let mut codes = soon("all", tasks.join_all()).await;
    codes.sort_unstable();
    assert_eq!((codes[0], codes[1], codes[31]), ("ok", "stale", "stale"));
    assert_eq!(texts(&store, &id("s")).await.len(), 1);
}

/// Asks for a change in a task, and says how it was answered.
fn ask(session: &Session, command: impl Command) -> tokio::task::JoinHandle<&'static str> {
    let session = session.clone();
    tokio::spawn(async move { code(session.execute(Viewer::User, command).await) })
}

#[tokio::test]
async fn whoever_is_refused_stops_nobody_in_the_same_batch() {
    let clock = clock();
    let faulty = crate::faulty::Faulty::new(memory(&clock));
    let session = Board::new(faulty.clone(), settings(&clock)).create(new("s")).await.unwrap();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    faulty.next(crate::faulty::Call::Append, 1, crate::faulty::Act::Wait(gate.clone()));
    let first = ask(&session, put("first", "1"));
    tokio::task::yield_now().await;
    let others = [
        ask(&session, add("main", vec![with_id("a", "one")])),
        ask(&session, add("main", vec![with_id("a", "another")])),
        ask(&session, add("main", vec![with_id("a", "one")])),
        ask(&session, DeleteSet("nothing".parse().unwrap())),
        ask(&session, put("last", "2")),
    ];
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    assert_eq!(soon("the first", first).await.unwrap(), "ok");
    let mut codes = Vec::new();
    for other in others {
        codes.push(soon("an answer", other).await.unwrap());
    }
    assert_eq!(codes, ["ok", "message_exists", "ok", "not_found", "ok"]);
    assert_eq!(assert_sound(&session).await.len(), 4 + 3);
}

#[tokio::test]
async fn a_write_is_read_at_once_by_whoever_wrote_it() {
    let store = memory(&clock());
    let [here, there] = two([store.clone(), store]).await;
    for n in 0..32 {
        let (one, other) = if n % 2 == 0 { (&here, &there) } else { (&there, &here) };
        let seq = say(one, "hello").await;
        assert_eq!(one.state().await.unwrap().head.seq, seq);
        assert_eq!(other.state().await.unwrap().head.seq, seq, "a read after a write elsewhere is not stale");
    }
}

#[tokio::test]
async fn whoever_is_refused_was_held_against_what_others_wrote_last() {
    let store = memory(&clock());
    let [here, there] = two([store.clone(), store]).await;
    let delete = |name: &str| DeleteSet(name.parse().unwrap());
    for n in 0..8 {
        let head = run(&here, put("Brief", &n.to_string())).await.head;
        // The other board has not looked since.
        let nothing_new = there.execute_at(Viewer::User, Some(head), put("Brief", &n.to_string())).await.unwrap();
        assert_eq!(nothing_new.head, head);
        run(&here, put("Second", "2")).await;
        assert_eq!(code(there.execute(Viewer::User, delete("Second")).await), "ok");
        assert_eq!(code(here.execute(Viewer::User, delete("Second")).await), "not_found");
    }
}

/// What one of several writers does next.
#[derive(Clone, Debug)]
enum Step {
    Say,
    Put(u8),
    /// Puts a set where the head is still the one that this writer saw last.
    PutIfUnchanged(u8),
    Look,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let what = prop_oneof![
        3 => Just(Step::Say),
        2 => (0..3u8).prop_map(Step::Put),
        2 => (0..3u8).prop_map(Step::PutIfUnchanged),
        1 => Just(Step::Look),
    ];
    (0..4usize, what)
}

/// Carries out the steps, those of each writer in their order and the others meanwhile, and counts what was
/// acknowledged.
async fn interleave(sessions: [Session; 2], steps: Vec<(usize, Step)>) -> usize {
    let mut tasks = JoinSet::new();
    for writer in 0..4 {
        let session = sessions[writer % 2].clone();
        let steps: Vec<_> = steps.iter().filter(|(who, _)| *who == writer).map(|(_, step)| step.clone()).collect();
        tasks.spawn(async move {
            let (mut seen, mut acknowledged) = (Seq::ZERO, 0);
            for (n, step) in steps.into_iter().enumerate() {
                let content = format!("{writer}/{n}");
                match step {
                    Step::Say => seen = insist(&session, add("main", vec![text(&content)])).await.head,
                    Step::Put(set) => seen = insist(&session, put(&format!("set {set}"), &content)).await.head,
                    Step::PutIfUnchanged(set) => {
                        let put = put(&format!("set {set}"), &content);
                        match session.execute_at(Viewer::User, Some(seen), put).await {
                            Ok(receipt) => {
                                assert_eq!(receipt.head, seen.next());
                                seen = receipt.head;
                            }
                            Err(Error::Stale { expected, head }) => {
                                assert!(head > expected);
                                continue;
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    Step::Look => {
                        seen = session.state().await.unwrap().head.seq;
                        continue;
                    }
                }
                acknowledged += 1;
            }
            acknowledged
        });
    }
    soon("all writers", tasks.join_all()).await.into_iter().sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn i8_whatever_the_order_what_was_acknowledged_is_there_once(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let store = memory(&clock());
            let sessions = two([store.clone(), store.clone()]).await;
            let acknowledged = interleave(sessions.clone(), steps).await;
            let entries = journal(&store, &id("s")).await;
            assert_eq!(entries.len(), 4 + acknowledged);
            for session in &sessions {
                assert_eq!(assert_sound(session).await, entries);
            }
        });
    }
}
