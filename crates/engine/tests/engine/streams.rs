use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callboard_engine::{
    Board, Error, Filter, Session,
    core::{
        context_set::PutSet,
        conversation::{AddMessages, NewMessage, PutThread, Role},
        entry::{Actor, Entry},
        id::Seq,
        run::view::Delta,
        view::{Projected, View},
        viewer::Viewer,
    },
};
use proptest::prelude::*;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        File, add, agent, assert_sound, board, clock, code, id, insist, memory, moment, new, only, patch, put, put_for,
        run, say, seen, session, settings, soon, text, thread,
    },
};

/// What a viewer gets of a journal that it reads at once, as it is now.
async fn all(session: &Session, viewer: &Viewer, after: Seq) -> Vec<Projected> {
    seen(session, viewer, after, usize::MAX, &[]).await.unwrap().0
}

async fn kinds(session: &Session, viewer: Viewer, filter: Filter, count: usize) -> Vec<String> {
    let mut stream = session.subscribe(viewer, Some(Seq::ZERO), filter).await.unwrap();
    let mut kinds = Vec::new();
    for _ in 0..count {
        kinds.push(soon("an entry", stream.next()).await.unwrap().unwrap().kind.to_string());
    }
    kinds
}

/// Follows a session through the user's eyes from `after`, over one board or the other, and reconnects now and then,
/// until it has seen `last`.
async fn follow(sessions: [Session; 2], after: Seq, reconnect_every: usize, last: Seq) -> Vec<Seq> {
    let (mut seen, mut cursor, mut nth) = (Vec::new(), after, 0);
    loop {
        let session = &sessions[nth % 2];
        nth += 1;
        let mut stream = match session.subscribe(Viewer::User, Some(cursor), Filter::default()).await {
            Ok(stream) => stream,
            Err(error) => panic!("{error}"),
        };
        for _ in 0..reconnect_every {
            if cursor >= last {
                return seen;
            }
            let entry = soon("an entry", stream.next()).await.unwrap().unwrap();
            seen.push(entry.seq);
            cursor = stream.cursor();
            assert_eq!(cursor, entry.seq);
            if seen.len() % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Lets many write through both sessions while others follow, from anywhere.
async fn write_and_follow(sessions: [Session; 2], writes: usize, followers: Vec<(u64, usize)>) {
    let before = sessions[0].state().await.unwrap().head.seq;
    let last = Seq(before.0 + writes as u64);
    let mut following = JoinSet::new();
    for (after, reconnect_every) in followers {
        let (sessions, after) = (sessions.clone(), Seq(after.min(before.0)));
        following.spawn(async move {
            let seen = follow(sessions, after, reconnect_every, last).await;
            assert_eq!(seen, (after.0 + 1..=last.0).map(Seq).collect::<Vec<_>>());
        });
    }
    let mut writing = JoinSet::new();
    for n in 0..writes {
        let session = sessions[n % 2].clone();
        writing.spawn(async move { insist(&session, add("main", vec![text(&n.to_string())])).await });
    }
    soon("the writers", writing.join_all()).await;
    soon("the followers", following.join_all()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i7_a_subscriber_gets_every_later_entry_it_may_see_once_in_order() {
    let store = memory(&clock());
    let here = board(&store).create(new("s")).await.unwrap();
    let there = board(&store).session(&id("s")).await.unwrap();
    let followers = (0..12).map(|n| (n, 1 + n as usize * 5)).collect();
    write_and_follow([here, there], 200, followers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i7_a_subscriber_gets_every_later_entry_it_may_see_once_in_order_across_handles_of_a_file() {
    let (file, clock) = (File::new(), clock());
    let here = board(&file.open(&clock)).create(new("s")).await.unwrap();
    let there = board(&file.open(&clock)).session(&id("s")).await.unwrap();
    write_and_follow([here, there], 60, vec![(0, 1000), (2, 9), (4, 3)]).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn i7_from_wherever_and_however_often_one_reconnects(
        before in 0usize..40, writes in 1usize..40, followers in prop::collection::vec((0u64..44, 1usize..9), 1..5),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let store = memory(&clock());
            let here = board(&store).create(new("s")).await.unwrap();
            for n in 0..before {
                say(&here, &n.to_string()).await;
            }
            let there = board(&store).session(&id("s")).await.unwrap();
            write_and_follow([here, there], writes, followers).await;
        });
    }
}

#[tokio::test]
async fn a_subscriber_that_never_reads_harms_nobody_and_misses_nothing() {
    let session = session().await;
    let mut slow = session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    for n in 0..3000 {
        say(&session, &n.to_string()).await;
    }
    for seq in 5..3005 {
        assert_eq!(soon("an entry", slow.next()).await.unwrap().unwrap().seq, Seq(seq));
    }
}

#[tokio::test]
async fn dropping_the_wait_for_the_next_entry_loses_nothing() {
    let session = session().await;
    let mut stream = session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    let mut seen = Vec::new();
    for n in 0..200 {
        if n % 2 == 0 {
            say(&session, &n.to_string()).await;
        }
        tokio::select! {
            biased;
            () = futures_ready(n % 3) => {}
            entry = stream.next() => seen.push(entry.unwrap().unwrap().seq),
        }
    }
    while seen.len() < 100 {
        seen.push(soon("an entry", stream.next()).await.unwrap().unwrap().seq);
    }
    assert_eq!(seen, (5..105).map(Seq).collect::<Vec<_>>());
}

/// Is ready after so many turns of the runtime.
async fn futures_ready(turns: usize) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn after_the_head_there_is_nothing_to_read_on_from() {
    let session = session().await;
    assert_eq!(code(session.subscribe(Viewer::User, Some(Seq(4)), Filter::default()).await), "ok");
    let beyond = session.subscribe(Viewer::User, Some(Seq(5)), Filter::default()).await;
    assert!(matches!(&beyond, Err(Error::Refused(_))));
    assert!(beyond.err().unwrap().to_string().starts_with("/after: there is no entry 5 yet: the head is 4"));
    assert_eq!(code(session.subscribe(agent("nobody"), None, Filter::default()).await), "not_found");
}

#[tokio::test]
async fn filters_let_through_what_they_name() {
    let session = session().await;
    run(&session, put("Brief", "one")).await;
    run(&session, add("main", vec![text("one"), NewMessage::text(Role::System, "two")])).await;
    run(&session, add("aside", vec![NewMessage::text(Role::System, "three")])).await;
    run(&session, put("Brief", "two")).await;
    let types = Filter { types: vec!["context_set.updated".into()], ..Filter::default() };
    assert_eq!(kinds(&session, Viewer::User, types, 2).await, ["context_set.updated"; 2]);
    let get = async |filter: Filter, count: usize| {
        let mut stream = session.subscribe(agent("writer"), Some(Seq::ZERO), filter).await.unwrap();
        let mut seqs = Vec::new();
        for _ in 0..count {
            seqs.push(soon("an entry", stream.next()).await.unwrap().unwrap().seq.0);
        }
        seqs
    };
    assert_eq!(get(Filter { subject: Some("thread:main".into()), ..Filter::default() }, 2).await, [6, 7]);
    assert_eq!(get(Filter { roles: vec![Role::System], ..Filter::default() }, 2).await, [7, 8]);
    let both = Filter { roles: vec![Role::System], subject: Some("thread:main".into()), ..Filter::default() };
    assert_eq!(get(both, 1).await, [7]);
}

#[tokio::test]
async fn whoever_gains_sight_gets_the_whole_thing_and_whoever_loses_it_a_deletion() {
    let session = session().await;
    let mut stream = session.subscribe(agent("writer"), None, Filter::default()).await.unwrap();
    let next = async |stream: &mut callboard_engine::Subscription| {
        let entry = soon("an entry", stream.next()).await.unwrap().unwrap();
        (entry.seq.0, entry.kind.to_string(), entry.data.to_string())
    };
    run(&session, put_for("Brief", "not yet", &["editor"])).await;
    run(&session, put_for("Brief", "for you now", &["editor", "writer"])).await;
    let (seq, kind, data) = next(&mut stream).await;
    assert_eq!((seq, kind.as_str()), (6, "context_set.updated"));
    assert!(data.contains("for you now"));
    run(&session, put_for("Brief", "no more", &["editor"])).await;
    let (seq, kind, data) = next(&mut stream).await;
    assert_eq!((seq, kind.as_str(), data.as_str()), (7, "context_set.deleted", r#"{"name":"Brief"}"#));
    run(&session, put_for("Brief", "still hidden", &["editor"])).await;
    run(&session, PutThread::seen_by(thread("aside"), only(&["editor"]))).await;
    run(&session, PutThread::seen_by(thread("aside"), only(&["editor", "writer"]))).await;
    assert_eq!(next(&mut stream).await.1, "thread.updated");
    run(&session, PutThread::seen_by(thread("aside"), only(&["editor"]))).await;
    let (seq, kind, _) = next(&mut stream).await;
    assert_eq!((seq, kind.as_str()), (11, "thread.deleted"));
}

#[tokio::test]
async fn to_a_filter_too_what_is_hidden_looks_deleted() {
    let session = session().await;
    run(&session, put("Brief", "seen")).await;
    run(&session, put_for("Brief", "hidden", &["editor"])).await;
    let only = |kind: &str| Filter { types: vec![kind.into()], ..Filter::default() };
    assert_eq!(kinds(&session, agent("writer"), only("context_set.deleted"), 1).await, ["context_set.deleted"]);
    let updated = seen(&session, &agent("writer"), Seq::ZERO, 9, &["context_set.updated".into()]).await.unwrap().0;
    assert!(updated.is_empty(), "{updated:?}");
    let deleted = seen(&session, &agent("writer"), Seq::ZERO, 9, &["context_set.deleted".into()]).await.unwrap().0;
    assert_eq!(deleted.len(), 1);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_streams_on_all_boards() {
    let store = memory(&clock());
    let [here, there] = [board(&store), board(&store)];
    let mine = here.create(new("s")).await.unwrap();
    let yours = there.session(&id("s")).await.unwrap();
    let mut streams = Vec::new();
    for session in [&mine, &yours] {
        streams.push(session.subscribe(Viewer::User, None, Filter::default()).await.unwrap());
    }
    say(&mine, "last words").await;
    for stream in &mut streams {
        assert!(soon("an entry", stream.next()).await.unwrap().is_some());
    }
    here.delete(&id("s")).await.unwrap();
    for stream in &mut streams {
        assert_eq!(soon("the end", stream.next()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_agent_that_leaves_the_team_gets_nothing_more() {
    let session = session().await;
    let mut stream = session.subscribe(agent("writer"), None, Filter::default()).await.unwrap();
    let team = serde_json::json!({"agents": [{"name": "lead", "role": "manager"}]});
    run(&session, patch(team)).await;
    say(&session, "among ourselves").await;
    assert_eq!(code(soon("the refusal", stream.next()).await), "not_found");
}

#[tokio::test]
async fn what_is_not_kept_is_heard_by_those_in_charge() {
    use callboard_engine::Ephemeral;
    let session = session().await;
    let mut heard = session.listen(&agent("lead")).await.unwrap();
    let delta = |agent: &str, text: &str| {
        let (run, agent, text) = ("r1".parse().unwrap(), agent.parse().unwrap(), text.into());
        Ephemeral::Delta(Delta { run, turn: 1, agent, text })
    };
    let whisper = delta("editor", "Psst");
    let delta = delta("writer", "Hm");
    session.tell(delta.clone());
    assert_eq!(soon("the delta", heard.next()).await.unwrap(), delta);
    assert_eq!(code(session.listen(&agent("writer")).await), "not_found");
    run(&session, PutThread::seen_by(thread("agent:editor"), only(&["editor"]))).await;
    session.tell(whisper);
    session.tell(delta.clone());
    assert_eq!(soon("the delta", heard.next()).await.unwrap(), delta, "a thread is hidden from the manager");
}

/// A change of who sees what, or of what is seen.
#[derive(Clone, Debug)]
enum Change {
    Put(PutSet),
    PutThread(PutThread),
    Add(AddMessages),
}

impl Change {
    async fn make(self, session: &Session) {
        let made = match self {
            Self::Put(put) => session.execute(Actor::User, put).await.map(drop),
            Self::PutThread(put) => session.execute(Actor::User, put).await.map(drop),
            Self::Add(add) => session.execute(Actor::User, add).await.map(drop),
        };
        made.unwrap();
    }
}

fn change() -> impl Strategy<Value = Change> {
    let who = prop::sample::subsequence(vec!["lead", "writer", "editor"], 0..=3);
    prop_oneof![
        (0..2u8, who.clone()).prop_map(|(set, who)| Change::Put(put_for(&format!("set {set}"), "content", &who))),
        (0..2u8, who)
            .prop_map(|(name, who)| PutThread::seen_by(thread(&format!("thread {name}")), only(&who)))
            .prop_map(Change::PutThread),
        (0..2u8).prop_map(|name| Change::Add(add(&format!("thread {name}"), vec![text("words")]))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// Who reads each entry as it comes gets what the state at that entry lets it see.
    #[test]
    fn i7_i3_a_stream_that_keeps_up_is_the_journal_through_the_viewers_eyes(
        changes in prop::collection::vec(change(), 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let session = session().await;
            let viewer = agent("writer");
            let mut stream = session.subscribe(viewer.clone(), None, Filter::default()).await.unwrap();
            for change in changes {
                let before = session.state().await.unwrap().head.seq;
                change.make(&session).await;
                let state = session.state().await.unwrap();
                let view = View::new(&state, &viewer, callboard_engine::sizes()).unwrap();
                for seq in before.0 + 1..=state.head.seq.0 {
                    let entry: Entry = session.entry(Seq(seq)).await.unwrap().unwrap();
                    if let Some(expected) = view.project(&entry).unwrap() {
                        assert_eq!(soon("an entry", stream.next()).await.unwrap(), Some(expected));
                    }
                }
            }
            // Who comes later sees what is still to be seen, which is no more than that.
            let late: Vec<_> = all(&session, &viewer, Seq::ZERO).await;
            let mut reader = session.subscribe(viewer, Some(Seq::ZERO), Filter::default()).await.unwrap();
            for expected in late {
                assert_eq!(soon("an entry", reader.next()).await.unwrap(), Some(expected));
            }
            assert_sound(&session).await;
        });
    }
}

#[tokio::test]
async fn many_streams_follow_one_session() {
    let session = session().await;
    let mut tasks = JoinSet::new();
    let ready = Arc::new(tokio::sync::Barrier::new(101));
    for _ in 0..100 {
        let (session, ready) = (session.clone(), ready.clone());
        tasks.spawn(async move {
            let mut stream = session.subscribe(agent("writer"), None, Filter::default()).await.unwrap();
            ready.wait().await;
            soon("the entry", stream.next()).await.unwrap().unwrap().seq
        });
    }
    ready.wait().await;
    let seq = say(&session, "hello").await;
    assert!(soon("all", tasks.join_all()).await.into_iter().all(|seen| seen == seq));
}

#[tokio::test(start_paused = true)]
async fn what_is_appended_here_is_not_read_again_for_those_who_listen() {
    let faulty = Faulty::new(memory(&clock()));
    let session = Board::new(faulty.clone(), settings(&clock())).create(new("s")).await.unwrap();
    let mut stream = session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    // The time is paused, so all that goes on by itself is over then: the board has heard that the session was made.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (gate, rows) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let (let_on, looked) = (gate.clone(), rows.clone());
    faulty.play(move |call| match call {
        Call::Append => Act::WaitAfter(gate.clone()),
        Call::Row => {
            looked.fetch_add(1, Ordering::SeqCst);
            Act::Pass
        }
        _ => Act::Pass,
    });
    let saying = tokio::spawn({
        let session = session.clone();
        async move { say(&session, "hello").await }
    });
    // The store tells of the append before it answers.
    while rows.load(Ordering::SeqCst) == 0 {
        moment().await;
    }
    let_on.add_permits(1);
    let seq = saying.await.unwrap();
    assert_eq!(soon("an entry", stream.next()).await.unwrap().map(|entry| entry.seq), Some(seq));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(rows.load(Ordering::SeqCst), 1);
}
