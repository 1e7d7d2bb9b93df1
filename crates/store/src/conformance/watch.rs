use callboard_core::id::SessionId;
use tokio::sync::broadcast::{Receiver, error::TryRecvError};

use super::{
    Fixture,
    pen::{Pen, note},
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
    let mut pen = Pen::with(&store, "s", "a").await;
    assert!(drain(&mut watcher).contains(&pen.session), "its making");
    pen.write([note("b")]).await;
    assert!(drain(&mut watcher).contains(&pen.session), "an append");
    store.touch(&pen.session, Some(seconds(1))).await.unwrap();
    assert!(drain(&mut watcher).contains(&pen.session), "a touch");
    store.sweep(1).await.unwrap();
    assert!(drain(&mut watcher).contains(&pen.session), "a sweep");
    Pen::with(&store, "s", "a").await;
    store.delete(&pen.session).await.unwrap();
    assert!(drain(&mut watcher).contains(&pen.session), "a deletion");
}

pub async fn what_another_handle_does_is_named(fixture: &impl Fixture) {
    let (here, there) = (fixture.open().await, fixture.open().await);
    let mut watcher = here.watch();
    let mut pen = Pen::with(&there, "s", "a").await;
    named(&mut watcher, &pen.session).await;
    pen.write([note("b")]).await;
    named(&mut watcher, &pen.session).await;
    there.touch(&pen.session, None).await.unwrap();
    named(&mut watcher, &pen.session).await;
    there.delete(&pen.session).await.unwrap();
    named(&mut watcher, &pen.session).await;
    // What was deleted and made again has numbers that were there before.
    Pen::with(&there, "s", "a").await;
    named(&mut watcher, &pen.session).await;
}

pub async fn nothing_is_named_when_nothing_changed(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut pen = Pen::with(&store, "s", "a").await;
    let mut watcher = store.watch();
    Pen::new(&store, "s").try_write([note("again")]).await.unwrap_err();
    assert!(!store.delete(&session("nobody")).await.unwrap());
    assert_eq!(store.touch(&session("nobody"), None).await.unwrap(), None);
    store.sweep(9).await.unwrap();
    pen.read().await;
    assert_eq!(watcher.try_recv(), Err(TryRecvError::Empty));
    pen.write([note("b")]).await;
    named(&mut watcher, &pen.session).await;
}
