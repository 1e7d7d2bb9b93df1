use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use callboard_engine::{
    Board, Filter, NewBoardSession, Random,
    core::{id::Seq, viewer::Viewer},
};

use crate::fixture::{
    Seeded, assert_sound, board, clock, code, id, journal, memory, new, say, seen, session, settings, soon, texts,
};

#[tokio::test]
async fn a_new_session_can_be_used_and_found() {
    let store = memory(&clock());
    let board = board(&store);
    let session = board.create(new("s")).await.unwrap();
    say(&session, "hello").await;
    assert_eq!(board.session(&id("s")).await.unwrap().state().await.unwrap().head.seq, Seq(5));
    assert_eq!(texts(&store, &id("s")).await, ["hello"]);
    assert_sound(&session).await;
}

#[tokio::test]
async fn an_id_in_use_is_a_conflict_and_the_session_stays_as_it_is() {
    let store = memory(&clock());
    let [here, there] = [board(&store), board(&store)];
    let session = here.create(new("s")).await.unwrap();
    say(&session, "hello").await;
    assert_eq!(code(here.create(new("s")).await), "session_exists");
    assert_eq!(code(there.create(new("s")).await), "session_exists");
    assert_eq!(texts(&store, &id("s")).await, ["hello"]);
}

#[tokio::test]
async fn a_session_that_is_not_there_is_not_found() {
    let board = board(&memory(&clock()));
    assert_eq!(code(board.session(&id("nobody")).await), "not_found");
    assert_eq!(code(board.delete(&id("nobody")).await), "not_found");
}

/// Gives each number twice: ids that are made from it clash.
#[derive(Debug)]
struct Twice(AtomicU64);

impl Random for Twice {
    fn next(&self) -> u64 {
        // Three numbers go into each try: the id, the salt and the nonce.
        let nth = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) / 6;
        Seeded(AtomicU64::new(nth)).next()
    }
}

#[tokio::test]
async fn an_id_that_is_made_up_and_taken_is_made_up_anew() {
    let clock = clock();
    let random = Arc::new(Twice(AtomicU64::new(0)));
    let board = Board::new(memory(&clock), callboard_engine::Settings { random, ..settings(&clock) });
    let unnamed = || NewBoardSession { id: None, ..new("s") };
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(board.create(unnamed()).await.unwrap().id().to_string());
    }
    assert!(ids.iter().all(|id| id.starts_with("20231114-221320-") && id.len() == 20), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn one_of_many_makes_a_session() {
    let store = memory(&clock());
    let boards = [board(&store), board(&store)];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..32 {
        let board = boards[n % 2].clone();
        tasks.spawn(async move { code(board.create(new("s")).await) });
    }
    let codes = soon("all who create", tasks.join_all()).await;
    assert_eq!(codes.iter().filter(|code| **code == "ok").count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| ["ok", "session_exists"].contains(code)), "{codes:?}");
}

#[tokio::test]
async fn a_session_that_is_deleted_while_it_is_open_is_gone_for_all() {
    let store = memory(&clock());
    let [here, there] = [board(&store), board(&store)];
    let mine = here.create(new("s")).await.unwrap();
    let yours = there.session(&id("s")).await.unwrap();
    there.delete(&id("s")).await.unwrap();
    for session in [&mine, &yours] {
        assert_eq!(code(session.state().await), "not_found");
        assert_eq!(code(session.execute(Viewer::User, crate::fixture::put("a", "b")).await), "not_found");
        assert_eq!(code(session.info().await), "not_found");
    }
    assert_eq!(code(here.session(&id("s")).await), "not_found");
    assert!(journal(&store, &id("s")).await.is_empty());
}

