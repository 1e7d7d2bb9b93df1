use insta::assert_snapshot;
use serde_json::json;

use super::NewCollection;
use crate::{
    conversation::{AddMessages, NewMessage, Role},
    document::{PutDocument, RemoveDocument},
    rights::Grant,
    session::{SessionKind, SessionPatch, Ttl},
    testing::Board,
};

fn handbook() -> Board {
    let mut board = Board::empty();
    board.user(NewCollection { name: "handbook".parse().unwrap(), salt: 7 }).unwrap();
    board
}

fn put(name: &str, visible_to: &str) -> PutDocument {
    let visible_to = serde_json::from_value(json!(visible_to)).unwrap();
    PutDocument { name: name.parse().unwrap(), text: "words".into(), visible_to: Some(visible_to), media_type: None }
}

#[test]
fn a_collection_is_a_journal_that_never_expires_and_has_documents_for_agents_of_any_team() {
    let mut board = handbook();
    let session = &board.state.session;
    assert_eq!((session.kind, session.settings.ttl_seconds), (SessionKind::Collection, Ttl::Never));
    assert_eq!(session.id.as_ref().and_then(|id| id.as_collection()), "handbook".parse().ok());
    board.user(put("a", "whoever")).unwrap();
    board.user(put("b", "all")).unwrap();
    board.user(RemoveDocument("b".parse().unwrap())).unwrap();
    board.erase(board.entries[1].header.seq).unwrap();
    let held = board.state.documents.get(&"a".parse().unwrap()).unwrap();
    assert!(held.sight.audience.contains(&"whoever".parse().unwrap()));
}

#[test]
fn nothing_else_is_done_in_a_collection() {
    let mut board = handbook();
    let messages = vec![NewMessage::text(Role::User, "hello")];
    let refused = board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap_err();
    assert_snapshot!(refused, @"user may not do this in a collection: a collection takes documents alone");
    let expires = SessionPatch { ttl_seconds: serde_json::from_value(json!(60)).ok(), ..SessionPatch::default() };
    assert_eq!(board.user(expires).unwrap_err().code(), "forbidden");
    let again = board.user(NewCollection { name: "handbook".parse().unwrap(), salt: 8 });
    assert_eq!(again.unwrap_err().code(), "session_exists");
}

#[test]
fn the_user_names_the_collections_of_a_session() {
    let mut board = Board::team("lead writer");
    let patch = |names: &[&str]| SessionPatch {
        collections: Some(names.iter().map(|name| name.parse().unwrap()).collect()),
        ..SessionPatch::default()
    };
    assert_snapshot!(board.by("lead", patch(&["handbook"])).unwrap_err(), @"lead may not name collections: ask the user");
    assert_snapshot!(board.user(patch(&["a", "b", "a"])).unwrap_err(), @"/collections/2: a is named twice: name it once");
    board.user(patch(&["handbook", "b"])).unwrap();
    board.by("lead", SessionPatch { grant: Some(vec![Grant::Documents]), ..SessionPatch::default() }).unwrap();
    let names: Vec<_> = board.state.session.settings.collections.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, ["handbook", "b"]);
}
