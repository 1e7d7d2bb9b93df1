use std::sync::Arc;

use callboard_core::{
    entry::{Draft, Entry},
    id::Seq,
};

use super::{
    Fixture, everything,
    journal_writer::{JournalWriter, about, note},
    session,
};
use crate::{Order, Query};

/// The numbers of what a query finds.
async fn numbers(journal: &JournalWriter, query: Query) -> Vec<u64> {
    let found = journal.store.read(&journal.session, query).await.unwrap();
    found.iter().map(|entry| entry.header.seq.0).collect()
}

fn list(words: &[&str]) -> Vec<Arc<str>> {
    words.iter().map(|&word| word.into()).collect()
}

/// 300 entries: entry n is of type `t<n / 5 % 3>.done` about the subject `s<n % 7>`; the 150th is `rare.done` about `s1`.
async fn mixed(fixture: &impl Fixture) -> (JournalWriter, Vec<Entry>) {
    let mut journal = JournalWriter::new(&fixture.open().await, "s");
    let draft = |n: u64| Draft {
        kind: if n == 150 { "rare.done".into() } else { format!("t{}.done", n / 5 % 3).into() },
        ..about(&if n == 150 { "s1".to_owned() } else { format!("s{}", n % 7) }, &n.to_string())
    };
    let entries = journal.write((1..=300).map(draft)).await;
    // Another session with the same words, to be kept out.
    JournalWriter::new(&journal.store, "other").write((1..=20).map(draft)).await;
    (journal, entries)
}

/// Asks in both orders and compares with a plain filter.
async fn assert_filters(query: Query, journal: &JournalWriter, entries: &[Entry]) {
    let header = |entry: &&Entry| {
        (query.types.is_empty() || query.types.contains(&entry.header.kind))
            && (query.subjects.is_empty() || query.subjects.contains(&entry.header.subject))
            && query.seqs.contains(&entry.header.seq)
    };
    let mut expected: Vec<Entry> = entries.iter().filter(header).cloned().collect();
    assert!(!expected.is_empty(), "the query finds nothing: {query:?}");
    assert_eq!(journal.store.read(&journal.session, query.clone()).await.unwrap(), expected);
    expected.reverse();
    let backward = Query { order: Order::Backward, ..query };
    assert_eq!(journal.store.read(&journal.session, backward).await.unwrap(), expected);
}

pub async fn a_range_is_read_from_either_end(fixture: &impl Fixture) {
    let journal = JournalWriter::with(&fixture.open().await, "s", "a b c d e f").await;
    let range = Query { seqs: Seq(2)..Seq(6), ..everything() };
    assert_eq!(numbers(&journal, range.clone()).await, [2, 3, 4, 5]);
    assert_eq!(numbers(&journal, Query { limit: 2, ..range.clone() }).await, [2, 3]);
    let backward = Query { order: Order::Backward, ..range };
    assert_eq!(numbers(&journal, backward.clone()).await, [5, 4, 3, 2]);
    assert_eq!(numbers(&journal, Query { limit: 3, ..backward }).await, [5, 4, 3]);
}

pub async fn a_range_that_is_empty_or_beyond_has_no_entries(fixture: &impl Fixture) {
    let journal = JournalWriter::with(&fixture.open().await, "s", "a b c").await;
    let reversed = Seq(3)..Seq(1);
    for seqs in [Seq(2)..Seq(2), reversed, Seq(4)..Seq(u64::MAX), Seq(0)..Seq(1)] {
        assert_eq!(numbers(&journal, Query { seqs, ..everything() }).await, [0; 0]);
    }
    assert_eq!(numbers(&journal, Query { limit: 0, ..everything() }).await, [0; 0]);
    assert_eq!(numbers(&journal, Query { seqs: Seq(0)..Seq(u64::MAX), ..everything() }).await, [1, 2, 3]);
    let nobody = JournalWriter::new(&journal.store, "nobody");
    assert_eq!(numbers(&nobody, everything()).await, [0; 0]);
}

