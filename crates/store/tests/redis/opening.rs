//! Which servers are opened, and what is said of those that are not.

use callboard_core::time::Timestamp;
use callboard_store::{
    Durability, Error, RedisStore, Settings, Store as _,
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, claiming, note},
    },
    open,
    testing::RedisServer,
};

use super::fixtures::{self, Admin, Native, namespace};

async fn refusal(url: &str, durability: Durability) -> String {
    let error = RedisStore::open(url, Settings { durability, ..Settings::default() }).await.unwrap_err();
    assert_eq!(error.code(), "store_cannot_open", "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_url_opens_a_namespace_of_its_own() {
    let server = RedisServer::shared();
    let [one, other] = [namespace(), namespace()];
    let store = open(&server.url(&one), Settings::default()).await.unwrap();
    assert_eq!(store.durability(), Durability::Normal);
    assert_eq!(JournalWriter::with(&store, "s", "a b").await.texts().await, ["a", "b"]);
    let other = open(&server.url(&other), Settings::default()).await.unwrap();
    assert_eq!(other.sessions(None, 9).await.unwrap(), []);
}

#[tokio::test]
async fn durability_is_what_the_server_gives_and_never_less_than_asked() {
    let server = RedisServer::durable();
    let settings = Settings { durability: Durability::Full, ..Settings::default() };
    assert_eq!(RedisStore::open(&server.url("x"), settings).await.unwrap().durability(), Durability::Full);
    drop(server);

    let server = RedisServer::shared();
    let why = refusal(&server.url("x"), Durability::Full).await;
    assert!(why.contains("`appendonly yes` and `appendfsync always`"), "{why}");

    let server = RedisServer::with(&["--appendonly", "no"]);
    let why = refusal(&server.url("x"), Durability::Normal).await;
    assert!(why.contains("set `appendonly yes`, or add ?durability=process"), "{why}");
    let store = open(&format!("{}&durability=process", server.url("x")), Settings::default()).await.unwrap();
    assert_eq!(store.durability(), Durability::Process);
}

#[tokio::test]
async fn a_wrong_password_is_told_without_repeating_it() {
    let server = RedisServer::with(&["--appendonly", "yes", "--requirepass", "sesame"]);
    let url = |who: &str| format!("redis://{who}127.0.0.1:{}", server.port());
    let why = refusal(&url(""), Durability::Normal).await;
    assert!(why.contains("it requires a password"), "{why}");
    let why = refusal(&url(":barley@"), Durability::Normal).await;
    assert!(why.contains("password"), "{why}");
    assert!(!why.contains("barley"), "{why}");
    let store = RedisStore::open(&url(":sesame@"), Settings::default()).await.unwrap();
    assert!(!format!("{store:?}").contains("sesame"));
    assert_eq!(store.sessions(None, 1).await.unwrap(), []);
}

#[tokio::test]
async fn where_settings_may_not_be_asked_for_what_info_says_counts() {
    let server = RedisServer::start();
    let mut admin = Admin::of(&server).await;
    admin.tell::<()>("ACL SETUSER app on >pass ~* &* +@all -config").await;
    let store = RedisStore::open(&format!("redis://app:pass@127.0.0.1:{}", server.port()), Settings::default()).await;
    assert_eq!(store.unwrap().durability(), Durability::Normal);
}

#[tokio::test]
async fn a_server_that_drops_data_is_opened_where_that_is_said_to_be_well() {
    let server = RedisServer::with(&["--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"]);
    let why = refusal(&server.url("x"), Durability::Normal).await;
    assert!(why.contains("maxmemory-policy allkeys-lru"), "{why}");
    open(&format!("{}&allow_eviction=true", server.url("x")), Settings::default()).await.unwrap();
}

#[tokio::test]
async fn a_replica_is_refused() {
    let primary = RedisServer::shared();
    let replica = RedisServer::with(&["--replicaof", &format!("127.0.0.1 {}", primary.port())]);
    let why = refusal(&replica.url("x"), Durability::Process).await;
    assert!(why.contains("name the primary"), "{why}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_empty_store() {
    let mut server = RedisServer::start();
    let store = open(&server.url("x"), Settings::default()).await.unwrap();
    server.kill();
    let why = refusal(&server.url("x"), Durability::Normal).await;
    assert!(why.contains("cannot be reached"), "{why}");
    assert_eq!(store.sessions(None, 9).await.unwrap_err().code(), "store_failed");
    assert_eq!(store.row(&"s".parse().unwrap()).await.unwrap_err().code(), "store_failed");
    assert_eq!(store.now().await.unwrap_err().code(), "store_failed");
}

#[tokio::test]
async fn a_server_whose_memory_is_full_takes_nothing_and_keeps_what_is_in_use() {
    let server = RedisServer::start();
    let clock = fixtures::clock();
    let store = fixtures::open(&server.url("x"), &clock).await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut admin = Admin::of(&server).await;
    admin.tell::<()>("CONFIG SET maxmemory 1").await;
    let error = journal.try_write([claiming(&["k"])]).await.unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error}");
    let error = JournalWriter::new(&store, "new").try_write([note("a")]).await.unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error}");
    let later = Some(Timestamp::from_millis(4_000_000_000_000).unwrap());
    assert_eq!(store.touch(&journal.session, later).await.unwrap().unwrap().expires_at, later);
    assert_eq!(journal.texts().await, ["a"]);
    assert_eq!(store.sessions(None, 9).await.unwrap().len(), 1);
    admin.tell::<()>("CONFIG SET maxmemory 0").await;
    journal.write([claiming(&["k"])]).await;
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() {
    let fixture = Native::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    Admin::of(&fixture.server).await.tell::<()>("SCRIPT FLUSH").await;
    journal.write([note("b")]).await;
    assert_eq!(journal.texts().await, ["a", "b"]);
}

#[tokio::test]
async fn a_damaged_journal_is_told_and_not_taken_for_a_shorter_one() {
    let fixture = Native::fresh().await;
    let journal = JournalWriter::with(&fixture.open().await, "s", "a b c").await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1;
    let mut admin = Admin::of(&fixture.server).await;
    admin.tell::<()>(&format!("HDEL {{{namespace}}}:s:journal 2")).await;
    let error = journal.store.read(&journal.session, callboard_store::conformance::everything()).await.unwrap_err();
    assert_eq!(error.to_string(), "entry 2 is damaged: it is not in the journal; run `callboard doctor`");
}

#[tokio::test]
async fn a_namespace_of_another_format_is_refused() {
    let fixture = Native::fresh().await;
    fixture.open().await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1;
    Admin::of(&fixture.server).await.tell::<()>(&format!("SET {{{namespace}}}:format 7")).await;
    let error = RedisStore::open(&fixture.url, Settings::default()).await.unwrap_err();
    assert!(matches!(error, Error::WrittenByNewer { found: 7, known: 6, .. }), "{error}");
    Admin::of(&fixture.server).await.tell::<()>(&format!("SET {{{namespace}}}:format 5")).await;
    let why = refusal(&fixture.url, Durability::Normal).await;
    assert!(
        why.contains("an older version made it in format 5, and this version reads 6: `callboard export`"),
        "{why}"
    );
}

#[tokio::test]
async fn a_server_that_says_nothing_holds_nobody_up_for_ever() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let opening = tokio::time::timeout(std::time::Duration::from_secs(45), refusal(&url, Durability::Normal));
    let why = opening.await.expect("it gives up");
    assert!(why.contains("timed out") || why.contains("timeout"), "{why}");
}
