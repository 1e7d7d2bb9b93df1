use std::sync::Arc;

use callboard_core::id::SessionId;

use super::{
    Fixture,
    journal_writer::{JournalWriter, note},
    seconds, session,
};
use crate::{Append, Clock as _, JournalKind, Row, Store};

pub async fn a_row_says_where_the_journal_ends(fixture: &impl Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.row(&session("s")).await.unwrap(), None);
    let mut journal = JournalWriter::with(&store, "s", "a b").await;
    let made = Row { head: journal.head, expires_at: None, last_activity: fixture.clock().now() };
    assert_eq!(store.row(&journal.session).await.unwrap(), Some(made));

    fixture.clock().advance_seconds(60);
    journal.expires_at = Some(fixture.clock().now().plus_seconds(3600));
    journal.write([note("c")]).await;
    let moved = Row { head: journal.head, expires_at: journal.expires_at, last_activity: fixture.clock().now() };
    assert_eq!(store.row(&journal.session).await.unwrap(), Some(moved));
    assert_eq!(store.now().await.unwrap(), fixture.clock().now());
}

pub async fn a_touch_moves_expiry_and_activity_and_nothing_else(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a b").await;
    fixture.clock().advance_seconds(7);
    let now = fixture.clock().now();
    for expires_at in [Some(now.plus_seconds(100)), Some(now.plus_seconds(50)), None] {
        let touched = Row { head: journal.head, expires_at, last_activity: now };
        assert_eq!(store.touch(&journal.session, expires_at).await.unwrap(), Some(touched));
        assert_eq!(store.row(&journal.session).await.unwrap(), Some(touched));
    }
    assert_eq!(journal.texts().await, ["a", "b"]);
    assert_eq!(store.touch(&session("nobody"), None).await.unwrap(), None);
    assert_eq!(store.row(&session("nobody")).await.unwrap(), None);
}

pub async fn sessions_are_listed_by_id_in_pages(fixture: &impl Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.sessions(None, 10).await.unwrap(), []);
    let mut ids = vec!["b", "a", "a.1", "B", "a:2", "a-3", "c_4", "10", "9"];
    for id in &ids {
        JournalWriter::with(&store, id, "x").await;
    }
    ids.sort_unstable();
    let mut listed = vec![];
    loop {
        let page = store.sessions(listed.last(), 2).await.unwrap();
        assert!(page.len() <= 2);
        for (id, row) in &page {
            assert_eq!(store.row(id).await.unwrap().as_ref(), Some(row));
        }
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|(id, _)| id));
    }
    assert_eq!(listed.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ids);
    assert_eq!(store.sessions(None, 0).await.unwrap(), []);
    assert_eq!(store.sessions(Some(&session("a.0")), usize::MAX).await.unwrap().len(), 4);
}

/// The ids of the sessions used last.
async fn recent(store: &Arc<dyn Store>, limit: usize) -> Vec<String> {
    let sessions = store.recent_sessions(limit).await.unwrap();
    for (id, row) in &sessions {
        assert_eq!(store.row(id).await.unwrap().as_ref(), Some(row));
    }
    sessions.into_iter().map(|(id, _)| id.to_string()).collect()
}

pub async fn sessions_are_listed_by_their_last_use(fixture: &impl Fixture) {
    let [store, other] = [fixture.open().await, fixture.open().await];
    assert_eq!(recent(&store, 9).await, [""; 0]);
    let mut journals = vec![];
    for id in ["b", "a", "d", "c"] {
        fixture.clock().advance_seconds(1);
        journals.push(JournalWriter::with(&store, id, "x").await);
    }
    assert_eq!(recent(&store, 9).await, ["c", "d", "a", "b"]);
    assert_eq!(recent(&store, 2).await, ["c", "d"]);
    assert_eq!(recent(&store, 0).await, [""; 0]);
    fixture.clock().advance_seconds(1);
    journals[0].write([note("y")]).await;
    fixture.clock().advance_seconds(1);
    other.touch(&session("a"), Some(fixture.clock().now().plus_seconds(5))).await.unwrap();
    assert_eq!(recent(&store, 3).await, ["a", "b", "c"]);
    // Enough for stores that put off what nobody waits for.
    for number in 0..700 {
        fixture.clock().advance_seconds(i64::from(number % 100 == 0));
        journals[2].write([note("z")]).await;
    }
    assert_eq!(recent(&other, 9).await, ["d", "b", "c"], "what has expired is not listed");
    store.delete(&session("d")).await.unwrap();
    assert_eq!(recent(&other, 1).await, ["b"]);
}

pub async fn unlisted_journals_are_no_sessions(fixture: &impl Fixture) {
    let store = fixture.open().await;
    for id in ["a", "b", "c", "d"] {
        fixture.clock().advance_seconds(1);
        let mut journal = JournalWriter::new(&store, id);
        for text in ["x", "y"] {
            let mut batch = journal.batch([note(text)]);
            if ["b", "d"].contains(&id) {
                batch.kind = JournalKind::Unlisted;
            }
            journal.append(batch).await.unwrap();
        }
    }
    let ids = |page: Vec<(SessionId, Row)>| page.into_iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>();
    store.touch(&session("b"), None).await.unwrap();
    assert_eq!(ids(store.journals(None, 9).await.unwrap()), ["a", "b", "c", "d"]);
    assert_eq!(ids(store.sessions(None, 9).await.unwrap()), ["a", "c"]);
    assert_eq!(ids(store.sessions(Some(&session("a")), 1).await.unwrap()), ["c"]);
    assert_eq!(recent(&store, 9).await, ["c", "a"]);
    // Who takes its name later is what it says.
    for (id, kind) in [("b", JournalKind::Session), ("c", JournalKind::Unlisted)] {
        store.delete(&session(id)).await.unwrap();
        let mut journal = JournalWriter::new(&store, id);
        let batch = Append { kind, ..journal.batch([note("z")]) };
        journal.append(batch).await.unwrap();
    }
    assert_eq!(ids(store.sessions(None, 9).await.unwrap()), ["a", "b"]);
    assert_eq!(recent(&store, 9).await, ["b", "a"]);
}

pub async fn what_is_deleted_is_gone_and_others_stay(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let gone = JournalWriter::furnished(&store, "gone", None).await;
    let other = JournalWriter::furnished(&store, "other", None).await;
    assert!(store.delete(&gone.session).await.unwrap());
    assert_eq!(store.row(&gone.session).await.unwrap(), None);
    assert_eq!(gone.has().await, [false; 4]);
    assert_eq!(other.has().await, [true; 4]);
    assert_eq!(store.sessions(None, 9).await.unwrap().len(), 1);
    assert_eq!(store.touch(&gone.session, Some(seconds(4_000_000_000))).await.unwrap(), None);
    assert!(!store.delete(&gone.session).await.unwrap(), "it is deleted once");
}

pub async fn a_session_that_was_deleted_starts_empty_again(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::furnished(&store, "s", None).await;
    store.delete(&journal.session).await.unwrap();
    let again = JournalWriter::with(&store, "s", "new").await;
    assert_eq!(again.texts().await, ["new"]);
    assert_eq!(again.has().await, [false; 4]);
    let mut late = journal;
    late.try_write([note("of the past")]).await.unwrap_err();
    assert_eq!(again.texts().await, ["new"]);
}
