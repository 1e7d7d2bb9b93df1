use callboard_engine::{
    Session,
    core::{conversation::NewMessage, viewer::Viewer},
};
use proptest::prelude::*;
use tokio::task::JoinSet;

use crate::fixture::{
    add, assert_sound, board, clock, code, id, insist, journal, memory, new, run, session, soon, text, texts, with_id,
};

/// Adds messages and says which ids and entries they have.
async fn added(session: &Session, messages: Vec<NewMessage>) -> Vec<(String, u64)> {
    run(session, add("main", messages))
        .await
        .answer
        .into_iter()
        .map(|message| (message.message_id.to_string(), message.seq.0))
        .collect()
}

#[tokio::test]
async fn the_same_message_is_added_once_on_whatever_board() {
    let store = memory(&clock());
    let here = board(&store).create(new("s")).await.unwrap();
    let there = board(&store).session(&id("s")).await.unwrap();
    let mut tasks = JoinSet::new();
    for n in 0..32 {
        let session = [&here, &there][n % 2].clone();
        tasks.spawn(async move { insist(&session, add("main", vec![with_id("greeting", "hello")])).await.answer });
    }
    let answers = soon("all", tasks.join_all()).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(texts(&store, &id("s")).await, ["hello"]);
}

#[tokio::test]
async fn the_same_id_with_other_words_is_a_conflict() {
    let session = session().await;
    assert_eq!(added(&session, vec![with_id("a", "one")]).await, [("a".to_owned(), 5)]);
    let other = add("main", vec![text("not added"), with_id("a", "two")]);
    assert_eq!(code(session.execute(Viewer::User, other).await), "message_exists");
    let in_another_thread = add("elsewhere", vec![with_id("a", "two")]);
    assert_eq!(code(session.execute(Viewer::User, in_another_thread).await), "ok");
    assert_eq!(assert_sound(&session).await.len(), 6);
}

#[tokio::test]
async fn ids_of_the_derived_form_can_be_given_before_their_entry_comes() {
    let session = session().await;
    // Entry 5 has the id of entry 6, which has to take another one.
    assert_eq!(added(&session, vec![with_id("m6", "a")]).await, [("m6".to_owned(), 5)]);
    assert_eq!(added(&session, vec![text("b")]).await, [("m6-2".to_owned(), 6)]);
    assert_eq!(added(&session, vec![with_id("m6", "a")]).await, [("m6".to_owned(), 5)]);
    assert_eq!(added(&session, vec![with_id("m6-2", "b")]).await, [("m6-2".to_owned(), 6)]);
    assert_eq!(added(&session, vec![text("c")]).await, [("m7".to_owned(), 7)]);
    assert_eq!(added(&session, vec![with_id("m7", "c")]).await, [("m7".to_owned(), 7)]);
    assert_eq!(code(session.execute(Viewer::User, add("main", vec![with_id("m7", "d")])).await), "message_exists");
}

#[tokio::test]
async fn ids_of_the_derived_form_can_be_given_in_the_same_batch() {
    let session = session().await;
    let batch = vec![with_id("m7", "a"), text("b"), text("c"), with_id("m6", "b"), with_id("m8", "d"), text("e")];
    let ids = added(&session, batch.clone()).await;
    let ids: Vec<_> = ids.iter().map(|(id, seq)| (id.as_str(), *seq)).collect();
    assert_eq!(ids, [("m7", 5), ("m6", 6), ("m7-2", 7), ("m6", 6), ("m8", 8), ("m9", 9)]);
}

#[tokio::test]
async fn many_messages_that_are_there_already_are_found_in_one_go() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let batch: Vec<_> = (0..400).map(|n| with_id(&format!("id {n}"), &n.to_string())).collect();
    let first = added(&session, batch.clone()).await;
    let unnamed = added(&session, (0..400).map(|n| text(&n.to_string())).collect()).await;
    // The board that hears of them for the first time has none of them in memory.
    let other = board(&store).session(&id("s")).await.unwrap();
    assert_eq!(soon("given ids", added(&other, batch)).await, first);
    let again = unnamed.iter().enumerate().map(|(n, (id, _))| with_id(id, &n.to_string())).collect();
    assert_eq!(soon("derived ids", added(&other, again)).await, unnamed);
    assert_eq!(journal(&store, &id("s")).await.len(), 804);
}

#[tokio::test(flavor = "multi_thread")]
async fn derived_ids_are_fought_for_without_loss() {
    let store = memory(&clock());
    let here = board(&store).create(new("s")).await.unwrap();
    let there = board(&store).session(&id("s")).await.unwrap();
    let mut tasks = JoinSet::new();
    for n in 0..40 {
        let session = [&here, &there][n % 2].clone();
        let message = if n % 3 == 0 { text(&n.to_string()) } else { with_id(&format!("m{}", n + 5), &n.to_string()) };
        tasks.spawn(async move {
            loop {
                match session.execute(Viewer::User, add("main", vec![message.clone()])).await {
                    Ok(_) => return true,
                    Err(error) if error.code() == "busy" => {}
                    // Somebody's derived id was faster.
                    Err(error) if error.code() == "message_exists" => return false,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    let acknowledged = soon("all", tasks.join_all()).await.into_iter().filter(|it| *it).count();
    assert_eq!(texts(&store, &id("s")).await.len(), acknowledged);
    let mut ids: Vec<_> = all_ids(&here).await;
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "no id is there twice");
}

async fn all_ids(session: &Session) -> Vec<String> {
    let page = session.messages(&Viewer::User, &crate::fixture::thread("main"), Default::default()).await.unwrap();
    page.messages.into_iter().map(|message| message.message_id.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn ids_stay_unique_whatever_is_given(batches in prop::collection::vec(prop::collection::vec(0u64..16, 1..5), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let session = session().await;
            let mut nth = 0;
            for batch in batches {
                let messages = batch.into_iter().map(|id| {
                    nth += 1;
                    // 0 to 4 stand for no id.
                    if id < 5 { text(&nth.to_string()) } else { with_id(&format!("m{id}"), &nth.to_string()) }
                });
                let _ = session.execute(Viewer::User, add("main", messages.collect())).await;
            }
            let mut ids = all_ids(&session).await;
            let count = ids.len();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), count);
            assert_sound(&session).await;
        });
    }
}
