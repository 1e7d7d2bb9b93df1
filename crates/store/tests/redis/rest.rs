//! What is particular to REST: tokens, and what stands between us and the server.

use callboard_store::{
    Durability, RedisStore, Settings,
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, note},
    },
    testing::Fault,
};

use super::fixtures::Rest;

fn asked(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[tokio::test]
async fn a_wrong_token_is_told_without_repeating_it() {
    let fixture = Rest::fresh().await;
    let error = RedisStore::open(&fixture.proxy.url_with("wrong-token", "x"), Settings::default()).await.unwrap_err();
    assert!(error.to_string().contains("the token is refused"), "{error}");
    assert!(!format!("{error:?} {error}").contains("wrong-token"));
    let store = RedisStore::open(&fixture.url, Settings::default()).await.unwrap();
    assert!(!format!("{store:?}").contains("ken"));
}

#[tokio::test]
async fn full_durability_is_what_the_provider_promises() {
    let fixture = Rest::fresh().await;
    let error = RedisStore::open(&fixture.url, asked(Durability::Full)).await.unwrap_err();
    assert!(error.to_string().contains("?durability=full"), "{error}");
    let said = format!("{}&durability=full", fixture.url);
    use callboard_store::Store as _;
    assert_eq!(RedisStore::open(&said, asked(Durability::Full)).await.unwrap().durability(), Durability::Full);
    assert_eq!(RedisStore::open(&fixture.url, Settings::default()).await.unwrap().durability(), Durability::Normal);
}

#[tokio::test]
async fn a_request_that_was_not_taken_is_sent_again() {
    let fixture = Rest::fresh().await;
    let mut journal = JournalWriter::with(&fixture.open().await, "s", "a").await;
    let before = fixture.proxy.requests();
    fixture.proxy.fail_next_request(Fault::TooMany);
    journal.write([note("b")]).await;
    assert_eq!(fixture.proxy.requests(), before + 2);
    assert_eq!(journal.texts().await, ["a", "b"]);
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_and_never_nothing() {
    let fixture = Rest::fresh().await;
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a").await;
    for (fault, expected) in [
        (Fault::Page, "without JSON of the REST protocol"),
        (Fault::Redirect, "use the URL that it redirects to"),
        (Fault::AnswerLost, "504"),
    ] {
        fixture.proxy.fail_next_request(fault);
        let error = store.row(&journal.session).await.unwrap_err();
        let why = std::error::Error::source(&error).unwrap().to_string();
        assert!(why.contains(expected), "{fault:?}: {why}");
        assert_eq!(error.code(), "store_failed");
    }
    assert_eq!(store.row(&journal.session).await.unwrap().unwrap().head, journal.head);
}

#[tokio::test]
async fn nobody_asks_for_changes_while_nobody_watches() {
    let fixture = Rest::fresh().await;
    let store = fixture.open().await;
    JournalWriter::with(&store, "s", "a").await;
    // The server knows the script from then on.
    store.row(&"s".parse().unwrap()).await.unwrap();
    let before = fixture.proxy.requests();
    for _ in 0..10 {
        store.row(&"s".parse().unwrap()).await.unwrap();
    }
    assert_eq!(fixture.proxy.requests(), before + 10);
}

#[tokio::test]
async fn both_ways_lead_to_the_same_sessions() {
    let fixture = Rest::fresh().await;
    let namespace = fixture.url.split_once("namespace=").unwrap().1.split_once('&').unwrap().0;
    let native = super::fixtures::open(&fixture.server.url(namespace), fixture.clock()).await;
    let mut journal = JournalWriter::with(&fixture.open().await, "s", "a").await;
    let there = JournalWriter { store: native, ..journal.clone() };
    assert_eq!(there.read().await, journal.read().await);
    let mut there = there;
    there.write([note("b")]).await;
    journal.head = there.head;
    journal.write([note("c")]).await;
    assert_eq!(there.texts().await, ["a", "b", "c"]);
}
