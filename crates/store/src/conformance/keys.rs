use std::sync::Arc;

use callboard_core::id::Seq;

use super::{
    Fixture,
    journal_writer::{JournalWriter, claiming, note},
    session,
};
use crate::Error;

pub async fn a_key_is_claimed_once_per_journal(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    journal.write([claiming(&["k"]), note("b")]).await;
    assert_taken(journal.try_write([claiming(&["new", "k"])]).await.unwrap_err(), "k", Seq(2));
    assert_eq!(store.find(&journal.session, "k").await.unwrap(), Some(Seq(2)));
    assert_eq!(store.find(&journal.session, "nobody").await.unwrap(), None);
}

pub async fn a_key_is_claimed_once_per_batch(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    assert_taken(journal.try_write([note("a"), claiming(&["k"]), claiming(&["k"])]).await.unwrap_err(), "k", Seq(2));
    assert_taken(journal.try_write([claiming(&["twice", "twice"])]).await.unwrap_err(), "twice", Seq(1));
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
    journal.write([claiming(&["k"]), claiming(&["twice"])]).await;
}

pub async fn a_refused_batch_claims_nothing(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    journal.write([claiming(&["k"])]).await;
    journal.try_write([claiming(&["free"]), claiming(&["k"])]).await.unwrap_err();
    assert_eq!(store.find(&journal.session, "free").await.unwrap(), None);
    journal.write([claiming(&["free"])]).await;
    assert_eq!(store.find(&journal.session, "free").await.unwrap(), Some(Seq(2)));
}

pub async fn keys_belong_to_their_session(fixture: &impl Fixture) {
    let store = fixture.open().await;
    JournalWriter::new(&store, "one").write([claiming(&["k"])]).await;
    let mut two = JournalWriter::with(&store, "two", "a").await;
    assert_eq!(store.find(&two.session, "k").await.unwrap(), None);
    two.write([claiming(&["k"])]).await;
    assert_eq!(store.find(&two.session, "k").await.unwrap(), Some(Seq(2)));
}

pub async fn keys_that_look_alike_are_different(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let keys = ["k", "K", "k ", "k\0", "k\0a", "", "\0", "e\u{301}", "\u{e9}"];
    journal.write(keys.map(|key| claiming(&[key]))).await;
    for (key, seq) in keys.iter().zip(1..) {
        assert_eq!(store.find(&journal.session, key).await.unwrap(), Some(Seq(seq)), "{key:?}");
    }
}

pub async fn many_keys_are_found_at_once(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let names: Vec<String> = (0..2500).map(|number| format!("key {number}")).collect();
    journal.write(names.iter().map(|name| claiming(&[name]))).await;
    let wanted: Vec<Arc<str>> = names.iter().rev().flat_map(|name| [name.as_str().into(), "nobody".into()]).collect();
    let expected: Vec<_> = (2..2502).rev().flat_map(|seq| [Some(Seq(seq)), None]).collect();
    assert_eq!(store.find_each(&journal.session, &wanted).await.unwrap(), expected);
    assert_eq!(store.find_each(&journal.session, &vec![wanted[0].clone(); 2]).await.unwrap(), [expected[0]; 2]);
    assert_eq!(store.find_each(&journal.session, &[]).await.unwrap(), []);
    assert_eq!(store.find_each(&session("nobody"), &wanted[..2]).await.unwrap(), [None; 2]);
}

fn assert_taken(error: Error, expected: &str, by: Seq) {
    match error {
        Error::KeyTaken { key, seq } => assert_eq!((&*key, seq), (expected, by)),
        other => panic!("expected a taken key, not {other}"),
    }
}
