//! What was acknowledged survives whatever happens to connections and to the server: none lost, none twice, in order.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::Seq,
};
use callboard_store::{
    Error, Store,
    conformance::{
        Fixture as _, everything,
        journal_writer::{JournalWriter, note},
    },
    testing::{Fault, RedisServer},
};
use tokio::task::JoinSet;

use super::{
    fixtures::{self, Admin, Native, Rest},
    soon,
};

const WRITERS: usize = 6;
const EACH: usize = 40;

/// All that is there, once the server can be asked.
async fn read_surely(journal: &JournalWriter) -> Vec<Entry> {
    soon("the server", async {
        loop {
            match journal.store.read(&journal.session, everything()).await {
                Ok(entries) => return entries,
                Err(error) => assert_eq!(error.code(), "store_failed", "{error}"),
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

/// Writes until it is in, once. Where nobody knows whether it is, it looks.
async fn write_surely(journal: &mut JournalWriter, text: &str) {
    loop {
        match journal.try_write([note(text)]).await {
            Ok(_) => return,
            Err(Error::Conflict { found }) => journal.head = found.map(|row| row.head).unwrap_or_default(),
            Err(Error::Failed { .. }) => {
                let entries = read_surely(journal).await;
                journal.head = entries.last().map_or(Head::default(), Entry::head);
                if entries.iter().any(|entry| &*entry.data == text) {
                    return;
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Starts all writers on one session.
fn all_write(store: &Arc<dyn Store>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let mut journal = JournalWriter::new(store, "s");
        tasks.spawn(async move {
            for n in 0..EACH {
                write_surely(&mut journal, &format!("{writer}/{n}")).await;
            }
        });
    }
    tasks
}

/// Every text is there once, those of a writer in their order, and the entries chain.
fn assert_complete(entries: &[Entry]) {
    assert_eq!(entries.len(), WRITERS * EACH);
    let mut head = Head::default();
    for entry in entries {
        assert_eq!(entry.header.seq, head.seq.next());
        assert_eq!(head.tag.chain(&entry.header, &Hash::of(entry.data.as_bytes())), entry.tag);
        head = entry.head();
    }
    for writer in 0..WRITERS {
        let mut texts = entries.iter().map(|entry| &*entry.data).filter(|text| text.starts_with(&format!("{writer}/")));
        assert!((0..EACH).all(|n| texts.next() == Some(&*format!("{writer}/{n}"))), "writer {writer}");
    }
}

/// Waits until the journal is so long.
async fn grown(journal: &JournalWriter, length: u64) {
    let length = usize::try_from(length).unwrap();
    soon("more entries", async { while read_surely(journal).await.len() < length {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_lose_nothing() {
    let server = RedisServer::start();
    let clock = fixtures::clock();
    let (store, looking) =
        (fixtures::open(&server.url("x"), &clock).await, fixtures::open(&server.url("x"), &clock).await);
    let looking = JournalWriter::new(&looking, "s");
    let tasks = all_write(&store);
    let mut admin = Admin::of(&server).await;
    for round in 1..=8 {
        grown(&looking, round * 20).await;
        admin.tell::<()>("CLIENT KILL TYPE normal SKIPME yes").await;
    }
    soon("all writers", tasks.join_all()).await;
    assert_complete(&read_surely(&looking).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_load_loses_nothing_that_was_acknowledged() {
    let mut server = RedisServer::durable();
    let clock = fixtures::clock();
    let store = fixtures::open(&server.url("x"), &clock).await;
    let looking = JournalWriter::new(&fixtures::open(&server.url("x"), &clock).await, "s");
    let tasks = all_write(&store);
    for round in 1..=3 {
        grown(&looking, round * 40).await;
        server = tokio::task::spawn_blocking(move || {
            server.restart();
            server
        })
        .await
        .unwrap();
    }
    soon("all writers", tasks.join_all()).await;
    assert_complete(&read_surely(&looking).await);
}

#[tokio::test]
async fn an_append_whose_answer_is_lost_is_found_by_its_head() {
    let fixture = Rest::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let batch = journal.batch([note("b")]);
    let head = batch.entries[0].head();
    fixture.proxy.fail_next_request(Fault::AnswerLost);
    let error = journal.append(batch).await.unwrap_err();
    assert_eq!(error.code(), "store_failed", "{error}");
    assert_eq!(store.row(&journal.session).await.unwrap().unwrap().head, head);
    assert_eq!(head.seq, Seq(2));
}

#[tokio::test]
async fn what_is_appended_though_the_answer_was_lost_is_named_to_watchers() {
    let fixture = Rest::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut watcher = store.watch();
    fixture.proxy.fail_next_request(Fault::AnswerLost);
    journal.try_write([note("b")]).await.unwrap_err();
    super::watch::named(&mut watcher, "s").await;
}

#[tokio::test]
async fn a_server_that_was_restarted_is_found_again_and_has_everything() {
    let mut server = RedisServer::durable();
    let store = fixtures::open(&server.url("x"), &fixtures::clock()).await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    server.restart();
    // The connection that is gone is noticed by the first who uses it.
    write_surely(&mut journal, "b").await;
    assert_eq!(journal.texts().await, ["a", "b"]);
}

#[tokio::test]
async fn a_batch_of_thousands_is_one() {
    let fixture = Native::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let texts: Vec<_> = (0..5000).map(|n| n.to_string()).collect();
    journal.write(texts.iter().map(|text| note(text))).await;
    assert_eq!(journal.texts().await, texts);
}
