use std::sync::Arc;

use callboard_engine::{
    Board, Settings,
    core::{entry::Head, id::Seq},
    store::Store,
};

use crate::fixture::{add, assert_sound, board, clock, id, journal, memory, new, put, run, say, settings, text};

/// A board that writes a snapshot every eight entries.
fn eager(store: &Arc<dyn Store>) -> Board {
    Board::new(store.clone(), Settings { snapshot_every: 8, ..settings(&clock()) })
}

async fn newest(store: &Arc<dyn Store>) -> Option<Head> {
    store.snapshot(&id("s"), Seq(u64::MAX)).await.unwrap().map(|(head, _)| head)
}

/// A store with a session of 24 entries and a snapshot.
async fn stored() -> Arc<dyn Store> {
    let store = memory(&clock());
    let board = eager(&store);
    let session = board.create(new("s")).await.unwrap();
    for n in 0..20 {
        say(&session, &n.to_string()).await;
    }
    // Closing waits for the one that is being written.
    board.close().await;
    store
}

#[tokio::test]
async fn a_snapshot_is_written_now_and_then_and_used() {
    let store = stored().await;
    let head = newest(&store).await.unwrap();
    assert!(head.seq >= Seq(8));
    // What a marked snapshot says is found in the state: it was not folded from the start.
    let (_, bytes) = store.snapshot(&id("s"), head.seq).await.unwrap().unwrap();
    let marked = String::from_utf8(bytes.to_vec()).unwrap().replacen("\"title\":\"writer\"", "", 0);
    let mut state: serde_json::Value = serde_json::from_str(&marked).unwrap();
    state["state"]["session"]["settings"]["title"] = "from the snapshot".into();
    store.put_snapshot(&id("s"), head, state.to_string().into_bytes().into()).await.unwrap();
    let loaded = board(&store).session(&id("s")).await.unwrap().state().await.unwrap();
    assert_eq!(loaded.session.settings.title.as_deref(), Some("from the snapshot"));
    assert_eq!(loaded.head.seq, Seq(24));
}

#[tokio::test]
async fn i1_with_and_without_a_snapshot_the_state_is_the_same() {
    let store = stored().await;
    assert_sound(&board(&store).session(&id("s")).await.unwrap()).await;
    let session = board(&store).session(&id("s")).await.unwrap();
    for seq in 1..=24 {
        let folded = callboard_engine::core::state::State::fold(&assert_sound(&session).await[..seq]).unwrap();
        assert_eq!(*session.state_at(Seq(seq as u64)).await.unwrap(), folded);
    }
}

#[tokio::test]
async fn i1_a_state_of_an_earlier_entry_is_the_same_whatever_was_looked_at_before() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    for batch in 0..5 {
        let texts = (0..1000).map(|n| text(&format!("{batch} {n}"))).collect();
        run(&session, add("main", texts)).await;
        run(&session, put("Brief", &format!("after {batch}"))).await;
    }
    let folded = async |seq| board(&store).session(&id("s")).await.unwrap().state_at(Seq(seq)).await.unwrap();
    let places = [4900, 4901, 3000, 1, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 5000];
    for seq in places {
        assert_eq!(session.state_at(Seq(seq)).await.unwrap(), folded(seq).await, "{seq}");
    }
    // What an older entry says was changed, so its states are others.
    let set =
        journal(&store, &id("s")).await.into_iter().find(|entry| &*entry.header.kind == "context_set.updated").unwrap();
    let erasure = session.erasure(set.header.seq, "a mistake").await.unwrap();
    run(&session, erasure).await;
    for seq in places {
        assert_eq!(session.state_at(Seq(seq)).await.unwrap(), folded(seq).await, "{seq}");
    }
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_is_left_aside() {
    let store = stored().await;
    let head = newest(&store).await.unwrap();
    for bytes in ["", "{}", "null", "{\"version\":2,\"state\":{}}", "\u{0}"] {
        store.put_snapshot(&id("s"), head, bytes.as_bytes().into()).await.unwrap();
        assert_sound(&board(&store).session(&id("s")).await.unwrap()).await;
    }
}

#[tokio::test]
async fn a_snapshot_of_another_journal_is_left_aside() {
    let store = stored().await;
    let head = newest(&store).await.unwrap();
    let other = memory(&clock());
    let session = board(&other).create(new("s")).await.unwrap();
    for n in 0..30 {
        run(&session, put("other", &n.to_string())).await;
    }
    let state = session.state_at(head.seq).await.unwrap();
    let bytes = serde_json::json!({"version": 1, "state": &*state}).to_string();
    store.put_snapshot(&id("s"), head, bytes.into_bytes().into()).await.unwrap();
    assert_sound(&board(&store).session(&id("s")).await.unwrap()).await;
}

#[tokio::test]
async fn a_session_that_was_loaded_from_a_snapshot_writes_the_next_one_in_time() {
    let store = stored().await;
    let before = newest(&store).await.unwrap();
    let board = eager(&store);
    let session = board.session(&id("s")).await.unwrap();
    let missing = 8 - (24 - before.seq.0).min(7);
    for n in 0..missing {
        assert_eq!(newest(&store).await, Some(before), "after {n}");
        say(&session, "more").await;
    }
    board.close().await;
    assert_eq!(newest(&store).await.unwrap().seq.0, 24 + missing);
}
