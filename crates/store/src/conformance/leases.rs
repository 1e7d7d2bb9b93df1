use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use super::{
    Fixture,
    journal_writer::{JournalWriter, note},
    session, soon,
};
use crate::{Append, Lease, LeaseChange, Store};

fn of(holder: &str) -> Lease {
    Lease { holder: holder.into(), lasts: Duration::from_secs(8) }
}

fn none(holder: &str) -> Lease {
    Lease { lasts: Duration::ZERO, ..of(holder) }
}

async fn leased(store: &Arc<dyn Store>, lease: &Lease, most: usize) -> Vec<String> {
    store.lease(lease, most).await.unwrap().iter().map(ToString::to_string).collect()
}

/// Appends a note that changes the lease.
async fn write(journal: &mut JournalWriter, lease: LeaseChange) {
    let batch = Append { lease, ..journal.batch([note("x")]) };
    journal.append(batch).await.unwrap();
}

async fn pen_with(store: &Arc<dyn Store>, id: &str, lease: Lease) -> JournalWriter {
    let mut journal = JournalWriter::new(store, id);
    write(&mut journal, LeaseChange::Set(lease)).await;
    journal
}

pub async fn a_lease_begins_and_ends_with_the_batches_that_say_so(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    assert_eq!(leased(&store, &of("a"), 9).await, [""; 0], "there is nothing to do");
    write(&mut journal, LeaseChange::Set(of("a"))).await;
    assert_eq!(leased(&store, &of("a"), 0).await, ["s"]);
    write(&mut journal, LeaseChange::Keep).await;
    assert_eq!(leased(&store, &of("a"), 0).await, ["s"]);
    write(&mut journal, LeaseChange::Set(of("b"))).await;
    assert_eq!(leased(&store, &of("a"), 9).await, [""; 0], "it is another's, by a batch");
    assert_eq!(leased(&store, &of("b"), 9).await, ["s"]);
    write(&mut journal, LeaseChange::Remove).await;
    fixture.clock().advance_seconds(60);
    for holder in ["a", "b", "c"] {
        assert_eq!(leased(&store, &of(holder), 9).await, [""; 0]);
    }
}

pub async fn a_lease_is_its_holders_until_it_runs_out(fixture: &impl Fixture) {
    let store = fixture.open().await;
    pen_with(&store, "s", of("a")).await;
    fixture.clock().advance_seconds(7);
    assert_eq!(leased(&store, &of("b"), 9).await, [""; 0]);
    assert_eq!(leased(&store, &of("a"), 9).await, ["s"], "it is renewed");
    fixture.clock().advance_seconds(7);
    assert_eq!(leased(&store, &of("b"), 9).await, [""; 0]);
    fixture.clock().advance_seconds(1);
    assert_eq!(leased(&store, &of("b"), 0).await, [""; 0], "nothing was asked for");
    assert_eq!(leased(&store, &of("b"), 9).await, ["s"]);
    assert_eq!(leased(&store, &of("a"), 9).await, [""; 0], "who lost it does not get it back");
    fixture.clock().advance_seconds(60);
    assert_eq!(leased(&store, &of("b"), 9).await, ["s"], "nobody else asked");
}

pub async fn who_lets_go_leaves_to_others_what_it_had(fixture: &impl Fixture) {
    let store = fixture.open().await;
    pen_with(&store, "s", of("a")).await;
    pen_with(&store, "t", of("b")).await;
    pen_with(&store, "u", Lease::unheld()).await;
    assert_eq!(leased(&store, &none("a"), 0).await, [""; 0]);
    assert_eq!(leased(&store, &of("a"), 0).await, [""; 0]);
    assert_eq!(leased(&store, &of("c"), 9).await, ["s", "u"]);
    assert_eq!(leased(&store, &of("b"), 9).await, ["t"]);
}

pub async fn the_first_to_run_out_are_taken_first(fixture: &impl Fixture) {
    let store = fixture.open().await;
    for id in ["d", "b", "c", "a"] {
        pen_with(&store, id, of("x")).await;
        fixture.clock().advance_seconds(1);
    }
    fixture.clock().advance_seconds(60);
    assert_eq!(leased(&store, &of("y"), 1).await, ["d"]);
    assert_eq!(leased(&store, &of("z"), 2).await, ["b", "c"]);
    assert_eq!(leased(&store, &of("y"), 1).await, ["a", "d"]);
}

pub async fn a_refused_batch_leaves_the_lease_as_it_is(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = pen_with(&store, "s", of("a")).await;
    let old = JournalWriter { head: journal.head, ..journal.clone() };
    write(&mut journal, LeaseChange::Keep).await;
    for lease in [LeaseChange::Remove, LeaseChange::Set(of("b"))] {
        old.clone().append(Append { lease, ..old.batch([note("y")]) }).await.unwrap_err();
    }
    assert_eq!(leased(&store, &of("b"), 9).await, [""; 0]);
    assert_eq!(leased(&store, &of("a"), 9).await, ["s"]);
}

pub async fn what_is_gone_has_no_lease(fixture: &impl Fixture) {
    let store = fixture.open().await;
    pen_with(&store, "deleted", of("a")).await;
    store.delete(&session("deleted")).await.unwrap();
    let mut journal = JournalWriter::new(&store, "expired");
    journal.expires_at = Some(super::seconds(0));
    write(&mut journal, LeaseChange::Set(of("a"))).await;
    assert_eq!(leased(&store, &of("a"), 9).await, [""; 0]);
    for id in ["deleted", "expired"] {
        JournalWriter::with(&store, id, "anew").await;
    }
    fixture.clock().advance_seconds(60);
    assert_eq!(leased(&store, &of("a"), 9).await, [""; 0]);
    assert_eq!(leased(&store, &of("b"), 9).await, [""; 0]);
}

pub async fn to_lease_changes_nothing_else(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = pen_with(&store, "s", of("a")).await;
    let before = store.row(&journal.session).await.unwrap();
    let mut watch = store.watch();
    fixture.clock().advance_seconds(60);
    assert_eq!(leased(&store, &of("b"), 9).await, ["s"]);
    assert_eq!(store.row(&journal.session).await.unwrap(), before);
    JournalWriter::with(&store, "t", "a").await;
    assert_eq!(soon("a change", watch.recv()).await.unwrap(), session("t"));
}

pub async fn of_many_who_ask_at_once_one_gets_each_lease(fixture: &impl Fixture) {
    const SESSIONS: usize = 12;
    let store = fixture.open().await;
    for n in 0..SESSIONS {
        pen_with(&store, &format!("s{n:02}"), Lease::unheld()).await;
    }
    let mut asking = JoinSet::new();
    for n in 0..6 {
        let store = fixture.open().await;
        asking.spawn(async move {
            let lease = of(&format!("holder {n}"));
            leased(&store, &lease, 5).await;
            // What a call may have left because somebody else had it in hand at that moment.
            leased(&store, &lease, 5).await
        });
    }
    let mut held = asking.join_all().await.concat();
    held.extend(leased(&store, &of("last"), SESSIONS).await);
    held.sort();
    assert_eq!(held, (0..SESSIONS).map(|n| format!("s{n:02}")).collect::<Vec<_>>());
}
