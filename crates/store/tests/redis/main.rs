//! Redis, real ones that the tests start: over its own protocol and over REST.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

mod cluster;
mod crash;
mod expiry;
mod fixtures;
#[path = "../indexing_of/mod.rs"]
mod indexing_of;
#[path = "../model_of/mod.rs"]
mod model_of;
mod opening;
mod rest;
mod watch;

use callboard_store::conformance::{
    Fixture as _,
    journal_writer::{JournalWriter, note},
    soon,
};
use tokio::task::JoinSet;

mod native {
    use super::fixtures::Native;

    callboard_store::conformance!(Native);
    callboard_store::conformance_of_durable!(Native);
}

mod over_rest {
    use super::fixtures::Rest;

    callboard_store::conformance!(Rest);
    callboard_store::conformance_of_durable!(Rest);
}

mod in_a_cluster {
    use super::fixtures::Clustered;

    callboard_store::conformance!(Clustered);
    callboard_store::conformance_of_durable!(Clustered);
}

#[tokio::test]
async fn what_is_read_is_the_same_whether_or_not_it_is_in_the_index() {
    indexing_of::compare::<fixtures::Native>().await;
}

#[tokio::test]
async fn what_waits_is_appended_together() {
    let fixture = fixtures::Native::fresh().await;
    let store = fixture.open().await;
    let mut writing = JoinSet::new();
    for n in 0..40 {
        let mut journal = JournalWriter::new(&store, &format!("s{n}"));
        writing.spawn(async move { journal.write([note("a")]).await });
    }
    writing.join_all().await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1;
    let changes: usize =
        fixtures::Admin::of(&fixture.server).await.tell(&format!("XLEN {{{namespace}}}:changes")).await;
    assert!(changes < 20, "{changes} scripts");
}

#[tokio::test]
async fn a_session_that_is_damaged_takes_no_other_with_it() {
    let fixture = fixtures::Native::fresh().await;
    let store = fixture.open().await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1;
    fixtures::Admin::of(&fixture.server).await.tell::<()>(&format!("SET {{{namespace}}}:s7:journal text")).await;
    let mut writing = JoinSet::new();
    for n in 0..40 {
        let mut journal = JournalWriter::new(&store, &format!("s{n}"));
        writing.spawn(async move { (n, journal.try_write([note("a")]).await.map(drop)) });
    }
    for (n, answer) in writing.join_all().await {
        match answer {
            Err(error) if n == 7 => assert!(format!("{error:?}").contains("WRONGTYPE"), "{error:?}"),
            answer => assert!(answer.is_ok() && n != 7, "s{n}: {answer:?}"),
        }
    }
}

/// Each of them moves to the front, so others are found twice.
#[tokio::test]
async fn sessions_that_are_used_meanwhile_make_no_list_shorter() {
    let fixture = fixtures::Native::fresh().await;
    let (store, other) = (fixture.open().await, fixture.open().await);
    for n in 0..600 {
        JournalWriter::with(&store, &format!("s{n}"), "a").await;
    }
    let mut used = (0..600).cycle();
    for _ in 0..20 {
        // Fewer than are not wanted, so that enough are left however slowly the list is read.
        let using = async {
            for n in used.by_ref().take(50) {
                fixture.clock().advance_seconds(1);
                other.touch(&format!("s{n}").parse().unwrap(), None).await.unwrap();
            }
        };
        let (found, ()) = tokio::join!(store.recent_sessions(300), using);
        assert_eq!(found.unwrap().len(), 300);
    }
}

mod model {
    use callboard_store::{conformance::Fixture, testing::RedisServer};
    use proptest::{collection::vec, test_runner::TestRunner};

    use super::{
        fixtures::{Native, Rest},
        model_of,
    };

    /// One server for all cases.
    fn behaves_like_memory<F: Fixture>() {
        let _server = RedisServer::shared();
        let compare = |commands| {
            model_of::compare::<F>(1, commands);
            Ok(())
        };
        TestRunner::new(model_of::config()).run(&vec(model_of::command(), 1..60), compare).unwrap();
    }

    #[test]
    fn redis_behaves_like_memory() {
        behaves_like_memory::<Native>();
    }

    #[test]
    fn redis_over_rest_behaves_like_memory() {
        behaves_like_memory::<Rest>();
    }
}
