//! What a large sweep costs others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use callboard_store::{
    PostgresStore, Settings, Store,
    conformance::journal_writer::{JournalWriter, note},
    testing::PostgresServer,
};
use tokio::sync::oneshot;

use crate::sql;

/// How many sessions expire at once.
const EXPIRED: usize = 100_000;

/// Of how many the rows are removed before the end.
const EMPTIED: usize = 10_000;

/// How many appends show how long one takes on this machine at this time.
const BEFORE: usize = 500;

/// For how much longer an append may wait because of a sweep, but for one of a hundred: the machine is not ours alone.
const HOLD: Duration = Duration::from_millis(50);

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

/// Appends one after the other until `is_done`: how long each of the first [`BEFORE`] took, after which `begun` is told,
/// and each of the others.
async fn append(store: Arc<dyn Store>, begun: oneshot::Sender<()>, is_done: Arc<AtomicBool>) -> [Vec<Duration>; 2] {
    let mut journal = JournalWriter::with(&store, "other", "a").await;
    let (mut waits, mut begun) = (Vec::new(), Some(begun));
    while begun.is_some() || !is_done.load(Ordering::Relaxed) {
        let began = Instant::now();
        journal.write([note("b")]).await;
        waits.push(began.elapsed());
        if waits.len() == BEFORE
            && let Some(begun) = begun.take()
        {
            begun.send(()).unwrap();
        }
    }
    let later = waits.split_off(BEFORE);
    [waits, later]
}

/// Longer than this one of a hundred took.
fn longest_but_one_of_a_hundred(waits: &mut [Duration]) -> Duration {
    waits.sort();
    waits[waits.len() * 99 / 100]
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
    while sql(&url, &left).await != ["true"] {}
    is_done.store(true, Ordering::Relaxed);
    let [mut before, mut during] = appending.await.unwrap();
    let [before, during] = [&mut before, &mut during].map(|waits| longest_but_one_of_a_hundred(waits));
    assert!(during < before + HOLD, "an append waited for {during:?} while it was swept, for {before:?} before");
    assert_eq!(sql(&url, "SELECT count(*)::text FROM session").await, ["2"]);
    drop(store);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
}
