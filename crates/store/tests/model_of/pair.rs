//! A store and the one in memory, side by side.

use std::{
    fmt::Debug,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callboard_core::{
    audience::Audience,
    entry::{Draft, Entry, Hash, Head, Tag},
    id::{Seq, SessionId},
    time::Timestamp,
};
use callboard_store::{
    Append, Clock as _, JournalKind, Lease, LeaseChange, MemoryStore, Order, Query, Rewrite, Store, TimeQuery,
    conformance::{Fixture, everything},
};

use super::command::{Command, Expected, TimeFilter, Written};

/// A store of the kind `F`, and the oracle. They share a clock.
pub(crate) struct Pair<F> {
    fixture: F,
    /// The handles take turns: what one does, the next must see.
    tested: Vec<Arc<dyn Store>>,
    turn: AtomicUsize,
    oracle: MemoryStore,
    began: Timestamp,
}

/// Asks both the same and expects the same answer.
macro_rules! same {
    ($pair:expr, $call:ident($($argument:expr),*)) => {{
        let tested = answer($pair.tested().$call($($argument),*).await);
        let oracle = answer($pair.oracle.$call($($argument),*).await);
        assert_eq!(tested, oracle, "{}", stringify!($call));
    }};
}

impl<F: Fixture> Pair<F> {
    pub(crate) async fn fresh(handles: usize) -> Self {
        let fixture = F::fresh().await;
        let (tested, clock) = (opened(&fixture, handles).await, fixture.clock().clone());
        let (turn, oracle) = (AtomicUsize::new(0), MemoryStore::new(Arc::new(clock.clone())));
        Self { fixture, tested, turn, began: clock.now(), oracle }
    }

    fn tested(&self) -> &dyn Store {
        &*self.tested[self.turn.fetch_add(1, Ordering::Relaxed) % self.tested.len()]
    }

    pub(crate) async fn carry_out(&mut self, command: Command) {
        match command {
            Command::Append { session, expected, entries, values, rewrites, drops, expires_in, lease_change } => {
                let expires_at = self.expiry(expires_in);
                let batch = self.batch(id(session), expected, entries, values, expires_at).await;
                let lease_change = match lease_change {
                    None => LeaseChange::Keep,
                    Some(None) => LeaseChange::Remove,
                    Some(Some((holder, lasts))) => LeaseChange::Set(lease(holder, lasts)),
                };
                let rewritten = |seq| Rewrite { seq: Seq(seq), data: format!("rewritten {seq}").into() };
                let rewrites = rewrites.into_iter().map(rewritten).collect();
                let drop_values = drops.into_iter().map(|value| large(value).0).collect();
                let batch = Append { lease: lease_change, rewrites, drop_values, ..batch };
                same!(self, append(batch.clone()));
            }
            Command::Touch { session, expires_in } => same!(self, touch(&id(session), self.expiry(expires_in))),
            Command::Row { session } => same!(self, row(&id(session))),
            Command::Read { session, from, through, types, subjects, backward, limit } => {
                let (types, subjects) = (words(&types), words(&subjects));
                let seqs = Seq(from)..Seq(through);
                let query = Query { seqs, types, subjects, order: order(backward), limit };
                same!(self, read(&id(session), query.clone()));
            }
            Command::ReadByTime { session, filter } => {
                let query = self.time_query(filter);
                same!(self, read_by_time(&id(session), query.clone()));
            }
            Command::Find { session, key } => same!(self, find(&id(session), &format!("key {key}"))),
            Command::Value { session, value } => same!(self, value(&id(session), large(value).0)),
            Command::Sessions { after, limit } => same!(self, sessions(after.map(id).as_ref(), limit)),
            Command::Delete { session } => same!(self, delete(&id(session))),
            Command::Sweep { limit } => same!(self, sweep(limit)),
            Command::PutSnapshot { session, seq, state } => {
                let head = self.head(&id(session), Seq(seq)).await;
                same!(self, put_snapshot(&id(session), head, Arc::from([state])));
            }
            Command::Snapshot { session, at } => same!(self, snapshot(&id(session), Seq(at))),
            Command::Lease { holder, lasts, takes } => {
                same!(self, lease(&lease(holder, lasts), if takes { usize::MAX } else { 0 }));
            }
            Command::Advance { seconds } => self.fixture.clock().advance_seconds(seconds),
            Command::Reopen => self.tested = opened(&self.fixture, self.tested.len()).await,
        }
    }

    /// Compares all that can be read of every session.
    pub(crate) async fn compare_everything(&self) {
        same!(self, sessions(None, usize::MAX));
        same!(self, journals(None, usize::MAX));
        for session in (0..3).map(id) {
            same!(self, row(&session));
            same!(self, read(&session, everything()));
            same!(self, snapshot(&session, Seq(u64::MAX)));
        }
    }

    async fn batch(
        &self,
        session: SessionId,
        expected: Expected,
        entries: Vec<Written>,
        values: Vec<u8>,
        expires_at: Option<Timestamp>,
    ) -> Append {
        let there = self.oracle.row(&session).await.unwrap().map(|row| row.head).unwrap_or_default();
        let expected = match expected {
            Expected::Right => there,
            Expected::Nothing => Head::default(),
            Expected::Older => self.head(&session, there.seq.previous()).await,
            Expected::OtherTag => Head { tag: Tag([7; 16]), ..there },
        };
        let mut head = expected;
        let seal = |written: Written| {
            let by = written.by.parse().unwrap();
            let entry = Entry::seal(head, self.fixture.clock().now(), by, Some(7), self.draft(written));
            head = entry.head();
            entry
        };
        let entries = entries.into_iter().map(seal).collect();
        // One of the sessions is always a request.
        let kind = if session.as_str() == "s2" { JournalKind::Unlisted } else { JournalKind::Session };
        let values = values.into_iter().map(large).collect();
        Append { values, expires_at, ..Append::of(session, kind, expected, entries) }
    }

    fn draft(&self, written: Written) -> Draft {
        let audience = match written.audience {
            "all" => Audience::All,
            "none" => Audience::None,
            names => Audience::of(names.split(", ").map(|name| name.parse().unwrap())),
        };
        Draft {
            v: 1,
            kind: word(written.kind),
            subject: word(written.subject),
            audience,
            time: written.time.map(|time| self.began.plus_seconds(time)),
            keys: written.keys.iter().map(|key| format!("key {key}").into()).collect(),
            data: written.text.into(),
        }
    }

    /// The head that the journal had at `seq`, as far as it goes.
    async fn head(&self, session: &SessionId, seq: Seq) -> Head {
        let query = Query { seqs: seq..seq.next(), ..everything() };
        let there = self.oracle.read(session, query).await.unwrap();
        there.first().map_or(Head { seq, tag: Tag([7; 16]) }, Entry::head)
    }

    fn expiry(&self, expires_in: Option<i64>) -> Option<Timestamp> {
        expires_in.map(|seconds| self.fixture.clock().now().plus_seconds(seconds))
    }

    fn time_query(&self, filter: TimeFilter) -> TimeQuery {
        let time = |seconds| self.began.plus_seconds(seconds);
        TimeQuery {
            subject: word(filter.subject),
            kind: word(filter.kind),
            after: filter.after.map(time),
            before: filter.before.map(time),
            from: filter.from.map(|(seconds, seq)| (time(seconds), Seq(seq))),
            order: order(filter.backward),
            limit: filter.limit,
        }
    }
}

/// An answer, or an error with its code and its words, in a form that can be compared.
async fn opened(fixture: &impl Fixture, handles: usize) -> Vec<Arc<dyn Store>> {
    let mut opened = Vec::new();
    for _ in 0..handles {
        opened.push(fixture.open().await);
    }
    opened
}

fn answer<T: Debug>(answer: Result<T, callboard_store::Error>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("{}: {error}: {error:?}", error.code()),
    }
}

fn lease(holder: u8, lasts: u64) -> Lease {
    Lease { holder: format!("holder {holder}").into(), lasts: Duration::from_secs(lasts) }
}

fn id(session: u8) -> SessionId {
    format!("s{session}").parse().unwrap()
}

fn word(number: u8) -> Arc<str> {
    format!("word {number}").into()
}

fn words(numbers: &[u8]) -> Vec<Arc<str>> {
    numbers.iter().copied().map(word).collect()
}

fn order(backward: bool) -> Order {
    if backward { Order::Backward } else { Order::Forward }
}

fn large(number: u8) -> (Hash, Arc<str>) {
    static TEXT: LazyLock<String> = LazyLock::new(|| "large ".repeat(2000));
    let text = format!("{} {number}", *TEXT);
    (Hash::of(text.as_bytes()), text.into())
}
