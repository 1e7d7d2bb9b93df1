//! Journals in memory: for tests, for sessions that need not last, and as the reference for all other stores.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use tokio::sync::broadcast;

use crate::{
    Append, Clock, Durability, Error, JournalKind, Lease, LeaseChange, Order, Query, Rewrite, Row, Snapshot, Store,
    TimeQuery, store,
};

/// Keeps journals in memory. They are lost when the process ends.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    journals: Mutex<BTreeMap<SessionId, Journal>>,
    changed: broadcast::Sender<SessionId>,
}

/// All data of one session.
#[derive(Debug, Default)]
struct Journal {
    kind: JournalKind,
    row: Row,
    /// The holder of the lease, and when the lease expires.
    lease: Option<(Arc<str>, Timestamp)>,
    entries: Vec<Entry>,
    keys: HashMap<Arc<str>, Seq>,
    values: HashMap<Hash, Arc<str>>,
    snapshots: BTreeMap<Seq, Snapshot>,
    /// The head of the last batch that rewrote entries.
    rewritten: Seq,
}

impl MemoryStore {
    /// Creates an empty store whose sessions expire by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, journals: Mutex::default(), changed: broadcast::Sender::new(store::WATCH_CAPACITY) }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Journal>> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the journal of a session; `None` if there is no such session.
    fn with_journal<T>(&self, session: &SessionId, work: impl FnOnce(&mut Journal) -> T) -> Option<T> {
        let now = self.clock.now();
        self.lock().get_mut(session).filter(|journal| journal.row.lives(now)).map(work)
    }

    /// The wanted live journals after the id `after`.
    fn list(
        &self,
        after: Option<&SessionId>,
        limit: usize,
        is_wanted: impl Fn(&Journal) -> bool,
    ) -> Vec<(SessionId, Row)> {
        let now = self.clock.now();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let journals = self.lock();
        let behind = journals.range::<SessionId, _>((from, Bound::Unbounded));
        let wanted = behind.filter(|(_, journal)| journal.row.lives(now) && is_wanted(journal));
        wanted.take(limit).map(|(id, journal)| (id.clone(), journal.row)).collect()
    }

    fn announce(&self, session: &SessionId) {
        // Sending fails only if nobody watches.
        let _ = self.changed.send(session.clone());
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn durability(&self) -> Durability {
        Durability::Process
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.clock.now())
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        batch.check_numbers()?;
        let now = self.clock.now();
        let mut journals = self.lock();
        let found = journals.get(&batch.session).filter(|journal| journal.row.lives(now));
        if found.map_or(Head::default(), |journal| journal.row.head) != batch.expected {
            return Err(Error::Conflict { found: found.map(|journal| journal.row) });
        }
        let keys = batch.claims::<Error>(|key| Ok(found.and_then(|journal| journal.keys.get(key).copied())))?;
        if found.is_none() {
            journals.insert(batch.session.clone(), Journal { kind: batch.kind, ..Journal::default() });
        }
        if let Some(journal) = journals.get_mut(&batch.session) {
            journal.keys.extend(keys);
            journal.append(&batch, now);
        }
        drop(journals);
        self.announce(&batch.session);
        Ok(())
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        Ok(self.with_journal(session, |journal| journal.row))
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        let now = self.clock.now();
        let touched = self.with_journal(session, |journal| {
            journal.row = Row { head: journal.row.head, expires_at, last_activity: now };
            journal.row
        });
        touched.iter().for_each(|_| self.announce(session));
        Ok(touched)
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        Ok(self.with_journal(session, |journal| journal.read(&query)).unwrap_or_default())
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        Ok(self.with_journal(session, |journal| journal.read_by_time(&query)).unwrap_or_default())
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        Ok(self.with_journal(session, |journal| journal.read_each(seqs)).unwrap_or_default())
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        let found =
            self.with_journal(session, |journal| keys.iter().map(|key| journal.keys.get(key).copied()).collect());
        Ok(found.unwrap_or_else(|| vec![None; keys.len()]))
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        Ok(self.with_journal(session, |journal| journal.values.get(&hash).cloned()).flatten())
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        Ok(self.list(after, limit, |_| true))
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        Ok(self.list(after, limit, Journal::is_session))
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        let mut sessions = self.list(None, usize::MAX, Journal::is_session);
        sessions.sort_by(|(one, one_row), (other, other_row)| {
            (other_row.last_activity, other).cmp(&(one_row.last_activity, one))
        });
        sessions.truncate(limit);
        Ok(sessions)
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        let (now, lets_go) = (self.clock.now(), lease.lasts.is_zero());
        let mut journals = self.lock();
        let living = journals.iter_mut().filter(|(_, journal)| journal.row.lives(now));
        let mut leases: Vec<_> = living.filter_map(|(id, journal)| Some((id, journal.lease.as_mut()?))).collect();
        let has_run_out = |(holder, until): &(Arc<str>, Timestamp)| *holder != lease.holder && *until <= now;
        leases.sort_by_key(|(id, held)| (held.1, (*id).clone()));
        let free = leases.iter_mut().filter(|(_, held)| !lets_go && has_run_out(held)).take(most);
        free.for_each(|(_, held)| held.0 = lease.holder.clone());
        let mut held: Vec<_> = leases.into_iter().filter(|(_, held)| held.0 == lease.holder).collect();
        for (_, held) in &mut held {
            **held = (if lets_go { "".into() } else { lease.holder.clone() }, lease.until(now));
        }
        let mut names: Vec<_> = held.into_iter().filter(|_| !lets_go).map(|(id, _)| id.clone()).collect();
        names.sort();
        Ok(names)
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        let now = self.clock.now();
        let there = self.lock().remove(session).is_some_and(|journal| journal.row.lives(now));
        if there {
            self.announce(session);
        }
        Ok(there)
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        let now = self.clock.now();
        let journals = self.lock();
        let mut expired: Vec<_> =
            journals.iter().filter_map(|(id, journal)| Some((journal.row.expired_at(now)?, id.clone()))).collect();
        expired.sort();
        Ok(expired.into_iter().take(limit).map(|(at, id)| (id, at)).collect())
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        let now = self.clock.now();
        Ok(self.lock().get(session).and_then(|journal| journal.row.expired_at(now)))
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        let now = self.clock.now();
        let mut journals = self.lock();
        let has_expired = |id: &&SessionId| journals.get(*id).is_some_and(|journal| !journal.row.lives(now));
        let gone: Vec<_> = sessions.iter().filter(has_expired).cloned().collect();
        gone.iter().for_each(|id| drop(journals.remove(id)));
        drop(journals);
        gone.iter().for_each(|id| self.announce(id));
        Ok(gone)
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        self.with_journal(session, |journal| journal.put_snapshot(at, state));
        Ok(())
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        let newest = |journal: &mut Journal| journal.snapshots.range(..=at).next_back().map(|(_, found)| found.clone());
        Ok(self.with_journal(session, newest).flatten())
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.changed.subscribe()
    }
}