#[tokio::test]
async fn an_old_handle_never_mixes_a_session_with_the_one_that_took_its_name() {
    let store = memory(&clock());
    let [here, there] = [board(&store), board(&store)];
    for (before, after) in [(1, 8), (8, 1), (4, 4)] {
        let old = here.create(new("s")).await.unwrap();
        for n in 0..before {
            say(&old, &format!("old {n}")).await;
        }
        let mut stream = old.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
        // The other board does it, so that this one has to find out for itself.
        there.delete(&id("s")).await.unwrap();
        let fresh = there.create(new("s")).await.unwrap();
        for n in 0..after {
            say(&fresh, &format!("new {n}")).await;
        }
        assert_eq!(soon("the end of the stream", stream.next()).await.unwrap(), None);
        assert_eq!(
            code(old.messages(&Viewer::User, &crate::fixture::thread("main"), Default::default()).await),
            "not_found"
        );
        assert_eq!(code(old.execute(Viewer::User, crate::fixture::put("a", "b")).await), "not_found");
        let found = here.session(&id("s")).await.unwrap();
        assert_eq!(assert_sound(&found).await, journal(&store, &id("s")).await);
        assert_eq!(texts(&store, &id("s")).await.len(), after);
        here.delete(&id("s")).await.unwrap();
    }
}

#[tokio::test]
async fn a_read_in_the_middle_of_which_a_session_is_replaced_gives_nothing_of_the_new_one() {
    let clock = clock();
    let inner = memory(&clock);
    let faulty = crate::faulty::Faulty::new(inner.clone());
    let [here, there] = [Board::new(faulty.clone(), settings(&clock)), board(&inner)];
    for what in ["messages", "journal", "why", "prompt", "state_at"] {
        let old = here.create(new("s")).await.unwrap();
        say(&old, "old").await;
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let waiting = gate.clone();
        faulty.play(move |call| match call {
            crate::faulty::Call::Read => crate::faulty::Act::Wait(waiting.clone()),
            _ => crate::faulty::Act::Pass,
        });
        let reading = tokio::spawn(async move {
            let (user, main) = (Viewer::User, crate::fixture::thread("main"));
            match what {
                "messages" => code(old.messages(&user, &main, Default::default()).await),
                "journal" => code(seen(&old, &user, Seq::ZERO, 99, &[]).await),
                "why" => code(old.why(&user, "o").await),
                "prompt" => code(old.prompt(&Default::default()).await),
                _ => code(old.state_at(Seq(3)).await),
            }
        });
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
        there.delete(&id("s")).await.unwrap();
        say(&there.create(new("s")).await.unwrap(), "new").await;
        gate.add_permits(1000);
        assert_eq!(soon("the answer", reading).await.unwrap(), "not_found", "{what}");
        faulty.mend();
        there.delete(&id("s")).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_made_again_under_a_name_that_the_board_still_holds_is_the_new_one() {
    let store = memory(&clock());
    let [here, there] = [board(&store), board(&store)];
    let old = here.create(new("s")).await.unwrap();
    say(&old, "old").await;
    there.delete(&id("s")).await.unwrap();
    let fresh = here.create(new("s")).await.unwrap();
    say(&fresh, "new").await;
    assert_eq!(texts(&store, &id("s")).await, ["new"]);
    assert_eq!(code(old.state().await), "not_found");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_leaves_memory_and_is_loaded_again() {
    let store = memory(&clock());
    let board = board(&store);
    let session = board.create(new("s")).await.unwrap();
    say(&session, "hello").await;
    let before = session.state().await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(Arc::ptr_eq(&before, &session.state().await.unwrap()), "whoever holds it keeps it in memory");
    drop(session);
    tokio::time::sleep(Duration::from_secs(600)).await;
    let again = board.session(&id("s")).await.unwrap().state().await.unwrap();
    assert_eq!(again, before);
    assert!(!Arc::ptr_eq(&again, &before));
}

#[tokio::test]
async fn all_sessions_are_listed_page_by_page() {
    let board = board(&memory(&clock()));
    for name in ["c", "a", "b"] {
        board.create(new(name)).await.unwrap();
    }
    let first = board.sessions_that(None, 2, |_| true).await.unwrap();
    let rest = board.sessions_that(Some(&first[1].id), 2, |_| true).await.unwrap();
    let names: Vec<_> = first.iter().chain(&rest).map(|info| info.id.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!((first[0].head, first[0].agents.len()), (Seq(4), 3));
}

#[tokio::test]
async fn the_clones_of_a_session_are_the_same() {
    let one = session().await;
    let other = one.clone();
    say(&one, "hello").await;
    assert_eq!(one.state().await.unwrap(), other.state().await.unwrap());
}
