use std::sync::Arc;

use callboard_core::{entry::Tag, id::Seq};

use super::{
    Fixture,
    journal_writer::{JournalWriter, note},
    session,
};

pub async fn the_newest_snapshot_that_is_not_later_is_found(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let mut made = vec![];
    for step in 0..4_u8 {
        journal.write([note("a"), note("b")]).await;
        made.push((journal.head, Arc::<[u8]>::from([step, 0, 0xff])));
        store.put_snapshot(&journal.session, journal.head, made[usize::from(step)].1.clone()).await.unwrap();
        assert_eq!(store.snapshot(&journal.session, Seq(u64::MAX)).await.unwrap().as_ref(), made.last());
    }
    assert_eq!(store.snapshot(&journal.session, Seq(8)).await.unwrap(), Some(made[3].clone()));
    assert_eq!(store.snapshot(&journal.session, Seq(7)).await.unwrap(), Some(made[2].clone()));
    assert_eq!(store.snapshot(&journal.session, Seq(1)).await.unwrap(), None);
    assert_eq!(store.snapshot(&session("nobody"), Seq(8)).await.unwrap(), None);
}

pub async fn a_snapshot_replaces_the_one_of_the_same_entry(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a").await;
    for state in [&b"old"[..], b"", &[7; 1 << 20]] {
        store.put_snapshot(&journal.session, journal.head, state.into()).await.unwrap();
        assert_eq!(store.snapshot(&journal.session, Seq(1)).await.unwrap(), Some((journal.head, state.into())));
    }
}

pub async fn a_snapshot_of_another_journal_is_not_kept(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a b").await;
    let [mut other, mut ahead] = [journal.head; 2];
    other.tag = Tag([7; 16]);
    ahead.seq = Seq(3);
    for head in [other, ahead, Default::default()] {
        store.put_snapshot(&journal.session, head, Arc::from(*b"wrong")).await.unwrap();
    }
    store.put_snapshot(&session("nobody"), journal.head, Arc::from(*b"wrong")).await.unwrap();
    assert_eq!(store.snapshot(&journal.session, Seq(9)).await.unwrap(), None);
    assert_eq!(store.sessions(None, 9).await.unwrap().len(), 1);
}
