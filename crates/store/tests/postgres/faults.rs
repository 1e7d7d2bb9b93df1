//! Connections that are killed, and a server that is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use callboard_core::entry::{Entry, Hash, Head};
use callboard_store::{
    Error, PostgresStore, Query,
    conformance::{
        Fixture as _, everything,
        journal_writer::{JournalWriter, claiming, note},
        session,
    },
    testing::PostgresServer,
};
use tokio::{task::JoinSet, time::timeout};

use crate::{fixture::Postgres, sql};

/// How often harm is done at the most, until somebody has met it.
const MOST_HARM: usize = 100;

/// Ends every connection to the namespace but the one that does it.
const KILL: &str = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND application_name = 'callboard'";

/// Ends those that listen.
const KILL_LISTENERS: &str = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND query LIKE '%pg_snapshot_xmin%' AND query LIKE '%UNION%'";

/// Writes on until it is told to stop, and says how much was acknowledged. Where it is unknown whether something was
/// appended, which counts as lost, the journal says so.
async fn write_on(mut journal: JournalWriter, writer: usize, stop: Arc<AtomicBool>, lost: Arc<AtomicUsize>) -> usize {
    let mut acknowledged = 0;
    while !stop.load(Ordering::Relaxed) {
        let text = format!("{writer}/{acknowledged}");
        let batch = journal.batch([note(&text)]);
        let wanted = batch.entries[0].head();
        match journal.append(batch).await {
            Ok(_) => acknowledged += 1,
            Err(Error::Conflict { found }) => journal.head = found.unwrap().head,
            Err(Error::Failed { .. }) => {
                lost.fetch_add(1, Ordering::Relaxed);
                if was_appended(&journal, wanted).await {
                    acknowledged += 1;
                }
            }
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
    acknowledged
}

/// Looks until the store answers.
async fn was_appended(journal: &JournalWriter, wanted: Head) -> bool {
    loop {
        let query = Query { seqs: wanted.seq..wanted.seq.next(), ..everything() };
        match journal.store.read(&journal.session, query).await {
            Ok(entries) => return entries.first().map(Entry::head) == Some(wanted),
            Err(Error::Failed { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Has several writers write to one journal on two handles while `harm` is done so often, and until it was met; then all
/// that was acknowledged is there, once, in order.
async fn survives(fixture: &Postgres, times: usize, harm: impl AsyncFn(&JournalWriter)) {
    let stores = [fixture.open().await, fixture.open().await];
    let (stop, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let writing = write_on(JournalWriter::new(&stores[writer % 2], "s"), writer, stop.clone(), lost.clone());
        writers.spawn(async move { (writer, writing.await) });
    }
    let journal = JournalWriter::new(&stores[0], "s");
    for done in 0..MOST_HARM {
        if done >= times && lost.load(Ordering::Relaxed) > 0 {
            break;
        }
        harm(&journal).await;
    }
    grown_by(&journal, 20).await;
    stop.store(true, Ordering::Relaxed);
    let ended = timeout(Duration::from_secs(120), writers.join_all()).await.expect("all writers end");

    let entries = JournalWriter::new(&fixture.open().await, "s").read().await;
    assert_eq!(entries.len(), ended.iter().map(|(_, acknowledged)| acknowledged).sum::<usize>());
    for (writer, acknowledged) in &ended {
        let prefix = format!("{writer}/");
        let texts = entries.iter().map(|entry| &*entry.data).filter(|text| text.starts_with(&prefix));
        let expected: Vec<_> = (0..*acknowledged).map(|n| format!("{prefix}{n}")).collect();
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }
    for pair in entries.windows(2) {
        let hash = Hash::of(pair[1].data.as_bytes());
        assert_eq!(pair[0].tag.chain(&pair[1].header, &hash), pair[1].tag);
    }
    assert!(lost.load(Ordering::Relaxed) > 0, "no harm was met");
}

/// Waits until the journal has grown by `more` entries.
async fn grown_by(journal: &JournalWriter, more: u64) {
    let length = async || journal.store.row(&journal.session).await.ok().flatten().map_or(0, |row| row.head.seq.0);
    let from = length().await;
    let grown = async { while length().await < from + more {} };
    timeout(Duration::from_secs(60), grown).await.expect("the journal grows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i2_what_was_acknowledged_survives_connections_killed_under_load() {
    let server = server().await;
    let fixture = Postgres::on(&server);
    survives(&fixture, 10, async |journal| {
        grown_by(journal, 20).await;
        sql(fixture.url(), KILL).await;
    })
    .await;
    end(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i2_what_was_acknowledged_survives_a_server_that_crashes_under_load() {
    let server = Arc::new(server().await);
    let fixture = Postgres::on(&server);
    survives(&fixture, 3, async |journal| {
        grown_by(journal, 50).await;
        let server = server.clone();
        tokio::task::spawn_blocking(move || server.restart()).await.unwrap();
    })
    .await;
    end(server).await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_and_found_again_when_it_is_back() {
    let server = Arc::new(server().await);
    let fixture = Postgres::on(&server);
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let gone = server.clone();
    tokio::task::spawn_blocking(move || gone.kill()).await.unwrap();
    for answer in [store.row(&journal.session).await.map(drop), store.row(&session("nobody")).await.map(drop)] {
        let error = answer.unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error:?}");
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("is it running"), "{source}");
    }
    assert!(matches!(journal.try_write([note("b")]).await, Err(Error::Failed { .. })));
    let back = server.clone();
    tokio::task::spawn_blocking(move || back.restart()).await.unwrap();
    journal.write([note("b")]).await;
    assert_eq!(journal.texts().await, ["a", "b"]);
    drop((store, journal));
    end(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_named_after_the_listening_connection_was_killed() {
    let server = server().await;
    let fixture = Postgres::on(&server);
    let (here, there) = (fixture.open().await, fixture.open().await);
    let mut journal = JournalWriter::with(&there, "s", "a").await;
    let mut watcher = here.watch();
    for n in 0..5 {
        sql(fixture.url(), KILL_LISTENERS).await;
        journal.write([claiming(&[&n.to_string()])]).await;
        let named = async { while watcher.recv().await.unwrap() != journal.session {} };
        timeout(Duration::from_secs(60), named).await.expect("the change is named");
        while watcher.try_recv().is_ok() {}
    }
    drop((here, there, journal));
    end(server).await;
}

#[tokio::test]
async fn a_server_without_a_connection_left_says_so() {
    let server = tokio::task::spawn_blocking(|| PostgresServer::start_with(&["max_connections = 8"])).await.unwrap();
    let fixture = Postgres::on(&server);
    let mut taken = Vec::new();
    let error = loop {
        match PostgresStore::open(fixture.url(), fixture.settings()).await {
            Ok(store) => taken.push(store),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("has no connection left"), "{error}");
    drop(taken);
    end(server).await;
}

/// A server that is harmed without harm to others.
async fn server() -> PostgresServer {
    tokio::task::spawn_blocking(PostgresServer::start).await.unwrap()
}

/// Ends a server, off the runtime.
async fn end(server: impl Send + 'static) {
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
}
