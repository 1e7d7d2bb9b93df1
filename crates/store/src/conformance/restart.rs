use std::sync::Arc;

use callboard_core::{entry::Hash, id::Seq};

use super::{
    Fixture,
    journal_writer::{JournalWriter, claiming, note},
    seconds, session, soon,
};
use crate::{Append, Clock as _, JournalKind, Rewrite};

pub async fn everything_is_there_after_a_restart(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    journal.expires_at = Some(seconds(4_000_000_000));
    let hash = Hash::of(b"large");
    let mut batch = journal.batch([note("a"), claiming(&["k"])]);
    batch.values.push((hash, "large".into()));
    let entries = journal.append(batch).await.unwrap();
    store.put_snapshot(&journal.session, journal.head, Arc::from(*b"state")).await.unwrap();
    let (row, listed) = (store.row(&journal.session).await.unwrap(), store.sessions(None, 9).await.unwrap());
    let head = journal.head;
    drop((store, journal));

    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    assert_eq!(journal.read().await, entries);
    assert_eq!(store.row(&journal.session).await.unwrap(), row);
    assert_eq!(store.sessions(None, 9).await.unwrap(), listed);
    assert_eq!(store.find(&journal.session, "k").await.unwrap(), Some(Seq(2)));
    assert_eq!(store.value(&journal.session, hash).await.unwrap().as_deref(), Some("large"));
    assert_eq!(store.snapshot(&journal.session, Seq(9)).await.unwrap(), Some((head, Arc::from(*b"state"))));
    journal.head = head;
    journal.write([note("goes on")]).await;
}

pub async fn what_was_deleted_stays_deleted(fixture: &impl Fixture) {
    let store = fixture.open().await;
    JournalWriter::with(&store, "s", "a b c").await;
    store.delete(&session("s")).await.unwrap();
    drop(store);

    let store = fixture.open().await;
    assert_eq!(store.sessions(None, 9).await.unwrap(), []);
    assert_eq!(JournalWriter::with(&store, "s", "new").await.texts().await, ["new"]);
}

pub async fn what_waits_when_the_last_handle_is_dropped_is_written(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..100 {
        let mut journal = JournalWriter::new(&store, &format!("s{n}"));
        tasks.spawn(async move { journal.try_write([note("a")]).await.map(drop) });
    }
    drop(store);
    soon("all answers", tasks.join_all()).await.into_iter().for_each(|answer| answer.unwrap());

    let store = fixture.open().await;
    assert_eq!(store.sessions(None, 1000).await.unwrap().len(), 100);
}

pub async fn what_was_rewritten_stays_rewritten(fixture: &impl Fixture) {
    let mut journal = JournalWriter::with(&fixture.open().await, "s", "a b").await;
    let rewrites = vec![Rewrite { seq: Seq(1), data: "new".into() }];
    journal.append(Append { rewrites, ..journal.batch([note("c")]) }).await.unwrap();
    drop(journal);
    let mut journal = JournalWriter::new(&fixture.open().await, "s");
    assert_eq!(journal.texts().await, ["new", "b", "c"]);
    journal.head = journal.read().await[2].head();
    journal.write([note("d")]).await;
}

pub async fn the_last_activity_before_is_known_also_of_what_has_expired(fixture: &impl Fixture) {
    let last_activity = async || fixture.open().await.last_activity_at_open();
    assert_eq!(last_activity().await, None);
    for (id, kind) in [("s", JournalKind::Session), ("r", JournalKind::Unlisted), ("t", JournalKind::Session)] {
        fixture.clock().advance_seconds(1000);
        let mut journal = JournalWriter::new(&fixture.open().await, id);
        journal.expires_at = Some(fixture.clock().now().plus_seconds(60));
        for text in ["a", "b"] {
            fixture.clock().advance_seconds(7);
            let batch = Append { kind, ..journal.batch([note(text)]) };
            journal.append(batch).await.unwrap();
        }
        let now = fixture.clock().now();
        fixture.clock().advance_seconds(600);
        assert_eq!(last_activity().await, Some(now), "{id}");
    }
    let store = fixture.open().await;
    assert_eq!(store.sessions(None, 9).await.unwrap(), []);
    let before = store.last_activity_at_open();
    JournalWriter::with(&store, "new", "a").await;
    assert_eq!(store.last_activity_at_open(), before, "it stays what it was");
    store.delete(&session("new")).await.unwrap();
    assert_eq!(store.sweep(9).await.unwrap().len(), 3);
    assert_eq!(last_activity().await, None);
}
