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
    conformance::pen::{Pen, note},
    testing::PostgresServer,
};

use crate::sql;

/// How many sessions expire at once.
const EXPIRED: usize = 100_000;

/// For how long an append may wait for a sweep. It is 50 ms where nobody else uses the machine.
const HOLD: Duration = Duration::from_millis(1000);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i9_a_hundred_thousand_that_expired_hold_nobody_up() {
    let server = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
    let url = server.url("x");
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url, Settings::default()).await.unwrap());
    // Real entries behind each, so that there is something to remove.
    Pen::with(&store, "model", "a b").await;
    let made = format!(
        "INSERT INTO session (seq, tag, expires_at, last_activity, change, name)
         SELECT 2, '\\x00000000000000000000000000000001', 1, 1, this_change(), 's' || n FROM generate_series(1, {EXPIRED}) n;
         INSERT INTO entry (session, seq, at, type, subject, v, tag, actor, data)
         SELECT s.id, e.seq, e.at, e.type, e.subject, e.v, e.tag, e.actor, e.data FROM session s, entry e WHERE s.name LIKE 's%'"
    );
    sql(&url, &made).await;
    let is_done = Arc::new(AtomicBool::new(false));
    let other: Arc<dyn Store> = Arc::new(PostgresStore::open(&url, Settings::default()).await.unwrap());
    let appending = tokio::spawn({
        let is_done = is_done.clone();
        async move {
            let mut pen = Pen::with(&other, "other", "a").await;
            let mut waits = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                let began = Instant::now();
                pen.write([note("b")]).await;
                waits.push(began.elapsed());
            }
            waits
        }
    });
    let began = Instant::now();
    let mut swept = 0;
    loop {
        // As the engine does.
        let some = store.sweep(100).await.unwrap().len();
        swept += some;
        if some < 100 {
            break;
        }
    }
    let (sweeping, began) = (began.elapsed(), Instant::now());
    while sql(&url, "SELECT count(*)::text FROM dead WHERE NOT emptied").await != ["0"] {}
    let removing = began.elapsed();
    is_done.store(true, Ordering::Relaxed);
    let mut waits = appending.await.unwrap();
    waits.sort();
    let (slowest, median) = (waits[waits.len() - 1], waits[waits.len() / 2]);
    eprintln!(
        "{} appends, {median:?} in the middle, {slowest:?} at most; swept in {sweeping:?}, removed in {removing:?} more",
        waits.len()
    );
    assert_eq!(swept, EXPIRED);
    assert!(slowest < HOLD, "an append waited for {slowest:?}");
    assert_eq!(sql(&url, "SELECT count(*)::text FROM session").await, ["2"]);
    drop(store);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
}
