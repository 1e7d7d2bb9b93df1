//! What is in the tables: what others see there, and what is removed when.

use std::{collections::BTreeSet, future::poll_fn, sync::Arc, time::Duration};

use callboard_core::entry::Hash;
use callboard_store::{
    Clock as _, Error,
    conformance::{
        Fixture as _, everything,
        journal_writer::{JournalWriter, claiming, note},
        session,
    },
};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use tokio_postgres::{AsyncMessage, NoTls};

use crate::{config, connect, fixture::Postgres, sql};

#[tokio::test]
async fn the_rows_of_a_deleted_session_are_removed() {
    let fixture = Postgres::fresh().await;
    let store = fixture.open().await;
    let mut gone = JournalWriter::new(&store, "gone");
    gone.write((0..3000).map(|n| claiming(&[&n.to_string()]))).await;
    let mut batch = gone.batch([note("with a value")]);
    batch.values.push((Hash::of(b"large"), "large".into()));
    gone.append(batch).await.unwrap();
    store.put_snapshot(&gone.session, gone.head, Arc::from(*b"state")).await.unwrap();
    JournalWriter::with(&store, "kept", "a").await;
    store.delete(&gone.session).await.unwrap();
    let left = "SELECT (SELECT count(*) FROM entry) + (SELECT count(*) FROM claim) + (SELECT count(*) FROM subject)
        + (SELECT count(*) FROM value) + (SELECT count(*) FROM snapshot) || ''";
    // An entry and a subject of the one that is kept.
    let removed = async { while sql(fixture.url(), left).await != ["2"] {} };
    timeout(Duration::from_secs(60), removed).await.expect("all rows are removed");
}

#[tokio::test]
async fn people_can_read_the_journal_in_a_view() {
    let fixture = Postgres::fresh().await;
    let mut journal = JournalWriter::new(&fixture.open().await, "demo");
    journal.write([note("hello"), note("nul\0")]).await;
    let rows = "SELECT concat_ws(' | ', seq, at AT TIME ZONE 'UTC', \"by\", type, subject, audience, data) FROM journal
        WHERE session = 'demo' ORDER BY seq";
    assert_eq!(
        sql(fixture.url(), rows).await,
        [
            "1 | 2023-11-14 22:13:20 | user | note.made | thread:main | all | hello",
            "2 | 2023-11-14 22:13:20 | user | note.made | thread:main | all | nul\\000",
        ]
    );
}

#[tokio::test]
async fn a_damaged_row_is_said_to_be_damaged() {
    let fixture = Postgres::fresh().await;
    let journal = JournalWriter::with(&fixture.open().await, "s", "a b").await;
    sql(fixture.url(), "UPDATE entry SET tag = '\\x00' WHERE seq = 2").await;
    let error = journal.store.read(&journal.session, everything()).await.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_together_is_told_together() {
    let fixture = Postgres::fresh().await;
    let store = fixture.open().await;
    let (listener, mut connection) = config(fixture.url()).connect(NoTls).await.unwrap();
    let (told, mut notifications) = mpsc::channel(1000);
    let hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                told.send(notification.payload().to_owned()).await.unwrap();
            }
        }
    });
    let namespace = fixture.url().split_once("namespace=").unwrap().1;
    listener.batch_execute(&format!("LISTEN \"callboard:{namespace}\"")).await.unwrap();

    let mut writers = JoinSet::new();
    for n in 0..100 {
        let mut journal = JournalWriter::new(&store, &format!("s{n}"));
        writers.spawn(async move { journal.write([note("a")]).await });
    }
    writers.join_all().await;
    let (mut named, mut count) = (BTreeSet::new(), 0);
    let all = async {
        while named.len() < 100 {
            let notification: String = notifications.recv().await.unwrap();
            count += 1;
            let names = notification.split(' ').filter_map(|word| word.split_once('/'));
            named.extend(names.map(|(name, _)| name.to_owned()));
        }
    };
    timeout(Duration::from_secs(60), all).await.expect("all are told");
    assert!(count < 100, "{count} notifications");
    hearing.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_author_told_nobody_is_found() {
    let fixture = Postgres::fresh().await;
    let (here, there) = (fixture.open().await, fixture.open().await);
    let journal = JournalWriter::with(&there, "s", "a").await;
    let mut watcher = here.watch();
    // As if the author had died between the two.
    sql(fixture.url(), "UPDATE session SET change = this_change() WHERE name = 's'").await;
    let named = async { while watcher.recv().await.unwrap() != journal.session {} };
    timeout(Duration::from_secs(60), named).await.expect("the change is found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_somebody_holds_is_swept_by_nobody_and_holds_nobody_up() {
    let fixture = Postgres::fresh().await;
    let store = fixture.open().await;
    for id in ["held", "free"] {
        let mut journal = JournalWriter::new(&store, id);
        journal.expires_at = Some(fixture.clock().now().plus_seconds(1));
        journal.write([note("a")]).await;
    }
    fixture.clock().advance_seconds(1);
    let mut holder = connect(fixture.url()).await;
    let transaction = holder.transaction().await.unwrap();
    transaction.execute("SELECT FROM session WHERE name = 'held' FOR UPDATE", &[]).await.unwrap();
    assert_eq!(store.sweep(9).await.unwrap(), [session("free")]);
    // Who holds it has touched it, which wins.
    let later = fixture.clock().now().plus_seconds(60).as_millis();
    transaction.execute("UPDATE session SET expires_at = $1 WHERE name = 'held'", &[&later]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(store.sweep(9).await.unwrap(), []);
    assert!(store.row(&session("held")).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_sweep_at_once_sweep_each_session_once() {
    let fixture = Postgres::fresh().await;
    let stores = [fixture.open().await, fixture.open().await];
    sql(
        fixture.url(),
        "INSERT INTO session (seq, tag, expires_at, last_activity, change, name)
         SELECT 1, '\\x00000000000000000000000000000001', 1, 1, this_change(), 's' || n FROM generate_series(1, 5000) n",
    )
    .await;
    let (one, other) = tokio::join!(stores[0].sweep(usize::MAX), stores[1].sweep(usize::MAX));
    let mut swept = [one.unwrap(), other.unwrap()].concat();
    swept.sort();
    let count = swept.len();
    swept.dedup();
    assert_eq!((count, swept.len()), (5000, 5000));
    let none_left =
        async { while sql(fixture.url(), "SELECT count(*)::text FROM dead WHERE NOT emptied").await != ["0"] {} };
    timeout(Duration::from_secs(60), none_left).await.expect("all are emptied");
}
