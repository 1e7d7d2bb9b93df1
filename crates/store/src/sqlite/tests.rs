use callboard_core::{
    audience::Audience,
    entry::{Actor, Draft},
};
use rusqlite::Connection;

use super::*;
use crate::{Order, SystemClock};

/// A store whose file may not grow beyond `pages` pages.
fn cramped(path: &Path, pages: i64) -> SqliteStore {
    let path: Arc<Path> = path.into();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let db = file::open(&path, Durability::Normal).unwrap();
    db.pragma_update(None, "max_page_count", pages).unwrap();
    let writer = Writer::start(db, &path, clock.clone()).unwrap();
    SqliteStore { readers: Readers::new(path), writer, durability: Durability::Normal, clock }
}

/// A batch that makes a session with one entry of so many bytes.
fn batch(session: &str, size_bytes: usize) -> Append {
    let draft = Draft {
        v: 1,
        kind: "note.made".into(),
        subject: "thread:main".into(),
        audience: Audience::All,
        time: None,
        keys: vec!["k".into()],
        data: "x".repeat(size_bytes).into(),
    };
    let expected = Head::default();
    let entries = vec![Entry::seal(expected, SystemClock.now(), Actor::User, draft)];
    Append { session: session.parse().unwrap(), expected, entries, values: vec![], expires_at: None }
}

#[tokio::test]
async fn a_full_disk_is_said_to_be_full_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = cramped(&folder.path().join("x.db"), 40);
    let mut taken = 0;
    let error = loop {
        match store.append(batch(&format!("s{taken}"), 3000)).await {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { doing: "appending" }), "{error:?}");
    let refused = format!("s{taken}").parse().unwrap();
    assert_eq!(store.row(&refused).await.unwrap(), None);
    assert_eq!(store.find(&refused, "k").await.unwrap(), None);
    assert_eq!(store.sessions(None, 100).await.unwrap().len(), taken);
}

#[tokio::test]
async fn one_that_does_not_fit_takes_nobody_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(cramped(&folder.path().join("x.db"), 60));
    // While the writer waits for this lock, all calls gather behind it and are tried together.
    let lock = Connection::open(folder.path().join("x.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for (session, size_bytes) in [("a", 10), ("b", 10), ("huge", 1 << 20), ("c", 10), ("d", 10)] {
        let store = store.clone();
        calls.spawn(async move { (session, store.append(batch(session, size_bytes)).await) });
    }
    while store.writer.waiting() < 5 {
        tokio::task::yield_now().await;
    }
    lock.execute_batch("ROLLBACK").unwrap();
    for (session, answer) in calls.join_all().await {
        match answer {
            Ok(()) => assert_ne!(session, "huge"),
            Err(error) => assert!(session == "huge" && matches!(error, Error::Full { .. }), "{session}: {error:?}"),
        }
    }
    let there: Vec<_> = store.sessions(None, 9).await.unwrap().into_iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(there, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn those_that_are_committed_together_are_answered_each_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("x.db"), Settings::default()).unwrap());
    let lock = Connection::open(folder.path().join("x.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..30 {
        let store = store.clone();
        calls.spawn(async move { store.append(batch(&format!("s{}", n % 10), 10)).await });
    }
    while store.writer.waiting() < 30 {
        tokio::task::yield_now().await;
    }
    lock.execute_batch("ROLLBACK").unwrap();
    let answers = calls.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
    let conflict = |answer: &&Result<(), Error>| matches!(answer, Err(Error::Conflict { found: Some(_) }));
    assert_eq!(answers.iter().filter(conflict).count(), 20);
}

/// How SQLite goes about a statement.
pub(super) fn plan(sql: &str) -> String {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("schema.sql")).unwrap();
    let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps: Vec<String> = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>().unwrap();
    steps.join("; ")
}

#[test]
fn no_read_of_entries_scans_or_sorts() {
    for order in [Order::Forward, Order::Backward] {
        let by_seq = "SEARCH entry USING INDEX entry_by_seq (session=? AND seq>? AND seq<?)";
        assert_eq!(plan(&read::range_sql(order)), by_seq);
        let by_time = "SEARCH entry USING INDEX entry_by_time (session=? AND subject=? AND type=? AND (time,seq)>(?,?) AND (time,seq)<(?,?))";
        assert_eq!(plan(&read_by_time::sql(order)), by_time);
    }
}
