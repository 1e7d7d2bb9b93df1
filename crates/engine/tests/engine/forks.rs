use std::{io::Cursor, num::NonZeroU64, sync::Arc};

use callboard_engine::{
    Board, MessageQuery, NewBoardSession, Session,
    core::{
        conversation::NewMessage,
        id::Seq,
        session::{Settings as SessionSettings, Ttl},
        viewer::Viewer,
    },
    store::{ManualClock, Store},
};
use tokio::sync::{Notify, Semaphore};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        add, assert_sound, board, clock, code, exported, id, journal, memory, new, put, run, say, session, settings,
        text, texts, thread,
    },
};

#[tokio::test]
async fn a_fork_has_the_same_journal_as_far_as_it_goes_and_goes_its_own_way() {
    let store = memory(&clock());
    let board = board(&store);
    let session = board.create(new("s")).await.unwrap();
    for n in 0..5 {
        say(&session, &n.to_string()).await;
    }
    let whole = board.fork(&session, None, &id("whole"), false).await.unwrap();
    assert_eq!(journal(&store, &id("whole")).await, journal(&store, &id("s")).await);
    let part = board.fork(&session, Some(Seq(6)), &id("part"), false).await.unwrap();
    assert_eq!(journal(&store, &id("part")).await, journal(&store, &id("s")).await[..6]);
    say(&part, "elsewhere").await;
    assert_eq!(texts(&store, &id("part")).await, ["0", "1", "elsewhere"]);
    assert_eq!(texts(&store, &id("s")).await.len(), 5);
    assert_sound(&whole).await;
    assert_sound(&part).await;
}

#[tokio::test]
async fn long_texts_go_with_a_fork() {
    let board = board(&memory(&clock()));
    let session = board.create(new("s")).await.unwrap();
    let long = "long ".repeat(20_000);
    run(&session, put("Brief", &long)).await;
    let looks_like_one = serde_json::json!({"sha256": "0".repeat(64), "size_bytes": 1, "beginning": ""});
    let metadata = looks_like_one.as_object().cloned();
    run(&session, add("main", vec![text(&long), NewMessage { metadata, ..text("short") }])).await;
    let fork = board.fork(&session, None, &board.new_id(), false).await.unwrap();
    board.delete(&id("s")).await.unwrap();
    let page = fork.messages(&Viewer::User, &thread("main"), MessageQuery::default()).await.unwrap();
    assert_eq!(page.messages[0].content, long);
    let state = fork.state().await.unwrap();
    let set = &state.sets.iter().next().unwrap().set;
    assert_eq!(*fork.text(&set.content).await.unwrap(), *long);
}

#[tokio::test]
async fn a_fork_under_an_id_in_use_or_at_an_entry_that_is_not_there_is_refused() {
    let board = board(&memory(&clock()));
    let session = board.create(new("s")).await.unwrap();
    board.create(new("t")).await.unwrap();
    assert_eq!(code(board.fork(&session, None, &id("t"), false).await), "session_exists");
    assert_eq!(code(board.fork(&session, None, &id("s"), false).await), "session_exists");
    for seq in [0, 5] {
        assert_eq!(code(board.fork(&session, Some(Seq(seq)), &id("u"), false).await), "not_found");
    }
    assert_eq!(code(board.session(&id("u")).await), "not_found");
}

#[tokio::test]
async fn a_fork_that_fails_leaves_nothing_behind() {
    let clock = clock();
    let faulty = Faulty::new(memory(&clock));
    let (board, session) = long(&(faulty.clone() as _), &clock).await;
    let mut appends = 0;
    faulty.play(move |call| {
        appends += usize::from(call == Call::Append);
        if call == Call::Append && appends == 2 { Act::Full } else { Act::Pass }
    });
    assert_eq!(code(board.fork(&session, None, &id("t"), false).await), "store_full");
    assert_eq!(code(board.session(&id("t")).await), "not_found");
    // Nor where its second half cannot be read.
    let mut appended = false;
    faulty.play(move |call| {
        appended |= call == Call::Append;
        if call == Call::Read && appended { Act::FailBefore } else { Act::Pass }
    });
    assert_eq!(code(board.fork(&session, None, &id("t"), false).await), "store_failed");
    faulty.mend();
    assert_eq!(code(board.session(&id("t")).await), "not_found");
    faulty.next(Call::Append, 1, Act::FailAfter);
    assert_eq!(code(board.fork(&session, None, &id("t"), false).await), "ok");
    assert_eq!(board.session(&id("t")).await.unwrap().state().await.unwrap().head, session.state().await.unwrap().head);
}

/// A board, and a session that is copied in several appends.
async fn long(store: &Arc<dyn Store>, clock: &ManualClock) -> (Board, Session) {
    let board = Board::new(store.clone(), settings(clock));
    let session = board.create(new("s")).await.unwrap();
    run(&session, add("main", (0..9000).map(|n| text(&n.to_string())).collect())).await;
    (board, session)
}

