use std::sync::Arc;

use callboard_core::{
    entry::{Draft, Entry, Hash},
    id::Seq,
};

use super::{
    Fixture,
    by_time::of_main,
    everything,
    journal_writer::{JournalWriter, about, claiming, note},
    seconds,
};
use crate::{Append, Error, Query, Rewrite, TimeQuery};

fn rewrite(seq: u64, data: &str) -> Rewrite {
    Rewrite { seq: Seq(seq), data: data.into() }
}

/// A batch that says `x`, and rewrites.
fn rewriting(journal: &JournalWriter, rewrites: &[(u64, &str)]) -> Append {
    Append { rewrites: rewrites.iter().map(|(seq, data)| rewrite(*seq, data)).collect(), ..journal.batch([note("x")]) }
}

pub async fn a_rewritten_entry_keeps_its_header_and_tag(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let rich = Draft { time: Some(seconds(7)), keys: vec!["k".into()], ..about("set:a\nb", "secret\nlines\n") };
    journal.write([note("one"), rich, note("three")]).await;
    let mut expected = journal.read().await;
    let texts = ["", "a much longer text than the one before\n\u{1f3ad}"];
    expected.extend(journal.append(rewriting(&journal, &[(1, texts[0]), (2, texts[1])])).await.unwrap());
    for (entry, text) in expected.iter_mut().zip(texts) {
        entry.data = text.into();
    }
    assert_eq!(journal.read().await, expected);
    assert_eq!(store.row(&journal.session).await.unwrap().unwrap().head, journal.head);
    assert_eq!(store.read_each(&journal.session, &[Seq(2)]).await.unwrap(), expected[1..2]);
}

pub async fn a_rewritten_entry_is_found_as_before(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let timed = |n: i64| Draft { time: Some(seconds(n)), keys: vec![format!("k{n}").into()], ..about("set:a", "old") };
    // More than a store indexes at once.
    for page in 0..5 {
        journal.write((0..60).map(|n| timed(60 * page + n))).await;
    }
    journal.append(rewriting(&journal, &[(3, "new"), (150, "new"), (300, "new")])).await.unwrap();
    let texts = |entries: Vec<Entry>| -> Vec<u64> {
        entries.iter().filter(|entry| &*entry.data == "new").map(|entry| entry.header.seq.0).collect()
    };
    let about_it = Query { subjects: vec!["set:a".into()], types: vec!["note.made".into()], ..everything() };
    assert_eq!(texts(store.read(&journal.session, about_it).await.unwrap()), [3, 150, 300]);
    let by_time = TimeQuery { subject: "set:a".into(), after: Some(seconds(1)), ..of_main() };
    assert_eq!(texts(store.read_by_time(&journal.session, by_time).await.unwrap()), [3, 150, 300]);
    assert_eq!(store.find(&journal.session, "k149").await.unwrap(), Some(Seq(150)));
}

pub async fn a_refused_batch_takes_nothing_away(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let hash = Hash::of(b"large");
    let mut batch = journal.batch([claiming(&["taken"]), note("b")]);
    batch.values = vec![(hash, "large".into())];
    journal.append(batch).await.unwrap();
    store.put_snapshot(&journal.session, journal.head, Arc::from(*b"state")).await.unwrap();

    let mut late = journal.clone();
    journal.write([note("c")]).await;
    let erases = |batch: Append| Append { rewrites: vec![rewrite(2, "gone")], drop_values: vec![hash], ..batch };
    let conflict = late.append(erases(late.batch([note("late")]))).await.unwrap_err();
    assert!(matches!(conflict, Error::Conflict { .. }), "{conflict}");
    let taken = journal.append(erases(journal.batch([claiming(&["taken"])]))).await.unwrap_err();
    assert!(matches!(taken, Error::KeyTaken { .. }), "{taken}");

    assert_eq!(journal.texts().await, ["claims", "b", "c"]);
    assert_eq!(store.value(&journal.session, hash).await.unwrap().as_deref(), Some("large"));
    assert!(store.snapshot(&journal.session, Seq(9)).await.unwrap().is_some());
    journal.append(erases(journal.batch([note("d")]))).await.unwrap();
    assert_eq!(journal.texts().await, ["claims", "gone", "c", "d"]);
    assert_eq!(store.value(&journal.session, hash).await.unwrap(), None);
    assert_eq!(store.snapshot(&journal.session, Seq(9)).await.unwrap(), None);
}

