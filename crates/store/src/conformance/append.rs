use callboard_core::{
    audience::Audience,
    entry::{Actor, Draft, Entry, Hash, Head, Tag},
    id::Seq,
    time::Timestamp,
};

use super::{
    Fixture, everything,
    journal_writer::{JournalWriter, claiming, note},
    seconds, session,
};
use crate::{Append, Error, JournalKind, Row};

pub async fn what_is_appended_comes_back_exactly_as_it_was(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let [a, b] = ["writer", "@team/b.c"].map(|name| name.parse().unwrap());
    let rich = Draft {
        v: u16::MAX,
        kind: "context_set.updated".into(),
        subject: "set:Façade of the day".into(),
        audience: Audience::of([a, b]),
        time: Some(Timestamp::from_millis(-1).unwrap()),
        keys: vec!["message:main/greeting-1".into(), "request:7".into()],
        data: "{\"content\": \"two  spaces\",\n \"z\":1.0, \"a\":1e2}".into(),
    };
    let hidden = Draft { audience: Audience::None, v: 0, data: "".into(), ..note("") };
    let mut head = Head::default();
    let mut entries = vec![];
    let written = [("user", None, rich), ("system", Some(0), hidden), ("agent:user 2", Some(u32::MAX), note("x"))];
    for (by, nonce, draft) in written {
        let by: Actor = by.parse().unwrap();
        let entry = Entry::seal(head, seconds(1_700_000_000 - 5 * head.seq.0 as i64), by, nonce, draft);
        head = entry.head();
        entries.push(entry);
    }
    let batch = Append::of(session("s"), JournalKind::Session, Head::default(), entries.clone());
    store.append(batch).await.unwrap();
    assert_eq!(store.read(&session("s"), everything()).await.unwrap(), entries);
}

pub async fn a_batch_is_appended_whole_or_not_at_all(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    journal.write([claiming(&["taken"])]).await;
    let before = store.row(&journal.session).await.unwrap();

    let mut batch = journal.batch([note("a"), note("b"), claiming(&["taken"]), note("d")]);
    let hash = Hash::of(b"large");
    batch.values = vec![(hash, "large".into())];
    batch.expires_at = Some(seconds(4_000_000_000));
    let error = journal.append(batch).await.unwrap_err();
    assert!(matches!(error, Error::KeyTaken { .. }), "{error}");

    assert_eq!(journal.texts().await, ["claims"]);
    assert_eq!(store.row(&journal.session).await.unwrap(), before);
    assert_eq!(store.value(&journal.session, hash).await.unwrap(), None);
    journal.write([note("a"), note("b"), note("c")]).await;
    assert_eq!(journal.texts().await, ["claims", "a", "b", "c"]);
}

pub async fn an_append_on_an_older_head_is_refused_and_told_what_is_there(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut late = journal.clone();
    journal.write([note("b")]).await;
    assert_conflict(late.try_write([note("lost")]).await, store.row(&journal.session).await.unwrap());
    late.head = journal.head;
    late.head.seq = Seq(9);
    assert_conflict(late.try_write([note("ahead")]).await, store.row(&journal.session).await.unwrap());
    assert_eq!(journal.texts().await, ["a", "b"]);
}

pub async fn the_same_number_with_another_tag_is_a_conflict(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a b").await;
    journal.head.tag = Tag([7; 16]);
    assert_conflict(journal.try_write([note("other past")]).await, store.row(&journal.session).await.unwrap());
    assert_eq!(journal.texts().await, ["a", "b"]);
}

pub async fn a_session_is_created_once(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "first").await;
    let found = store.row(&journal.session).await.unwrap();
    assert!(found.is_some());
    assert_conflict(JournalWriter::new(&store, "s").try_write([note("second")]).await, found);
    assert_eq!(journal.texts().await, ["first"]);
}

pub async fn an_append_to_a_session_that_is_not_there_finds_nothing(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    journal.head = Head { seq: Seq(3), tag: Tag([1; 16]) };
    assert_conflict(journal.try_write([note("on nothing")]).await, None);
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
}

pub async fn an_empty_or_misnumbered_batch_is_refused(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut gap = journal.batch([note("b"), note("c"), note("d")]);
    gap.entries.remove(1);
    for (batch, wrong) in [(journal.batch([]), None), (gap, Some(Seq(4)))] {
        let error = journal.append(batch).await.unwrap_err();
        assert!(
            matches!(error, Error::Misnumbered { expected, found } if expected == Seq(1) && found == wrong),
            "{error}"
        );
    }
    assert_eq!(journal.texts().await, ["a"]);
}

fn assert_conflict(answer: Result<Vec<Entry>, Error>, there: Option<Row>) {
    match answer {
        Err(Error::Conflict { found }) => assert_eq!(found, there),
        other => panic!("expected a conflict, not {other:?}"),
    }
}
