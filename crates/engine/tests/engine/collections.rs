//! Collections: journals of their own, which are no sessions.

use std::sync::Arc;

use callboard_engine::{
    Board, NewBoardSession, Progress, Session, Settings,
    core::{document::PutDocument, id::DocumentName, session::Ttl, viewer::Viewer},
    store::Store,
};

use crate::fixture::{
    File, agent, assert_sound, board, clock, code, handbook, id, insist, memory, new, patch, run, settings,
};

fn put(name: &str, text: &str) -> PutDocument {
    PutDocument { name: name.parse().unwrap(), text: text.into(), visible_to: None, media_type: None }
}

async fn names(board: &Board) -> Vec<String> {
    board.collections(None, 99).await.unwrap().into_iter().map(|info| info.name.to_string()).collect()
}

async fn text(collection: &Session, name: &str) -> Arc<str> {
    let name: DocumentName = name.parse().unwrap();
    collection.document(&Viewer::User, &name).await.unwrap().1.unwrap()
}

#[tokio::test]
async fn a_collection_is_made_once_listed_apart_and_never_expires() {
    let (clock, file) = (clock(), File::new());
    for store in [memory(&clock), file.open(&clock)] {
        let board = Board::new(store.clone(), Settings { ttl: Ttl::DAY, ..settings(&clock) });
        for name in ["z", "handbook", "a"] {
            board.put_collection(&name.parse().unwrap()).await.unwrap();
        }
        // Ids around those of collections.
        for id in ["collection", "collection:a:b", "collections"] {
            board.create(new(id)).await.unwrap();
        }
        run(&board.collection(&handbook()).await.unwrap(), put("a", "words")).await;
        board.put_collection(&handbook()).await.unwrap();
        assert_eq!(names(&board).await, ["a", "handbook", "z"]);
        let [one] = &board.collections(Some(&"a".parse().unwrap()), 1).await.unwrap()[..] else { panic!("one") };
        assert_eq!((one.name.as_str(), one.documents, one.size_bytes), ("handbook", 1, 5));
        let listed = board.sessions_that(None, 9, |_| true).await.unwrap();
        let listed: Vec<_> = listed.iter().map(|info| info.id.as_str()).collect();
        assert_eq!(listed, ["collection", "collection:a:b", "collections"]);
        assert_eq!(board.recent_sessions(None, 9, |_| true).await.unwrap().len(), 3);
        let of = handbook().journal();
        assert_eq!(code(board.session(&of).await), "not_found");
        assert_eq!(code(board.info(&of).await), "not_found");
        assert_eq!(code(board.delete(&of).await), "not_found");
        assert!(board.known_session(&of).is_none());
        assert_eq!(code(board.create(NewBoardSession { id: Some(of.clone()), ..new("x") }).await), "invalid");
        assert_eq!(store.row(&of).await.unwrap().unwrap().expires_at, None);
        clock.advance_seconds(365 * 24 * 60 * 60);
        assert_eq!(board.sweep().await.unwrap().len(), 3);
        assert_eq!(names(&board).await, ["a", "handbook", "z"]);
        board.delete_collection(&handbook()).await.unwrap();
        assert_eq!(code(board.delete_collection(&handbook()).await), "not_found");
        assert_eq!(code(board.collection(&handbook()).await), "not_found");
        board.close().await;
    }
}

#[tokio::test]
async fn i8_several_servers_make_and_fill_the_same_collection_and_lose_nothing() {
    let store: Arc<dyn Store> = memory(&clock());
    let boards: Vec<_> = (0..4).map(|_| board(&store)).collect();
    let write = async |at: usize, board: &Board| {
        let collection = board.put_collection(&handbook()).await.unwrap();
        for n in 0..10 {
            insist(&collection, put(&format!("{at}/{n}"), "words")).await;
        }
    };
    futures::future::join_all(boards.iter().enumerate().map(|(at, board)| write(at, board))).await;
    for board in &boards {
        let collection = board.collection(&handbook()).await.unwrap();
        assert_eq!(collection.state().await.unwrap().documents.count(), 40);
        assert_sound(&collection).await;
    }
}

#[tokio::test]
async fn a_copied_store_has_its_collections_as_such() {
    let (clock, file) = (clock(), File::new());
    let (from, to) = (memory(&clock), file.open(&clock));
    let there = Board::new(from.clone(), settings(&clock));
    let long = "words ".repeat(20_000);
    let collection = there.put_collection(&handbook()).await.unwrap();
    run(&collection, put("long", &long)).await;
    there.create(new("s")).await.unwrap();
    for _ in 0..2 {
        let copied = callboard_engine::copy(&from, &to, &Progress::default()).await.unwrap();
        assert!(copied.faults.is_empty(), "{:?}", copied.faults);
        run(&collection, put("more", "words")).await;
    }
    let here = Board::new(to.clone(), settings(&clock));
    assert_eq!((names(&here).await.len(), here.sessions_that(None, 9, |_| true).await.unwrap().len()), (1, 1));
    let copy = here.collection(&handbook()).await.unwrap();
    assert_eq!(*text(&copy, "long").await, *long);
    run(&copy, put("new", "words")).await;
    let found = callboard_engine::check(&to, &Progress::default()).await.unwrap();
    assert_eq!((found.sessions, found.faults.len()), (2, 0));
    assert_eq!(names(&here).await.len(), 1, "it is no session after an append");
    assert_eq!(here.sessions_that(None, 9, |_| true).await.unwrap().len(), 1);
}

#[tokio::test]
async fn two_sessions_share_a_collection_and_each_agent_sees_its_own() {
    let board = board(&memory(&clock()));
    let collection = board.put_collection(&handbook()).await.unwrap();
    let visible_to = Some(serde_json::from_str(r#"["writer"]"#).unwrap());
    run(&collection, PutDocument { visible_to, ..put("for-writers", "secret words") }).await;
    run(&collection, put("for-all", "open words")).await;
    for of in ["s", "t"] {
        let session = board.create(new(of)).await.unwrap();
        let read = async |viewer: &str, name: &str| {
            let read = session.collection_document(&agent(viewer), &handbook(), &name.parse().unwrap()).await;
            read.map_or_else(|error| error.to_string(), |(_, text)| text.to_string())
        };
        assert_eq!(read("writer", "for-all").await, "there is no collection \"handbook\"");
        run(&session, patch(serde_json::json!({"collections": ["handbook", "gone"]}))).await;
        assert_eq!(read("writer", "for-writers").await, "secret words");
        assert_eq!(read("editor", "for-writers").await, "there is no document \"for-writers\"");
        assert_eq!(read("editor", "for-all").await, "open words");
        assert_eq!(read("ghost", "for-all").await, "there is no agent \"ghost\"");
        let named = session.collections().await.unwrap();
        assert_eq!(named.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["handbook"]);
        let seen = session.collection_documents(&agent("lead"), &handbook()).await.unwrap();
        assert_eq!(seen.iter().map(|held| held.name.as_str()).collect::<Vec<_>>(), ["for-all"]);
        assert!(session.collection_documents(&Viewer::User, &"gone".parse().unwrap()).await.unwrap().is_empty());
        let fork = board.fork(&session, None, &id(&format!("{of}-fork")), false).await.unwrap();
        assert_eq!(fork.collections().await.unwrap().len(), 1);
    }
}
