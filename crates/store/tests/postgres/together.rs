//! Appends that are sent together: one flush for many, and what becomes of one is no other's business.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use callboard_core::entry::Entry;
use callboard_store::{
    Error, Store,
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, note},
    },
};
use tokio::{task::JoinSet, time::timeout};

use crate::{connect, fixture::Postgres, sql};

/// How many sessions are written to at once.
const SESSIONS: usize = 40;

/// How long something that is not held up may take on a busy machine; less than a lock is waited for.
const SOON: Duration = Duration::from_secs(20);

/// A journal for each of the sessions, which have an entry.
async fn journals(store: &Arc<dyn Store>) -> Vec<JournalWriter> {
    let mut journals = Vec::new();
    for n in 0..SESSIONS {
        journals.push(JournalWriter::with(store, &format!("s{n}"), "a").await);
    }
    journals
}

/// Writes with all at once; each answer with the name of its session.
async fn write(journals: &[JournalWriter]) -> Vec<(String, Result<Vec<Entry>, Error>)> {
    let mut writing = JoinSet::new();
    for mut journal in journals.iter().cloned() {
        writing.spawn(async move { (journal.session.to_string(), journal.try_write([note("b")]).await) });
    }
    timeout(SOON, writing.join_all()).await.expect("all are answered")
}

#[tokio::test]
async fn what_waits_is_committed_together() {
    let fixture = Postgres::fresh().await;
    let journals = journals(&fixture.open().await).await;
    assert!(write(&journals).await.iter().all(|(_, answer)| answer.is_ok()));
    let changes: BTreeSet<_> = sql(fixture.url(), "SELECT change::text FROM session").await.into_iter().collect();
    assert!(changes.len() < SESSIONS / 2, "{} transactions", changes.len());
}

#[tokio::test]
async fn one_that_the_server_refuses_takes_no_other_with_it() {
    let fixture = Postgres::fresh().await;
    let journals = journals(&fixture.open().await).await;
    sql(
        fixture.url(),
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON entry FOR EACH ROW
         WHEN (NEW.session = 7) EXECUTE FUNCTION refuse()",
    )
    .await;
    let refused = sql(fixture.url(), "SELECT name FROM session WHERE id = 7").await.remove(0);
    for (name, answer) in write(&journals).await {
        match answer {
            Err(Error::Failed { source, .. }) if name == refused => {
                assert!(source.to_string().contains("not this one"), "{source}");
            }
            answer => assert_eq!(answer.map(|entries| entries.len()).ok(), (name != refused).then_some(1), "{name}"),
        }
    }
    for journal in &journals {
        let texts: &[&str] = if journal.session.as_str() == refused { &["a"] } else { &["a", "b"] };
        assert_eq!(journal.texts().await, texts, "{}", journal.session);
    }
}

#[tokio::test]
async fn one_whose_session_somebody_holds_holds_up_no_other() {
    let fixture = Postgres::fresh().await;
    let journals = journals(&fixture.open().await).await;
    let mut holder = connect(fixture.url()).await;
    let transaction = holder.transaction().await.unwrap();
    transaction.execute("SELECT FROM session WHERE name = 's0' FOR UPDATE", &[]).await.unwrap();
    let mut held = journals[0].clone();
    let waiting = tokio::spawn(async move { held.try_write([note("b")]).await });
    for (name, answer) in write(&journals[1..]).await {
        assert!(answer.is_ok(), "{name}: {answer:?}");
    }
    assert!(!waiting.is_finished());
    transaction.commit().await.unwrap();
    let answer = timeout(SOON, waiting).await.expect("it is answered").unwrap();
    assert_eq!(answer.map(|entries| entries.len()).ok(), Some(1));
}