pub async fn only_entries_that_are_there_can_be_rewritten(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a b").await;
    for wrong in [vec![0], vec![3], vec![2, 1], vec![1, 1]] {
        let rewrites: Vec<_> = wrong.iter().map(|seq| (*seq, "new")).collect();
        let error = journal.append(rewriting(&journal, &rewrites)).await.unwrap_err();
        assert!(matches!(error, Error::Misnumbered { .. }), "{wrong:?}: {error}");
    }
    assert_eq!(journal.texts().await, ["a", "b"]);
}

pub async fn other_handles_read_what_was_rewritten(fixture: &impl Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    let mut journal = JournalWriter::with(&store, "s", "a b").await;
    let read = async || other.read(&journal.session, everything()).await.unwrap()[0].data.to_string();
    assert_eq!(read().await, "a");
    let before = other.row(&journal.session).await.unwrap();
    let mut watcher = other.watch();
    let batch = rewriting(&journal, &[(1, "new")]);
    store.append(batch.clone()).await.unwrap();
    assert_eq!(super::soon("the change", watcher.recv()).await.unwrap(), journal.session);
    assert_eq!(read().await, "new");
    assert_ne!(other.row(&journal.session).await.unwrap(), before);
    journal.head = batch.entries[0].head();
    journal.write([note("after")]).await;
    assert_eq!(journal.texts().await, ["new", "b", "x", "after"]);
}

pub async fn dropped_values_are_gone_and_others_stay(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let [mut journal, mut other] = ["s", "t"].map(|id| JournalWriter::new(&store, id));
    let [gone, kept, brought] = ["gone", "kept", "brought"].map(|text| (Hash::of(text.as_bytes()), Arc::from(text)));
    for journal in [&mut journal, &mut other] {
        let values = vec![gone.clone(), kept.clone(), brought.clone()];
        journal.append(Append { values, ..journal.batch([note("a")]) }).await.unwrap();
    }
    let (values, drop_values) = (vec![brought.clone()], vec![gone.0, brought.0, Hash::of(b"never there")]);
    journal.append(Append { values, drop_values, ..journal.batch([note("b")]) }).await.unwrap();
    for (hash, text) in [&kept, &brought] {
        assert_eq!(store.value(&journal.session, *hash).await.unwrap().as_ref(), Some(text));
    }
    assert_eq!(store.value(&journal.session, gone.0).await.unwrap(), None);
    assert_eq!(store.value(&other.session, gone.0).await.unwrap(), Some(gone.1));
    assert_eq!(journal.texts().await, ["a", "b"]);
}

pub async fn a_rewrite_drops_snapshots_and_no_older_one_is_kept(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a b").await;
    let before = journal.head;
    store.put_snapshot(&journal.session, before, Arc::from(*b"old")).await.unwrap();
    journal.append(rewriting(&journal, &[(1, "new")])).await.unwrap();
    let snapshot = async || store.snapshot(&journal.session, Seq(9)).await.unwrap();
    assert_eq!(snapshot().await, None);
    // Somebody made it before the rewrite, and is late.
    store.put_snapshot(&journal.session, before, Arc::from(*b"old")).await.unwrap();
    assert_eq!(snapshot().await, None);
    store.put_snapshot(&journal.session, journal.head, Arc::from(*b"new")).await.unwrap();
    assert_eq!(snapshot().await, Some((journal.head, Arc::from(*b"new"))));
}
