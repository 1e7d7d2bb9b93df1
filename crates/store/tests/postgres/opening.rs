//! Opening: what is refused, in which words, and who makes the tables.

use callboard_store::{
    Durability, Error, PostgresStore, Settings, Store as _,
    conformance::{Fixture as _, journal_writer::JournalWriter},
    open,
    testing::PostgresServer,
};
use tokio::task::JoinSet;

use crate::{fixture::Postgres, sql};

/// The words of a refusal.
async fn why(url: &str) -> String {
    match PostgresStore::open(url, Settings::default()).await {
        Err(error @ Error::CannotOpen { .. }) => {
            let words = error.to_string();
            assert!(!format!("{words} {error:?}").contains("hunter2"), "{error:?}");
            words
        }
        other => panic!("expected a refusal, not {other:?}"),
    }
}

async fn server() -> &'static PostgresServer {
    tokio::task::spawn_blocking(PostgresServer::shared).await.unwrap()
}

#[tokio::test]
async fn a_url_opens_a_namespace_and_says_what_is_promised() {
    let fixture = Postgres::fresh().await;
    let full = Settings { durability: Durability::Full, ..Settings::default() };
    let store = open(fixture.url(), full).await.unwrap();
    assert_eq!(store.durability(), Durability::Full);
    assert_eq!(JournalWriter::with(&store, "s", "a b").await.texts().await, ["a", "b"]);
    let other = open(&fixture.url().replace("postgres://", "postgresql://"), Settings::default()).await.unwrap();
    assert_eq!(other.sessions(None, 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn more_than_the_settings_give_is_not_promised() {
    let fixture = Postgres::fresh().await;
    let url = format!("{}&options=-c%20synchronous_commit%3Doff", fixture.url());
    let store = PostgresStore::open(&url, Settings::default()).await.unwrap();
    assert_eq!(store.durability(), Durability::Normal);
    let full = Settings { durability: Durability::Full, ..Settings::default() };
    let refused = PostgresStore::open(&url, full).await.unwrap_err().to_string();
    assert!(refused.contains("give less durability than `full` (synchronous_commit=off)"), "{refused}");
}

#[tokio::test]
async fn a_server_that_does_not_flush_promises_nothing() {
    let server = tokio::task::spawn_blocking(|| PostgresServer::start_with(&["fsync = off"])).await.unwrap();
    let refused = why(&server.url("n")).await;
    assert!(refused.contains("give less durability than `normal` (fsync=off)"), "{refused}");
    let nothing = Settings { durability: Durability::Process, ..Settings::default() };
    let store = PostgresStore::open(&server.url("n"), nothing).await.unwrap();
    assert_eq!(store.durability(), Durability::Process);
    drop(store);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_said_to_be_wrong_and_not_shown() {
    let server = server().await;
    sql(&server.url("x"), "CREATE ROLE guarded LOGIN PASSWORD 'right'").await;
    let words = why(&format!("postgres://guarded:hunter2@127.0.0.1:{}/postgres", server.port())).await;
    assert!(words.contains("refuses the login of guarded"), "{words}");
    assert!(words.contains("check user and password in the URL"), "{words}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_said_how_to_make() {
    let words = why(&format!("postgres://postgres:hunter2@127.0.0.1:{}/nowhere", server().await.port())).await;
    assert!(words.contains("create it with `createdb nowhere`"), "{words}");
}

#[tokio::test]
async fn who_may_not_make_the_schema_is_told_who_may() {
    let server = server().await;
    sql(&server.url("x"), "CREATE ROLE modest LOGIN").await;
    let words = why(&format!("postgres://modest:hunter2@127.0.0.1:{}/postgres?namespace=modest", server.port())).await;
    assert!(words.contains("GRANT CREATE ON DATABASE postgres"), "{words}");
}

#[tokio::test]
async fn a_port_where_nobody_answers_is_named() {
    // Bound, and not listening any more once this is dropped.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let words = why(&format!("postgres://me:hunter2@127.0.0.1:{port}/d")).await;
    assert!(words.contains(&format!("no connection with the server at 127.0.0.1:{port}")), "{words}");
}

#[tokio::test]
async fn a_host_that_says_nothing_is_given_up() {
    // It takes the connection and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let words = why(&format!("postgres://me:hunter2@127.0.0.1:{port}/d?connect_timeout=1")).await;
    assert!(words.contains(&format!("127.0.0.1:{port}")), "{words}");
    assert!(words.contains("time"), "{words}");
}

#[tokio::test]
async fn a_server_that_only_reads_is_refused() {
    let fixture = Postgres::fresh().await;
    let words = why(&format!("{}&options=-c%20default_transaction_read_only%3Don", fixture.url())).await;
    assert!(words.contains("is read-only: name the primary"), "{words}");
}

#[tokio::test]
async fn another_format_is_refused_and_left_alone() {
    let fixture = Postgres::fresh().await;
    JournalWriter::with(&fixture.open().await, "s", "a").await;
    sql(fixture.url(), "UPDATE callboard_format SET format = 3").await;
    let words = why(fixture.url()).await;
    assert!(
        words.contains("an older version made it in format 3, and this version reads 4: `callboard export`"),
        "{words}"
    );
    sql(fixture.url(), "UPDATE callboard_format SET format = 7").await;
    let error = PostgresStore::open(fixture.url(), Settings::default()).await.unwrap_err();
    assert!(matches!(error, Error::WrittenByNewer { found: 7, known: 4, .. }), "{error}");
}

#[tokio::test]
async fn a_schema_of_another_program_is_refused_and_left_alone() {
    let server = server().await;
    sql(&server.url("x"), "CREATE SCHEMA theirs; CREATE TABLE theirs.t (x integer)").await;
    let words = why(&server.url("theirs")).await;
    assert!(words.contains("has tables of another program"), "{words}");
    sql(&server.url("theirs"), "INSERT INTO t VALUES (1)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_that_open_a_new_namespace_at_once_make_it_once() {
    let fixture = Postgres::fresh().await;
    let mut opening = JoinSet::new();
    for n in 0..8 {
        let (url, settings) = (fixture.url().to_owned(), fixture.settings());
        opening.spawn(async move {
            let store = PostgresStore::open(&url, settings).await.unwrap();
            JournalWriter::with(&(std::sync::Arc::new(store) as _), &format!("s{n}"), "a").await;
        });
    }
    opening.join_all().await;
    assert_eq!(fixture.open().await.sessions(None, 100).await.unwrap().len(), 8);
}

#[tokio::test]
async fn without_a_clock_of_a_test_the_time_is_that_of_the_database() {
    let fixture = Postgres::fresh().await;
    let store = open(fixture.url(), Settings::default()).await.unwrap();
    let asked = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text";
    let before: i64 = sql(fixture.url(), asked).await[0].parse().unwrap();
    let now = store.now().await.unwrap();
    let after: i64 = sql(fixture.url(), asked).await[0].parse().unwrap();
    assert!((before..=after).contains(&now.as_millis()));

    let mut journal = JournalWriter::new(&store, "s");
    journal.expires_at = Some(now.plus_seconds(-1));
    journal.write([callboard_store::conformance::journal_writer::note("gone at once")]).await;
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
    assert_eq!(store.sweep(9).await.unwrap(), [journal.session]);
}
