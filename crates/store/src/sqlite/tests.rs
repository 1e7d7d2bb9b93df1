use std::task::Poll;

use callboard_core::{
    audience::Audience,
    entry::{Actor, Draft, Header},
};
use callboard_tasks::Supervisor;
use rusqlite::Connection;

use super::*;
use crate::{JournalKind, Order, SystemClock};

/// A store whose file may not grow beyond `pages` pages.
fn cramped(path: &Path, pages: i64) -> SqliteStore {
    let path: Arc<Path> = path.into();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let db = file::open(&path, Durability::Normal).unwrap();
    db.pragma_update(None, "max_page_count", pages).unwrap();
    let writer = Writer::start(db, Durability::Normal, &path, clock.clone(), Supervisor::default()).unwrap();
    let rows = RowCache::open(&path).unwrap();
    let (durability, last_activity_at_open) = (Durability::Normal, None);
    SqliteStore { readers: Readers::new(path), rows, writer, durability, clock, last_activity_at_open }
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
    let entries = vec![Entry::seal(expected, SystemClock.now(), Actor::User, None, draft)];
    Append::of(session.parse().unwrap(), JournalKind::Session, expected, entries)
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

/// Appends all batches in one transaction: they wait while another connection holds the lock.
async fn append_together(store: SqliteStore, path: &Path, batches: Vec<Append>) -> Vec<(String, Result<(), Error>)> {
    let lock = Connection::open(path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let store = Arc::new(store);
    let (mut calls, count) = (tokio::task::JoinSet::new(), batches.len());
    for batch in batches {
        let store = store.clone();
        calls.spawn(async move { (batch.session.to_string(), store.append(batch).await) });
    }
    comes(async {
        while store.writer.waiting() < count {
            tokio::task::yield_now().await;
        }
    })
    .await;
    lock.execute_batch("ROLLBACK").unwrap();
    calls.join_all().await
}

/// The sessions that are in a file.
async fn sessions_in(path: &Path) -> Vec<String> {
    let store = SqliteStore::open(path, Settings::default()).unwrap();
    store.sessions(None, 100).await.unwrap().into_iter().map(|(id, _)| id.to_string()).collect()
}

#[tokio::test]
async fn one_that_does_not_fit_takes_nobody_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let sizes = [("a", 10), ("b", 10), ("huge", 1 << 20), ("c", 10), ("d", 10)];
    let batches = sizes.map(|(session, size_bytes)| batch(session, size_bytes)).into();
    for (session, answer) in append_together(cramped(&path, 60), &path, batches).await {
        match answer {
            Ok(()) => assert_ne!(session, "huge"),
            Err(error) => assert!(session == "huge" && matches!(error, Error::Full { .. }), "{session}: {error:?}"),
        }
    }
    assert_eq!(sessions_in(&path).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn those_that_are_committed_together_are_answered_each_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let store = SqliteStore::open(&path, Settings::default()).unwrap();
    let batches = (0..30).map(|n| batch(&format!("s{}", n % 10), 10)).collect();
    let answers = append_together(store, &path, batches).await;
    assert_eq!(answers.iter().filter(|(_, answer)| answer.is_ok()).count(), 10);
    let conflicts = answers.iter().filter(|(_, answer)| matches!(answer, Err(Error::Conflict { found: Some(_) })));
    assert_eq!(conflicts.count(), 20);
}

#[tokio::test]
async fn one_that_is_refused_half_way_leaves_nothing_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let store = SqliteStore::open(&path, Settings::default()).unwrap();
    // Its first entry is written before the second is found to claim the same key.
    let mut half = batch("half", 10);
    let Entry { header, data, tag } = half.entries[0].clone();
    half.entries.push(Entry { header: Header { seq: Seq(2), ..header }, data, tag });
    let answers = append_together(store, &path, vec![batch("a", 10), half, batch("b", 10)]).await;
    for (session, answer) in answers {
        assert_eq!(matches!(answer, Err(Error::KeyTaken { .. })), session == "half", "{session}: {answer:?}");
    }
    assert_eq!(sessions_in(&path).await, ["a", "b"]);
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
        let by_seq = "SEARCH by_seq USING PRIMARY KEY (session=? AND seq>? AND seq<?)";
        let entry = "SEARCH entry USING INTEGER PRIMARY KEY (rowid=?)";
        assert_eq!(plan(&read::range_sql(order)), format!("{by_seq}; {entry}"));
        let by_time = "SEARCH by_time USING PRIMARY KEY (session=? AND subject=? AND type=? ";
        let place = "AND (time,seq)>(?,?) AND (time,seq)<(?,?))";
        assert_eq!(plan(&read::sql_by_time(order)), format!("{by_time}{place}"));
    }
    assert_eq!(plan(read::ROW), "SEARCH entry USING INTEGER PRIMARY KEY (rowid=?)");
    assert_eq!(plan(indexing::LAST), "SEARCH by_seq USING PRIMARY KEY (session=?)");
    assert_eq!(plan(indexing::UNINDEXED), "SEARCH entry USING INTEGER PRIMARY KEY (rowid>?)");
}

