//! What a large sweep costs others.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use callboard_store::{
    PostgresStore, Settings, Store,
    conformance::{
        journal_writer::{JournalWriter, note},
        soon,
    },
    testing::PostgresServer,
};
use tokio::sync::oneshot;

use crate::sql;

/// How many sessions expire at once.
const EXPIRED: usize = 100_000;

/// Of how many the rows are removed before the end.
const EMPTIED: usize = 10_000;

/// How many appends must come through meanwhile, at the least.
const MEANWHILE: usize = 100;

async fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(url, Settings::default()).await.unwrap())
}

/// Makes sessions that expired long ago, with entries as those of the one that is there.
async fn fill(url: &str) {
    let sessions = format!(
        "INSERT INTO session (seq, tag, expires_at, last_activity, change, name)
         SELECT 2, '\\x00000000000000000000000000000001', 1, 1, this_change(), 's' || n
         FROM generate_series(1, {EXPIRED}) n"
    );
    let entries = "INSERT INTO entry (session, seq, at, type, subject, v, tag, actor, data)
         SELECT s.id, e.seq, e.at, e.type, e.subject, e.v, e.tag, e.actor, e.data FROM session s, entry e
         WHERE s.name LIKE 's%'";
    sql(url, &format!("{sessions}; {entries}")).await;
}

/// Appends one after the other until `is_done`, and says how often. `begun` is told after the first.
async fn append(store: Arc<dyn Store>, begun: oneshot::Sender<()>, is_done: Arc<AtomicBool>) -> usize {
    let mut journal = JournalWriter::with(&store, "other", "a").await;
    begun.send(()).unwrap();
    let mut count = 0;
    while !is_done.load(Ordering::Relaxed) {
        soon("an append", journal.write([note("b")])).await;
        count += 1;
    }
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i9_a_hundred_thousand_that_expired_hold_nobody_up() {
    let server = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
    let url = server.url("x");
    let store = open(&url).await;
    JournalWriter::with(&store, "model", "a b").await;
    fill(&url).await;
    let (begun, has_begun) = oneshot::channel();
    let is_done = Arc::new(AtomicBool::new(false));
    let appending = tokio::spawn(append(open(&url).await, begun, is_done.clone()));
    has_begun.await.unwrap();
    let mut swept = 0;
    loop {
        // As the engine does.
        let some = store.sweep(100).await.unwrap().len();
        swept += some;
        if some < 100 {
            break;
        }
    }
    assert_eq!(swept, EXPIRED);
    let left = format!("SELECT (count(*) > {EMPTIED})::text FROM dead WHERE emptied");
    soon("rows to be removed", async { while sql(&url, &left).await != ["true"] {} }).await;
    is_done.store(true, Ordering::Relaxed);
    let meanwhile = soon("the last append", appending).await.unwrap();
    assert!(meanwhile > MEANWHILE, "{meanwhile} appends came through while it was swept");
    assert_eq!(sql(&url, "SELECT count(*)::text FROM session").await, ["2"]);
    drop(store);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
}
