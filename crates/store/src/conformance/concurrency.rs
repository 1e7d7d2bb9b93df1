use std::{collections::BTreeSet, sync::Arc, time::Duration};

use callboard_core::{entry::Entry, id::Seq};
use tokio::task::JoinSet;

use super::{
    Fixture, everything,
    journal_writer::{JournalWriter, claiming, note},
    soon,
};
use crate::{Clock as _, Error, Lease, LeaseChange, Store};

/// How many tasks write at once.
const WRITERS: usize = 64;

/// How often each of them writes.
const EACH: usize = 4;

/// Writes on until each of the texts `<writer>/0` to `<writer>/3` is in.
async fn write_on(mut journal: JournalWriter, writer: usize) {
    for n in 0..EACH {
        let text = format!("{writer}/{n}");
        while let Err(error) = journal.try_write([note(&text)]).await {
            let Error::Conflict { found } = error else { panic!("{error}") };
            journal.head = found.map(|row| row.head).unwrap_or_default();
        }
    }
}

/// Starts all writers, each with the journal that `journal` gives it, and waits for them.
async fn all_write(journal: impl Fn(usize) -> JournalWriter) {
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        tasks.spawn(write_on(journal(writer), writer));
    }
    soon("the end of all writers", tasks.join_all()).await;
}

/// Every text is there once, those of a writer in their order, and the entries chain.
fn assert_complete(entries: &[Entry], writers: &[usize]) {
    for (entry, seq) in entries.iter().zip(1..) {
        assert_eq!(entry.header.seq, Seq(seq));
    }
    assert_eq!(entries.len(), writers.len() * EACH);
    for writer in writers {
        let prefix = format!("{writer}/");
        let mut texts = entries.iter().map(|entry| &*entry.data).filter(|text| text.starts_with(&prefix));
        assert!((0..EACH).all(|n| texts.next() == Some(&*format!("{prefix}{n}"))), "writer {writer}");
    }
    for pair in entries.windows(2) {
        let hash = callboard_core::entry::Hash::of(pair[1].data.as_bytes());
        assert_eq!(pair[0].tag.chain(&pair[1].header, &hash), pair[1].tag);
    }
}

pub async fn many_writers_on_one_session_lose_nothing(fixture: &impl Fixture) {
    let store = fixture.open().await;
    all_write(|_| JournalWriter::new(&store, "s")).await;
    assert_complete(&JournalWriter::new(&store, "s").read().await, &(0..WRITERS).collect::<Vec<_>>());
}

pub async fn many_writers_on_many_sessions_do_not_disturb_each_other(fixture: &impl Fixture) {
    let store = fixture.open().await;
    all_write(|writer| JournalWriter::new(&store, &format!("s{}", writer % 16))).await;
    for session in 0..16 {
        let entries = JournalWriter::new(&store, &format!("s{session}")).read().await;
        assert_complete(&entries, &(session..WRITERS).step_by(16).collect::<Vec<_>>());
    }
}

