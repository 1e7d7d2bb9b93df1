use std::sync::Arc;

use callboard_engine::{Board, Error, Filter, core::viewer::Viewer};
use tokio::sync::Semaphore;

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{clock, code, id, memory, new, put, settings, soon, texts},
};

#[tokio::test]
async fn what_was_asked_before_a_board_closes_is_answered() {
    let clock = clock();
    let inner = memory(&clock);
    let store = Faulty::new(inner.clone());
    let board = Board::new(store.clone(), settings(&clock));
    let session = board.create(new("s")).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    store.next(Call::Append, 1, Act::Wait(gate.clone()));
    let saying: Vec<_> = (0..8)
        .map(|n| {
            let session = session.clone();
            tokio::spawn(async move {
                session.say(Viewer::User, &crate::fixture::thread("main"), crate::fixture::text(&n.to_string())).await
            })
        })
        .collect();
    while session.listen(&Viewer::User).await.is_err() {}
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
    let closing = tokio::spawn({
        let board = board.clone();
        async move { board.close().await }
    });
    gate.add_permits(1);
    soon("the board to close", closing).await.unwrap();
    let mut said = 0;
    for answer in saying {
        said += usize::from(soon("an answer", answer).await.unwrap().is_ok());
    }
    assert_eq!(said, 8);
    assert_eq!(texts(&inner, &id("s")).await.len(), said);
}

#[tokio::test]
async fn a_closed_board_says_so_everywhere() {
    let clock = clock();
    let store = memory(&clock);
    let board = Board::new(store.clone(), settings(&clock));
    let session = board.create(new("s")).await.unwrap();
    let mut stream = session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    board.close().await;
    assert!(matches!(soon("the end of the stream", stream.next()).await, Err(Error::Closed)));
    assert_eq!(code(session.state().await), "closed");
    assert_eq!(code(session.execute(Viewer::User, put("a", "b")).await), "closed");
    assert_eq!(code(board.session(&id("s")).await), "closed");
    board.close().await;
    // Another board on the store goes on.
    assert_eq!(code(crate::fixture::board(&store).session(&id("s")).await), "ok");
}

#[tokio::test]
async fn a_board_goes_on_as_long_as_somebody_has_a_session_or_a_stream_of_it() {
    let store = memory(&clock());
    let session = crate::fixture::board(&store).create(new("s")).await.unwrap();
    crate::fixture::say(&session, "hello").await;
    let mut stream = session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    drop(session);
    let other = crate::fixture::board(&store).session(&id("s")).await.unwrap();
    let seq = crate::fixture::say(&other, "from elsewhere").await;
    assert_eq!(soon("the entry", stream.next()).await.unwrap().unwrap().seq, seq);
}
