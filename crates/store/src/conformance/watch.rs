use callboard_core::id::SessionId;
use tokio::sync::broadcast::{Receiver, error::TryRecvError};

use super::{
    Fixture,
    journal_writer::{JournalWriter, note},
    seconds, session, soon,
};

/// Waits until `expected` is named.
async fn named(watcher: &mut Receiver<SessionId>, expected: &SessionId) {
    soon(&format!("word of {expected}"), async { while watcher.recv().await.unwrap() != *expected {} }).await;
}

/// Takes everything that was named so far.
fn drain(watcher: &mut Receiver<SessionId>) -> Vec<SessionId> {
    std::iter::from_fn(|| watcher.try_recv().ok()).collect()
}

pub async fn an_append_a_touch_and_a_deletion_are_named(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut watcher = store.watch();
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    assert!(drain(&mut watcher).contains(&journal.session), "its making");
    journal.write([note("b")]).await;
    assert!(drain(&mut watcher).contains(&journal.session), "an append");
    store.touch(&journal.session, Some(seconds(1))).await.unwrap();
    assert!(drain(&mut watcher).contains(&journal.session), "a touch");
    store.sweep(1).await.unwrap();
    assert!(drain(&mut watcher).contains(&journal.session), "a sweep");
    JournalWriter::with(&store, "s", "a").await;
    store.delete(&journal.session).await.unwrap();
    assert!(drain(&mut watcher).contains(&journal.session), "a deletion");
}

pub async fn what_another_handle_does_is_named(fixture: &impl Fixture) {
    let (here, there) = (fixture.open().await, fixture.open().await);
    let mut watcher = here.watch();
    let mut journal = JournalWriter::with(&there, "s", "a").await;
    named(&mut watcher, &journal.session).await;
    journal.write([note("b")]).await;
    named(&mut watcher, &journal.session).await;
    there.touch(&journal.session, None).await.unwrap();
    named(&mut watcher, &journal.session).await;
    there.delete(&journal.session).await.unwrap();
    named(&mut watcher, &journal.session).await;
    // What was deleted and made again has numbers that were there before.
    JournalWriter::with(&there, "s", "a").await;
    named(&mut watcher, &journal.session).await;
}

pub async fn nothing_is_named_when_nothing_changed(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut watcher = store.watch();
    JournalWriter::new(&store, "s").try_write([note("again")]).await.unwrap_err();
    assert!(!store.delete(&session("nobody")).await.unwrap());
    assert_eq!(store.touch(&session("nobody"), None).await.unwrap(), None);
    store.sweep(9).await.unwrap();
    journal.read().await;
    assert_eq!(watcher.try_recv(), Err(TryRecvError::Empty));
    journal.write([note("b")]).await;
    named(&mut watcher, &journal.session).await;
}