pub async fn one_of_many_wins_a_key(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a").await;
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        let mut journal = journal.clone();
        tasks.spawn(async move {
            loop {
                match journal.try_write([claiming(&["k"])]).await {
                    Ok(_) => return true,
                    Err(Error::KeyTaken { seq, .. }) => {
                        assert_eq!(seq, Seq(2));
                        return false;
                    }
                    Err(Error::Conflict { found }) => journal.head = found.unwrap().head,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    let won = soon("the end of all writers", tasks.join_all()).await;
    assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    assert_eq!(journal.texts().await, ["a", "claims"]);
}

pub async fn writers_on_two_handles_lose_nothing(fixture: &impl Fixture) {
    let stores: [Arc<dyn Store>; 2] = [fixture.open().await, fixture.open().await];
    all_write(|writer| JournalWriter::new(&stores[writer % 2], "s")).await;
    let [here, there] = [stores[0].clone(), stores[1].clone()].map(|store| JournalWriter::new(&store, "s"));
    assert_complete(&here.read().await, &(0..WRITERS).collect::<Vec<_>>());
    let tags = |entries: Vec<Entry>| entries.iter().map(|entry| entry.tag).collect::<BTreeSet<_>>();
    let there = there.store.read(&there.session, everything()).await.unwrap();
    assert_eq!(tags(there), tags(here.read().await));
}

pub async fn who_write_at_once_are_answered_each_by_itself(fixture: &impl Fixture) {
    let [store, watching] = [fixture.open().await, fixture.open().await];
    let expires_at = fixture.clock().now().plus_seconds(60);
    let lease = Lease { holder: "here".into(), lasts: Duration::from_secs(60) };
    let mut journals = Vec::new();
    for n in 0..WRITERS {
        let mut journal = JournalWriter::with(&store, &format!("s{n}"), "a").await;
        match n % 4 {
            // Decided on what is no more.
            0 => drop(journal.clone().write([note("meanwhile")]).await),
            // Claims what is taken.
            1 => drop(journal.write([claiming(&["k"])]).await),
            // Changes all that an append can.
            2 => journal.expires_at = Some(expires_at),
            _ => journal = JournalWriter::new(&store, &format!("new{n}")),
        }
        journals.push(journal);
    }
    let mut changes = watching.watch();
    let mut tasks = JoinSet::new();
    for (n, mut journal) in journals.iter().cloned().enumerate() {
        let mut batch = journal.batch([note("b"), claiming(&["k"])]);
        if n % 4 == 2 {
            batch.lease = LeaseChange::Set(lease.clone());
        }
        tasks.spawn(async move { (n, journal.append(batch).await) });
    }
    let (mut written, mut leased) = (BTreeSet::new(), Vec::new());
    for (n, answer) in soon("the end of all writers", tasks.join_all()).await {
        let (journal, row) = (&journals[n], store.row(&journals[n].session).await.unwrap().unwrap());
        let texts: &[&str] = match (n % 4, answer) {
            (0, Err(Error::Conflict { found: Some(found) })) => {
                assert_eq!(found, row);
                &["a", "meanwhile"]
            }
            (1, Err(Error::KeyTaken { key, seq })) => {
                assert_eq!((&*key, seq), ("k", Seq(2)));
                &["a", "claims"]
            }
            (2, Ok(_)) => {
                assert_eq!(row.expires_at, Some(expires_at));
                leased.push(journal.session.clone());
                &["a", "b", "claims"]
            }
            (3, Ok(_)) => &["b", "claims"],
            (_, other) => panic!("s{n}: {other:?}"),
        };
        assert_eq!(journal.texts().await, texts, "{}", journal.session);
        if n % 4 >= 2 {
            written.insert(journal.session.clone());
        }
    }
    while !written.is_empty() {
        written.remove(&soon("a change", changes.recv()).await.unwrap());
    }
    leased.sort();
    assert_eq!(store.lease(&lease, 0).await.unwrap(), leased);
    fixture.clock().advance_seconds(61);
    assert_eq!(store.sweep(WRITERS).await.unwrap(), leased, "those that expire");
}

pub async fn callers_that_leave_take_no_other_with_them(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journals = Vec::new();
    for n in 0..WRITERS {
        journals.push(JournalWriter::with(&store, &format!("s{n}"), "a").await);
    }
    let (mut leaving, mut staying) = (JoinSet::new(), JoinSet::new());
    for (n, mut journal) in journals.iter().cloned().enumerate() {
        let tasks = if n % 2 == 0 { &mut leaving } else { &mut staying };
        tasks.spawn(async move { journal.try_write([note("b")]).await.map(drop) });
    }
    tokio::task::yield_now().await;
    leaving.abort_all();
    for answer in soon("the end of those who stay", staying.join_all()).await {
        answer.unwrap();
    }
    while leaving.join_next().await.is_some() {}
    for (n, journal) in journals.iter().enumerate() {
        let texts = journal.texts().await;
        assert!(texts == ["a", "b"] || n % 2 == 0 && texts == ["a"], "{}: {texts:?}", journal.session);
    }
}
