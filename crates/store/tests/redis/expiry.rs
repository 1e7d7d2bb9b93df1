//! Expiry by the clock of the server, with its own removal behind the sweep.

use std::sync::Arc;

use callboard_core::{entry::Hash, time::Timestamp};
use callboard_store::{
    Clock as _, Settings, Store, SystemClock,
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, claiming, note},
        session,
    },
    open,
    testing::RedisServer,
};

use super::{
    fixtures::{self, Admin, Native, namespace},
    soon,
};

/// How long each key of the session `s` has, in milliseconds; -1 is for ever.
async fn lives(admin: &mut Admin, namespace: &str) -> Vec<i64> {
    let mut keys: Vec<String> = admin.tell(&format!("KEYS {{{namespace}}}:s:*")).await;
    keys.sort();
    let mut found = vec![];
    for key in keys {
        found.push(admin.tell(&format!("PTTL {key}")).await);
    }
    found
}

#[tokio::test]
async fn every_key_of_a_session_goes_by_itself_a_day_after_it_expired_and_on_the_hour() {
    let (server, namespace) = (RedisServer::shared(), namespace());
    let store = open(&server.url(&namespace), Settings::default()).await.unwrap();
    let mut admin = Admin::of(&server).await;
    let now = store.now().await.unwrap();
    assert!((now.as_millis() - SystemClock.now().as_millis()).abs() < 60_000);
    let mut journal = JournalWriter::new(&store, "s");
    journal.expires_at = Some(now.plus_seconds(3600));
    journal.write([claiming(&["k"])]).await;
    store.put_snapshot(&journal.session, journal.head, Arc::from(*b"state")).await.unwrap();
    let (hour, day) = (3_600_000, 86_400_000);
    let mut found = lives(&mut admin, &namespace).await;
    assert_eq!(found.len(), 2, "journal, snapshots");
    for _ in 0..150 {
        journal.write([note("x")]).await;
    }
    found.extend(lives(&mut admin, &namespace).await);
    assert_eq!(found.len(), 2 + 3, "the index too");
    assert!(found.iter().all(|&left| left > day + hour / 2 && left <= day + 2 * hour), "{found:?}");
    journal.expires_at = Some(now.plus_seconds(7200));
    journal.write([note("x")]).await;
    let later = lives(&mut admin, &namespace).await;
    assert!(later.iter().all(|&left| left > day + hour + hour / 2 && left <= day + 3 * hour), "{later:?}");
    store.touch(&journal.session, None).await.unwrap();
    assert_eq!(lives(&mut admin, &namespace).await, [-1; 3]);
}

#[tokio::test]
async fn i9_no_key_of_a_session_is_left_by_a_sweep() {
    let (server, namespace) = (RedisServer::shared(), namespace());
    let store = open(&server.url(&namespace), Settings::default()).await.unwrap();
    let mut admin = Admin::of(&server).await;
    let mut journal = JournalWriter::new(&store, "s");
    let mut batch = journal.batch([claiming(&["k"])]);
    batch.values = vec![(Hash::of(b"large"), "large".into())];
    journal.append(batch).await.unwrap();
    store.put_snapshot(&journal.session, journal.head, Arc::from(*b"state")).await.unwrap();
    journal.write((0..100).map(|_| note("x"))).await;
    assert_eq!(lives(&mut admin, &namespace).await.len(), 3);
    store.touch(&journal.session, Some(store.now().await.unwrap().plus_seconds(-1))).await.unwrap();
    assert_eq!(store.sweep(9).await.unwrap(), [session("s")]);
    assert_eq!(lives(&mut admin, &namespace).await, Vec::<i64>::new());
}

#[tokio::test]
async fn expiry_goes_by_the_time_of_the_server() {
    let server = RedisServer::shared();
    let store = open(&server.url(&namespace()), Settings::default()).await.unwrap();
    let mut journal = JournalWriter::new(&store, "s");
    journal.expires_at = Some(store.now().await.unwrap().plus_seconds(-1));
    journal.write([claiming(&["k"])]).await;
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
    assert_eq!(store.sweep(9).await.unwrap(), [journal.session]);
}

#[tokio::test]
async fn a_sweep_names_what_the_server_has_removed_by_itself() {
    let fixture = Native::fresh().await;
    let store = fixture.open().await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1;
    let mut journal = JournalWriter::new(&store, "s");
    journal.expires_at = Some(fixture.clock().now().plus_seconds(60));
    journal.write([claiming(&["k"])]).await;
    let mut admin = Admin::of(&fixture.server).await;
    admin.tell::<()>(&format!("UNLINK {{{namespace}}}:s:journal")).await;
    fixture.clock().advance_seconds(86_500);
    assert_eq!(store.sessions(None, 9).await.unwrap(), [], "a list shows what is there");
    assert_eq!(store.sweep(9).await.unwrap(), [session("s")]);
    assert_eq!(store.sweep(9).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_that_expired_hold_nobody_up() {
    let server = RedisServer::start();
    let clock = fixtures::clock();
    let store: Arc<dyn Store> = fixtures::open(&server.url("x"), &clock).await;
    let mut admin = Admin::of(&server).await;
    // One that is really written shows what the others must look like.
    let mut journal = JournalWriter::new(&store, "model");
    journal.expires_at = Some(clock.now().plus_seconds(1));
    journal.write([claiming(&["k"])]).await;
    let copy = "for\ti=1,100000\tdo\tlocal\tid='s'..i;redis.call('COPY','{x}:model:journal','{x}:'..id..':journal');\
                redis.call('ZADD','{x}:sessions',0,id);redis.call('ZADD','{x}:expiry',1,id);end";
    admin.eval(copy).await;
    clock.advance_seconds(10);
    let sweeping = tokio::spawn({
        let store = store.clone();
        async move { store.sweep(usize::MAX).await.unwrap().len() }
    });
    let other = fixtures::open(&server.url("x"), &clock).await;
    let mut meanwhile = 0;
    while !sweeping.is_finished() {
        let session = format!("new{meanwhile}");
        soon("an append", JournalWriter::with(&other, &session, "a")).await;
        meanwhile += 1;
    }
    assert_eq!(sweeping.await.unwrap(), 100_001);
    // What is swept in one piece lets one append through, before it or behind it.
    assert!(meanwhile > 10, "{meanwhile} appends came through meanwhile");
    let later = Timestamp::from_millis(1_700_000_100_000).unwrap();
    clock.set(later);
    assert_eq!(store.sweep(9).await.unwrap(), []);
}
