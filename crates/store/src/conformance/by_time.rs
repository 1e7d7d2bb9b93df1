use callboard_core::{entry::Draft, id::Seq, time::Timestamp};

use super::{
    Fixture,
    journal_writer::{JournalWriter, about, note},
    seconds,
};
use crate::{Order, TimeQuery};

fn timed(time: i64) -> Draft {
    Draft { time: Some(seconds(time)), ..note("timed") }
}

/// A query for all notes of the main thread.
pub(super) fn of_main() -> TimeQuery {
    TimeQuery {
        subject: "thread:main".into(),
        kind: "note.made".into(),
        after: None,
        before: None,
        from: None,
        order: Order::Forward,
        limit: usize::MAX,
    }
}

/// The places of what a query finds.
async fn places(journal: &JournalWriter, query: TimeQuery) -> Vec<(i64, u64)> {
    let found = journal.store.read_by_time(&journal.session, query).await.unwrap();
    let place = |time: Timestamp, seq: Seq| (time.as_millis() / 1000, seq.0);
    found.iter().map(|entry| place(entry.header.time.unwrap(), entry.header.seq)).collect()
}

/// Entries with the times 30, 10, none, 20, 20, 20, -5.
async fn shuffled(fixture: &impl Fixture) -> JournalWriter {
    let mut journal = JournalWriter::new(&fixture.open().await, "s");
    journal.write([timed(30), timed(10), note("timeless"), timed(20), timed(20), timed(20), timed(-5)]).await;
    journal
}

pub async fn entries_come_by_their_own_time_and_ties_by_number(fixture: &impl Fixture) {
    let journal = shuffled(fixture).await;
    let mut expected = vec![(-5, 7), (10, 2), (20, 4), (20, 5), (20, 6), (30, 1)];
    assert_eq!(places(&journal, of_main()).await, expected);
    assert_eq!(places(&journal, TimeQuery { limit: 3, ..of_main() }).await, expected[..3]);
    expected.reverse();
    let backward = TimeQuery { order: Order::Backward, ..of_main() };
    assert_eq!(places(&journal, backward.clone()).await, expected);
    assert_eq!(places(&journal, TimeQuery { limit: 3, ..backward }).await, expected[..3]);
}

pub async fn the_bounds_are_not_among_what_is_between_them(fixture: &impl Fixture) {
    let journal = shuffled(fixture).await;
    let [five, ten, twenty, thirty] = [-5, 10, 20, 30].map(|time| Some(seconds(time)));
    for order in [Order::Forward, Order::Backward] {
        let between = |after, before| TimeQuery { after, before, order, ..of_main() };
        let mut found = places(&journal, between(five, thirty)).await;
        found.sort_unstable();
        assert_eq!(found, [(10, 2), (20, 4), (20, 5), (20, 6)]);
        assert_eq!(places(&journal, between(twenty, None)).await, [(30, 1)]);
        assert_eq!(places(&journal, between(None, ten)).await, [(-5, 7)]);
        assert_eq!(places(&journal, between(ten, twenty)).await, []);
        assert_eq!(places(&journal, between(thirty, ten)).await, []);
    }
}

pub async fn pages_go_on_behind_the_last_place_both_ways(fixture: &impl Fixture) {
    let journal = shuffled(fixture).await;
    for order in [Order::Forward, Order::Backward] {
        let whole = TimeQuery { order, after: Some(seconds(-5)), ..of_main() };
        let mut paged = vec![];
        let mut from = None;
        loop {
            let page = places(&journal, TimeQuery { from, limit: 2, ..whole.clone() }).await;
            let Some(&(time, seq)) = page.last() else { break };
            from = Some((seconds(time), Seq(seq)));
            paged.extend(page);
        }
        assert_eq!(paged, places(&journal, whole).await, "{order:?}");
        assert_eq!(paged.len(), 5);
    }
}

pub async fn other_subjects_and_types_are_not_among_them(fixture: &impl Fixture) {
    let mut journal = shuffled(fixture).await;
    let elsewhere = Draft { time: Some(seconds(15)), ..about("thread:other", "elsewhere") };
    let otherwise = Draft { kind: "note.burnt".into(), ..timed(15) };
    journal.write([elsewhere, otherwise]).await;
    assert_eq!(places(&journal, of_main()).await.len(), 6);
    assert_eq!(places(&journal, TimeQuery { subject: "thread:other".into(), ..of_main() }).await, [(15, 8)]);
    assert_eq!(places(&journal, TimeQuery { kind: "note.burnt".into(), ..of_main() }).await, [(15, 9)]);
    assert_eq!(places(&journal, TimeQuery { kind: "never.done".into(), ..of_main() }).await, []);
    assert_eq!(places(&JournalWriter::new(&journal.store, "nobody"), of_main()).await, []);
}
