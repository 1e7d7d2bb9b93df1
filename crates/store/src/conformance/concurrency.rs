use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{entry::Entry, id::Seq};
use tokio::task::JoinSet;

use super::{
    Fixture, everything,
    pen::{Pen, claiming, note},
    soon,
};
use crate::{Error, Store};

/// How many tasks write at once.
const WRITERS: usize = 64;

/// How often each of them writes.
const EACH: usize = 4;

/// Writes on until each of the texts `<writer>/0` to `<writer>/3` is in.
async fn write_on(mut pen: Pen, writer: usize) {
    for n in 0..EACH {
        let text = format!("{writer}/{n}");
        while let Err(error) = pen.try_write([note(&text)]).await {
            let Error::Conflict { found } = error else { panic!("{error}") };
            pen.head = found.map(|row| row.head).unwrap_or_default();
        }
    }
}

/// Starts all writers, each with the pen that `pen` gives it, and waits for them.
async fn all_write(pen: impl Fn(usize) -> Pen) {
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        tasks.spawn(write_on(pen(writer), writer));
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
    all_write(|_| Pen::new(&store, "s")).await;
    assert_complete(&Pen::new(&store, "s").read().await, &(0..WRITERS).collect::<Vec<_>>());
}

pub async fn many_writers_on_many_sessions_do_not_disturb_each_other(fixture: &impl Fixture) {
    let store = fixture.open().await;
    all_write(|writer| Pen::new(&store, &format!("s{}", writer % 16))).await;
    for session in 0..16 {
        let entries = Pen::new(&store, &format!("s{session}")).read().await;
        assert_complete(&entries, &(session..WRITERS).step_by(16).collect::<Vec<_>>());
    }
}

pub async fn one_of_many_wins_a_key(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let pen = Pen::with(&store, "s", "a").await;
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        let mut pen = pen.clone();
        tasks.spawn(async move {
            loop {
                match pen.try_write([claiming(&["k"])]).await {
                    Ok(_) => return true,
                    Err(Error::KeyTaken { seq, .. }) => {
                        assert_eq!(seq, Seq(2));
                        return false;
                    }
                    Err(Error::Conflict { found }) => pen.head = found.unwrap().head,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    let won = soon("the end of all writers", tasks.join_all()).await;
    assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    assert_eq!(pen.texts().await, ["a", "claims"]);
}

pub async fn writers_on_two_handles_lose_nothing(fixture: &impl Fixture) {
    let stores: [Arc<dyn Store>; 2] = [fixture.open().await, fixture.open().await];
    all_write(|writer| Pen::new(&stores[writer % 2], "s")).await;
    let [here, there] = [stores[0].clone(), stores[1].clone()].map(|store| Pen::new(&store, "s"));
    assert_complete(&here.read().await, &(0..WRITERS).collect::<Vec<_>>());
    let tags = |entries: Vec<Entry>| entries.iter().map(|entry| entry.tag).collect::<BTreeSet<_>>();
    let there = there.store.read(&there.session, everything()).await.unwrap();
    assert_eq!(tags(there), tags(here.read().await));
}
