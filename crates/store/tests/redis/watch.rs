//! Watchers hear of what others did, whatever happened in between.

use std::time::Duration;

use callboard_core::id::SessionId;
use callboard_store::{
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, note},
    },
    testing::RedisServer,
};
use tokio::sync::broadcast::Receiver;

use super::fixtures::{self, Admin, Native, Rest};

/// Waits until this session is named.
pub(crate) async fn named(watcher: &mut Receiver<SessionId>, expected: &str) {
    let named = async { while watcher.recv().await.unwrap().as_str() != expected {} };
    tokio::time::timeout(Duration::from_secs(60), named).await.expect("it is named");
}

#[tokio::test]
async fn a_watcher_whose_connection_was_cut_hears_what_it_missed() {
    let server = RedisServer::start();
    let clock = fixtures::clock();
    let here = fixtures::open(&server.url("x"), &clock).await;
    let mut watcher = here.watch();
    let mut admin = Admin::of(&server).await;
    for id in ["a", "b", "c"] {
        admin.tell::<()>("CLIENT KILL TYPE normal SKIPME yes").await;
        let there = fixtures::open(&server.url("x"), &clock).await;
        JournalWriter::with(&there, id, "x").await;
        named(&mut watcher, id).await;
    }
}

#[tokio::test]
async fn a_watcher_goes_on_after_the_server_was_restarted() {
    let mut server = RedisServer::durable();
    let clock = fixtures::clock();
    let here = fixtures::open(&server.url("x"), &clock).await;
    let mut watcher = here.watch();
    let there = fixtures::open(&server.url("x"), &clock).await;
    JournalWriter::with(&there, "a", "x").await;
    named(&mut watcher, "a").await;
    server.restart();
    let there = fixtures::open(&server.url("x"), &clock).await;
    JournalWriter::with(&there, "b", "x").await;
    named(&mut watcher, "b").await;
}

#[tokio::test]
async fn a_server_that_lost_its_data_is_noticed() {
    let server = RedisServer::start();
    let clock = fixtures::clock();
    let here = fixtures::open(&server.url("x"), &clock).await;
    let there = fixtures::open(&server.url("x"), &clock).await;
    let mut watcher = here.watch();
    let mut journal = JournalWriter::with(&there, "a", "x y z").await;
    named(&mut watcher, "a").await;
    Admin::of(&server).await.tell::<()>("FLUSHALL").await;
    journal.try_write([note("on top of nothing")]).await.unwrap_err();
    JournalWriter::with(&there, "b", "x").await;
    named(&mut watcher, "b").await;
}

#[tokio::test]
async fn whoever_missed_too_much_is_named_every_session() {
    let fixture = Rest::fresh().await;
    let here = fixture.open().await;
    let there = fixture.open().await;
    for id in ["a", "b", "c"] {
        JournalWriter::with(&there, id, "x").await;
    }
    let namespace = fixture.url.split_once("namespace=").unwrap().1.split_once('&').unwrap().0;
    Admin::of(&fixture.server).await.tell::<()>(&format!("XTRIM {{{namespace}}}:changes MAXLEN 1")).await;
    let mut watcher = here.watch();
    named(&mut watcher, "a").await;
}

#[tokio::test]
async fn our_own_changes_are_named_once() {
    let fixture = Native::fresh().await;
    let (here, there) = (fixture.open().await, fixture.open().await);
    let mut watcher = here.watch();
    JournalWriter::with(&here, "ours", "x").await;
    JournalWriter::with(&there, "theirs", "x").await;
    let mut heard = vec![];
    while heard.last().is_none_or(|id: &SessionId| id.as_str() != "theirs") {
        heard.push(watcher.recv().await.unwrap());
    }
    assert_eq!(heard.iter().map(SessionId::as_str).collect::<Vec<_>>(), ["ours", "theirs"]);
}
