//! What is read is the same whether or not it is indexed: a long journal in a store and in memory, side by side.

use std::sync::Arc;

use callboard_core::{
    entry::{Draft, Entry},
    id::Seq,
    time::Timestamp,
};
use callboard_store::{
    MemoryStore, Order, Query, Store, TimeQuery,
    conformance::{
        Fixture,
        journal_writer::{JournalWriter, about},
        session,
    },
};

/// Entries of three types about three subjects, most with a time of their own that goes back and forth.
pub(crate) fn draft(n: i64) -> Draft {
    let time = (n % 7 != 0).then(|| Timestamp::from_millis(1_700_000_000_000 + n * 37 % 50).unwrap());
    let kind = ["message.added", "message.added", "context_set.updated", "note.made"][(n % 4) as usize].into();
    Draft { kind, time, ..about(["thread:main", "set:facts", "thread:side"][(n * 5 % 3) as usize], &n.to_string()) }
}

/// All pages of `s` under every filter, in both orders.
async fn everything_of(store: &Arc<dyn Store>, head: u64) -> Vec<Vec<Entry>> {
    let mut pages = Vec::new();
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect::<Vec<Arc<str>>>();
    for order in [Order::Forward, Order::Backward] {
        for limit in [1, 7, 1000] {
            for seqs in [1..head + 1, head / 2..head, head..head + 1, 3..9] {
                for types in [texts(&[]), texts(&["message.added"]), texts(&["note.made", "never.made"])] {
                    for subjects in [texts(&[]), texts(&["thread:main"]), texts(&["set:facts", "thread:side"])] {
                        let seqs = Seq(seqs.start)..Seq(seqs.end);
                        let query = Query { seqs, types: types.clone(), subjects, order, limit };
                        pages.push(store.read(&session("s"), query).await.unwrap());
                    }
                }
            }
            for from in [None, Some((Timestamp::from_millis(1_700_000_000_020).unwrap(), Seq(head / 2)))] {
                let (subject, kind) = ("thread:main".into(), "message.added".into());
                let query = TimeQuery { subject, kind, after: None, before: None, from, order, limit };
                pages.push(store.read_by_time(&session("s"), query).await.unwrap());
            }
        }
    }
    pages
}

/// Compares a journal that becomes longer with the same one in memory.
pub(crate) async fn compare<F: Fixture>() {
    let fixture = F::fresh().await;
    let store = fixture.open().await;
    let oracle: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(fixture.clock().clone())));
    let (mut journal, mut same) = (JournalWriter::new(&store, "s"), JournalWriter::new(&oracle, "s"));
    let mut other = JournalWriter::new(&store, "other");
    for n in 0..420 {
        // Mostly one entry, and now and then more than are indexed at once.
        let drafts = || (n..=n + if n % 90 == 50 { 230 } else { 0 }).map(draft);
        journal.write(drafts()).await;
        same.write(drafts()).await;
        other.write([draft(n + 1)]).await;
        if n % 60 == 59 {
            let head = journal.head.seq.0;
            let expected = everything_of(&oracle, head).await;
            assert_eq!(everything_of(&store, head).await, expected, "after {n}");
            assert_eq!(everything_of(&fixture.open().await, head).await, expected, "after {n}, in another process");
        }
    }
}