/// Begins to make something on a store that stands still at the second append.
async fn break_off<T>(store: &Arc<dyn Store>, clock: &ManualClock, make: impl AsyncFnOnce(Board) -> T) {
    let faulty = Faulty::new(store.clone());
    let (reached, never) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (told, mut appends) = (reached.clone(), 0);
    faulty.play(move |call| {
        appends += usize::from(call == Call::Append);
        if appends < 2 {
            return Act::Pass;
        }
        told.notify_one();
        Act::Wait(never.clone())
    });
    tokio::select! {
        _ = make(Board::new(faulty, settings(clock))) => panic!("it did not stand still"),
        () = reached.notified() => {}
    }
}

#[tokio::test]
async fn a_fork_that_breaks_off_is_gone_soon_or_finished_when_it_is_begun_again() {
    let clock = clock();
    let store = memory(&clock);
    let (board, session) = long(&store, &clock).await;
    let head = session.state().await.unwrap().head.seq;
    for again in [true, false] {
        break_off(&store, &clock, async |board| {
            let session = board.session(&id("s")).await.unwrap();
            board.fork(&session, None, &id("t"), false).await
        })
        .await;
        let there = store.row(&id("t")).await.unwrap().unwrap();
        assert!(Seq::ZERO < there.head.seq && there.head.seq < head);
        assert_eq!(code(board.fork(&session, None, &id("t"), false).await), "session_exists");
        if again {
            say(&session, "later").await;
            let fork = board.fork(&session, Some(head), &id("t"), true).await.unwrap();
            assert_eq!(journal(&store, &id("t")).await, journal(&store, &id("s")).await[..head.0 as usize]);
            let expires = async |name| store.row(&id(name)).await.unwrap().unwrap().expires_at;
            assert_eq!(expires("t").await, expires("s").await);
            say(&fork, "elsewhere").await;
            // Now it is whole, and goes its own way.
            let fork = board.fork(&session, Some(head), &id("t"), true).await.unwrap();
            assert_eq!(assert_sound(&fork).await.len() as u64, head.0 + 1);
            board.delete(&id("t")).await.unwrap();
        } else {
            clock.advance_seconds(61);
            assert_eq!(store.row(&id("t")).await.unwrap(), None);
            board.fork(&session, Some(head), &id("t"), true).await.unwrap();
            assert_eq!(journal(&store, &id("t")).await, journal(&store, &id("s")).await[..head.0 as usize]);
        }
    }
}

#[tokio::test]
async fn an_import_that_breaks_off_is_finished_when_it_is_begun_again() {
    let clock = clock();
    let from = memory(&clock);
    let (_, session) = long(&from, &clock).await;
    let lines = exported(&session).await;
    let store = memory(&clock);
    let file = || Cursor::new(lines.clone());
    break_off(&store, &clock, async |board| board.import(file(), None, false).await).await;
    let board = Board::new(store.clone(), settings(&clock));
    assert_eq!(code(board.import(file(), None, false).await), "session_exists");
    assert!(journal(&store, &id("s")).await.len() < 9000);
    let there = board.import(file(), None, true).await.unwrap();
    assert_eq!(journal(&store, &id("s")).await, journal(&from, &id("s")).await);
    say(&there, "elsewhere").await;
    let there = board.import(file(), None, true).await.unwrap();
    assert_eq!(assert_sound(&there).await.len(), journal(&from, &id("s")).await.len() + 1);
}

#[tokio::test]
async fn what_is_begun_again_leaves_the_session_of_somebody_else_alone() {
    let clock = clock();
    let store = memory(&clock);
    let (board, session) = long(&store, &clock).await;
    let head = session.state().await.unwrap().head.seq;
    board.fork(&session, Some(Seq(9)), &id("shorter"), false).await.unwrap();
    board.create(new("other")).await.unwrap();
    let brief = NewBoardSession {
        settings: Some(SessionSettings {
            ttl_seconds: Ttl::Seconds(NonZeroU64::new(60).unwrap()),
            ..Default::default()
        }),
        ..new("brief")
    };
    board.create(brief).await.unwrap();
    for name in ["shorter", "other", "brief"] {
        let before = journal(&store, &id(name)).await;
        assert_eq!(code(board.fork(&session, Some(head), &id(name), true).await), "session_exists", "{name}");
        assert_eq!(journal(&store, &id(name)).await, before, "{name}");
    }
}

#[tokio::test]
async fn a_fork_of_a_fork_is_no_different() {
    let first = session().await;
    let board = board(&memory(&clock()));
    let session = board.create(new("s")).await.unwrap();
    let one = board.fork(&session, None, &board.new_id(), false).await.unwrap();
    let two = board.fork(&one, Some(Seq(2)), &board.new_id(), false).await.unwrap();
    assert_eq!(two.state().await.unwrap().head.seq, Seq(2));
    drop(first);
}