#[test]
fn no_list_of_sessions_scans_or_sorts() {
    for (sql, expected) in [
        (sessions::JOURNALS, "SEARCH session USING INDEX sqlite_autoindex_session_1 (name>?)"),
        (sessions::SESSIONS, "SEARCH session USING INDEX session_by_name (name>?)"),
        (sessions::BY_USE, "SEARCH session USING INDEX session_by_use (is_request=?)"),
    ] {
        assert_eq!(plan(sql), expected);
    }
    for sql in [sessions::UNINDEXED, sessions::LAST_ACTIVITY] {
        let plan = plan(sql);
        assert!(!plan.contains("SCAN session") && !plan.contains("SCAN entry") && !plan.contains("ORDER BY"), "{plan}");
    }
}

#[test]
fn a_sweep_looks_at_what_is_due_alone() {
    assert_eq!(plan(delete::DUE), "SEARCH session USING INDEX session_by_due (due>? AND due<?)");
}

#[test]
fn rows_of_deleted_sessions_are_removed_by_their_whole_keys() {
    for (table, key, _) in delete::TABLES {
        let plan = plan(&delete::remove_from(table, key));
        let last = key.rsplit(", ").next().unwrap();
        assert!(plan.starts_with(&format!("SEARCH {table} ")) && plan.contains(&format!("{last}=?)")), "{plan}");
    }
}

#[test]
fn leases_are_found_among_leases_alone() {
    for sql in [sessions::LET_GO, sessions::RENEW, sessions::TAKE, sessions::HELD] {
        let plan = plan(sql);
        assert!(plan.contains("session_by_lease"), "{plan}");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Waits for what has to come.
async fn comes<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(std::time::Duration::from_secs(60), what).await.expect("it never comes")
}

#[test]
fn short_writes_that_wait_are_committed_though_the_runtime_of_their_callers_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let store = SqliteStore::open(&path, Settings::default()).unwrap();
    let lock = Connection::open(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let callers = runtime();
    callers.block_on(async {
        // Nobody asks twice, and no task has had its turn when the runtime ends.
        for session in ["a", "b", "c"] {
            let mut append = store.append(batch(session, 10));
            assert!(std::future::poll_fn(|cx| Poll::Ready(append.as_mut().poll(cx))).await.is_pending());
        }
    });
    drop(callers);
    lock.execute_batch("ROLLBACK").unwrap();
    runtime().block_on(comes(async {
        while store.sessions(None, 10).await.unwrap().len() < 3 {
            // clock: a pause that stands for nothing, only lets others run
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        // Others come after them.
        let batches = (0..100).map(|number| batch(&format!("s{number}"), 10)).collect();
        for (session, answer) in append_together(store, &path, batches).await {
            answer.unwrap_or_else(|error| panic!("{session}: {error}"));
        }
    }));
}

#[tokio::test]
async fn however_many_write_at_once_all_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("x.db"), Settings::default()).unwrap());
    let append = |number: usize| {
        let store = store.clone();
        async move { store.append(batch(&format!("s{number}"), 10)).await }
    };
    for answer in comes((0..900).map(append).collect::<tokio::task::JoinSet<_>>().join_all()).await {
        answer.unwrap();
    }
    assert_eq!(store.sessions(None, 1000).await.unwrap().len(), 900);
}

#[tokio::test]
async fn a_row_is_as_of_the_last_commit_of_any_store_on_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let [here, there] = [(), ()].map(|()| SqliteStore::open(&path, Settings::default()).unwrap());
    let session = "a".parse().unwrap();
    let row = || here.rows.row(&session, Timestamp::default()).unwrap();
    assert_eq!((row(), row()), (None, None));
    here.append(batch("a", 10)).await.unwrap();
    let later = SystemClock.now().plus_seconds(3600);
    for (store, seconds) in [(&here, 7), (&there, 8), (&here, 9), (&there, 10)] {
        let touched = store.touch(&session, Some(later.plus_seconds(seconds))).await.unwrap();
        assert!(touched.is_some());
        assert_eq!((row(), row()), (touched, touched));
    }
    assert_eq!(here.rows.row(&session, later.plus_seconds(10)).unwrap(), None, "it has expired by then");
}