pub async fn only_the_wanted_types_are_read(fixture: &impl Fixture) {
    let (journal, entries) = mixed(fixture).await;
    for types in [&["rare.done"][..], &["t1.done"], &["t2.done", "rare.done", "t0.done", "t2.done"]] {
        assert_filters(Query { types: list(types), ..everything() }, &journal, &entries).await;
        let range = Query { seqs: Seq(101)..Seq(299), types: list(types), ..everything() };
        assert_filters(range, &journal, &entries).await;
    }
}

pub async fn several_subjects_are_read_as_one_in_order(fixture: &impl Fixture) {
    let (journal, entries) = mixed(fixture).await;
    for subjects in [&["s1"][..], &["s6", "s0", "s3", "s6"], &["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"]] {
        assert_filters(Query { subjects: list(subjects), ..everything() }, &journal, &entries).await;
        let range = Query { seqs: Seq(7)..Seq(200), subjects: list(subjects), ..everything() };
        assert_filters(range, &journal, &entries).await;
    }
}

pub async fn types_and_subjects_are_combined(fixture: &impl Fixture) {
    let (journal, entries) = mixed(fixture).await;
    for (types, subjects) in [(&["t1.done"][..], &["s2", "s5"][..]), (&["rare.done", "t2.done"], &["s1", "nobody"])] {
        let query = Query { types: list(types), subjects: list(subjects), ..everything() };
        assert_filters(query, &journal, &entries).await;
    }
}

pub async fn a_limit_cuts_what_is_filtered_at_the_right_end(fixture: &impl Fixture) {
    let (journal, _) = mixed(fixture).await;
    let query = Query { subjects: list(&["s1", "s3"]), limit: 5, ..everything() };
    assert_eq!(numbers(&journal, query.clone()).await, [1, 3, 8, 10, 15]);
    let backward = Query { order: Order::Backward, ..query };
    assert_eq!(numbers(&journal, backward.clone()).await, [297, 295, 290, 288, 283]);
    assert_eq!(numbers(&journal, Query { limit: 0, ..backward }).await, [0; 0]);
    let rare = Query { types: list(&["rare.done"]), limit: 5, ..everything() };
    assert_eq!(numbers(&journal, rare).await, [150]);
}

pub async fn what_nobody_wrote_about_has_no_entries(fixture: &impl Fixture) {
    let mut journal = JournalWriter::with(&fixture.open().await, "s", "a").await;
    journal.write([note("b")]).await;
    JournalWriter::new(&journal.store, "other").write([about("elsewhere", "c")]).await;
    for (types, subjects) in [(&["never.done"][..], &[][..]), (&[], &["elsewhere"]), (&["note.made"], &["elsewhere"])] {
        let query = Query { types: list(types), subjects: list(subjects), ..everything() };
        assert_eq!(numbers(&journal, query).await, [0; 0], "{types:?} {subjects:?}");
    }
}

pub async fn many_entries_are_read_by_their_numbers_at_once(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    for batch in 0..3 {
        journal.write((0..700).map(|number| note(&format!("{batch} {number}")))).await;
    }
    let all = journal.read().await;
    for seqs in [
        vec![],
        vec![5],
        vec![2100, 1, 700],
        (0..300).rev().map(|number| number * 7 + 1).collect(),
        vec![3, 3, 0, 2101, 9999],
    ] {
        let wanted: Vec<_> = seqs.iter().copied().map(Seq).collect();
        let expected: Vec<_> = all.iter().filter(|entry| wanted.contains(&entry.header.seq)).cloned().collect();
        assert_eq!(store.read_each(&journal.session, &wanted).await.unwrap(), expected, "{seqs:?}");
    }
    assert_eq!(store.read_each(&session("nobody"), &[Seq(1)]).await.unwrap(), []);
}