impl Journal {
    fn is_session(&self) -> bool {
        self.kind == JournalKind::Session
    }

    fn append(&mut self, batch: &Append, now: Timestamp) {
        let head = batch.entries.last().map_or(self.row.head, Entry::head);
        self.row = Row { head, expires_at: batch.expires_at, last_activity: now };
        match &batch.lease {
            LeaseChange::Keep => {}
            LeaseChange::Set(lease) => self.lease = Some((lease.holder.clone(), lease.until(now))),
            LeaseChange::Remove => self.lease = None,
        }
        self.entries.extend(batch.entries.iter().cloned());
        for (hash, text) in &batch.values {
            self.values.entry(*hash).or_insert_with(|| text.clone());
        }
        batch.dropped_values().for_each(|hash| drop(self.values.remove(hash)));
        for Rewrite { seq, data } in &batch.rewrites {
            let place = usize::try_from(seq.previous().0).unwrap_or(usize::MAX);
            self.entries.get_mut(place).into_iter().for_each(|entry| entry.data = data.clone());
        }
        if !batch.rewrites.is_empty() {
            self.snapshots.clear();
            self.rewritten = head.seq;
        }
    }

    fn read(&self, query: &Query) -> Vec<Entry> {
        let wanted = |entry: &&Entry| {
            let header = &entry.header;
            query.seqs.contains(&header.seq)
                && (query.types.is_empty() || query.types.contains(&header.kind))
                && (query.subjects.is_empty() || query.subjects.contains(&header.subject))
        };
        let found = self.entries.iter().filter(wanted);
        match query.order {
            Order::Forward => found.take(query.limit).cloned().collect(),
            Order::Backward => found.rev().take(query.limit).cloned().collect(),
        }
    }

    fn read_each(&self, seqs: &[Seq]) -> Vec<Entry> {
        let seqs: BTreeSet<_> = seqs.iter().collect();
        let at = |seq: &Seq| self.entries.get(usize::try_from(seq.previous().0).ok()?);
        seqs.into_iter().filter(|seq| **seq > Seq::ZERO).filter_map(at).cloned().collect()
    }

    fn read_by_time(&self, query: &TimeQuery) -> Vec<Entry> {
        let about = |entry: &&Entry| entry.header.subject == query.subject && entry.header.kind == query.kind;
        let place = |entry: &Entry| entry.header.time.map(|time| (time, entry.header.seq));
        let behind = |place| match query.order {
            Order::Forward => query.from.is_none_or(|from| place > from),
            Order::Backward => query.from.is_none_or(|from| place < from),
        };
        let wanted = |(time, seq)| {
            query.after.is_none_or(|after| time > after)
                && query.before.is_none_or(|before| time < before)
                && behind((time, seq))
        };
        let mut found: Vec<&Entry> =
            self.entries.iter().filter(about).filter(|entry| place(entry).is_some_and(wanted)).collect();
        found.sort_by_key(|entry| place(entry));
        if query.order == Order::Backward {
            found.reverse();
        }
        found.into_iter().take(query.limit).cloned().collect()
    }

    fn put_snapshot(&mut self, at: Head, state: Arc<[u8]>) {
        if at.seq >= self.rewritten && self.entries.iter().any(|entry| entry.head() == at) {
            self.snapshots.insert(at.seq, (at, state));
        }
        while self.snapshots.len() > store::SNAPSHOTS_KEPT {
            self.snapshots.pop_first();
        }
    }
}
