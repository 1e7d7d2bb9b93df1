use callboard_engine::{
    MessageQuery,
    core::{conversation::NewMessage, id::Seq, viewer::Viewer},
};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        add, assert_sound, board, clock, code, id, journal, memory, new, put, run, say, session, settings, text, texts,
        thread,
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
    let whole = board.fork(&session, None, Some(id("whole"))).await.unwrap();
    assert_eq!(journal(&store, &id("whole")).await, journal(&store, &id("s")).await);
    let part = board.fork(&session, Some(Seq(6)), Some(id("part"))).await.unwrap();
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
    let fork = board.fork(&session, None, None).await.unwrap();
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
    assert_eq!(code(board.fork(&session, None, Some(id("t"))).await), "session_exists");
    assert_eq!(code(board.fork(&session, None, Some(id("s"))).await), "session_exists");
    for seq in [0, 5] {
        assert_eq!(code(board.fork(&session, Some(Seq(seq)), Some(id("u"))).await), "not_found");
    }
    assert_eq!(code(board.session(&id("u")).await), "not_found");
}

#[tokio::test]
async fn a_fork_that_fails_leaves_nothing_behind() {
    let clock = clock();
    let faulty = Faulty::new(memory(&clock));
    let board = callboard_engine::Board::new(faulty.clone(), settings(&clock));
    let session = board.create(new("s")).await.unwrap();
    // More than is copied at once.
    run(&session, add("main", (0..9000).map(|n| text(&n.to_string())).collect())).await;
    let mut appends = 0;
    faulty.play(move |call| {
        appends += usize::from(call == Call::Append);
        if call == Call::Append && appends == 2 { Act::Full } else { Act::Pass }
    });
    assert_eq!(code(board.fork(&session, None, Some(id("t"))).await), "store_full");
    assert_eq!(code(board.session(&id("t")).await), "not_found");
    faulty.next(Call::Append, 1, Act::FailAfter);
    assert_eq!(code(board.fork(&session, None, Some(id("t"))).await), "ok");
    assert_eq!(board.session(&id("t")).await.unwrap().state().await.unwrap().head, session.state().await.unwrap().head);
}

#[tokio::test]
async fn a_fork_of_a_fork_is_no_different() {
    let first = session().await;
    let board = board(&memory(&clock()));
    let session = board.create(new("s")).await.unwrap();
    let one = board.fork(&session, None, None).await.unwrap();
    let two = board.fork(&one, Some(Seq(2)), None).await.unwrap();
    assert_eq!(two.state().await.unwrap().head.seq, Seq(2));
    drop(first);
}
