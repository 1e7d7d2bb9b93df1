//! The trait `Store`, and the types of its calls.

use std::{collections::HashMap, ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use tokio::sync::broadcast;

use crate::Error;

/// Keeps journals.
///
/// A session whose `expires_at` is not later than [`now`](Self::now) is gone, even if [`remove_expired`](Self::remove_expired) has
/// not removed it yet: every call answers as if it had never existed, and a session that is created under its id starts
/// empty.
///
/// A failure is always an [`Error`]. A call never answers "not found" because it could not look.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// What an acknowledged append survives.
    fn durability(&self) -> Durability;

    /// Warnings for the operator: settings of the server that put data at risk, and how to change them.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The newest `last_activity` of all journals when this handle was opened, including expired ones that were not swept
    /// yet. `None` if the store was empty. A clock that is far ahead of this time may be wrong.
    fn last_activity_at_open(&self) -> Option<Timestamp> {
        None
    }

    /// The time of the clock by which sessions expire.
    async fn now(&self) -> Result<Timestamp, Error>;

    /// Appends a batch, completely or not at all. Answers when it is as durable as [`durability`](Self::durability) says.
    ///
    /// It checks in this order: the entries are numbered on from `expected`, and rewritten entries are not newer than it,
    /// else [`Error::Misnumbered`] (tags are not checked); the number and the tag of the head equal `expected`, else
    /// [`Error::Conflict`]; no key of the batch is claimed in the journal or twice in the batch, else [`Error::KeyTaken`]
    /// with the first such key.
    ///
    /// Together with the entries it replaces the data of the older entries in `rewrites` and removes `drop_values`. A batch
    /// that rewrites drops all snapshots of the session, since they may hold the old data.
    ///
    /// If the call is dropped before it answers, the batch may have been appended or not.
    async fn append(&self, batch: Append) -> Result<(), Error>;

    /// The row of a session; `None` if there is no such session.
    ///
    /// This is cheap in [`SqliteStore`](crate::SqliteStore): it caches rows and checks whether the file has changed since,
    /// which needs neither a thread nor a query.
    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error>;

    /// Sets when a session expires (`None` is never) and its last activity, and returns its new row. Writes no entry. An
    /// earlier time than before is accepted: the rules of expiry are the caller's.
    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error>;

    /// Reads the entries that `query` asks for: none if there is no such session.
    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error>;

    /// Reads the entries that `query` asks for, in the order of their own time.
    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error>;

    /// Reads the entries with these numbers, each once, in the order of their numbers. Numbers that the journal does not
    /// have are left out.
    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error>;

    /// The entry that claimed `key`.
    async fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, Error> {
        let found = self.find_each(session, &[key.into()]).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// The entries that claimed `keys`: one answer for each key, in the order of `keys`.
    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error>;

    /// The text with this hash that was stored beside the journal.
    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error>;

    /// At most `limit` journals of any kind after the id `after`, in the byte order of their ids.
    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// At most `limit` sessions after the id `after`, in the byte order of their ids. Other journals are not read
    /// for this, however many there are.
    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// At most `limit` sessions, the one with the newest `last_activity` first. Sessions with the same time come in any
    /// order. Every store but the one in memory reads only the rows that it returns.
    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// Renews the leases of `lease.holder`, gives it up to `most` leases that have expired (the first to expire first),
    /// and returns the sessions of all leases that it then has, in the order of their ids. Each of them lasts for
    /// `lease.lasts` from now on. If `lease.lasts` is zero, the holder releases all its leases, and others can take them
    /// at once.
    ///
    /// A holder is not told that it lost a lease: the journal refuses changes that come too late. An expired session has
    /// no lease. Calls of several holders at the same time act as if one came after the other. A lease whose session is
    /// being written to at this moment may have to wait for the next call.
    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error>;

    /// Deletes a session and all its data. Returns whether there was one.
    async fn delete(&self, session: &SessionId) -> Result<bool, Error>;

    /// At most `limit` journals that have expired and are not removed yet, the first to expire first (then by id), each
    /// with the time when it expired.
    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error>;

    /// When this session expired; `None` if it has not, or is removed, or never was.
    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error>;

    /// Removes those of `sessions` that have expired, and returns their ids. One that was touched or created again before
    /// that stays.
    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error>;

    /// Removes at most `limit` expired sessions, the first to expire first (then by id), and returns their ids.
    async fn sweep(&self, limit: usize) -> Result<Vec<SessionId>, Error> {
        let expired: Vec<_> = self.expired(limit).await?.into_iter().map(|(session, _)| session).collect();
        self.remove_expired(&expired).await
    }

    /// Stores a snapshot of the state at `at`, and replaces the snapshot of this entry if there is one. Snapshots may be
    /// dropped at any time, but the newest two are kept as long as there is room. A snapshot whose head is not in the
    /// journal is not stored: it belongs to a deleted session that had the same id. Nor is one that is older than the last
    /// batch that rewrote entries: it may hold the old data.
    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error>;

    /// The newest snapshot up to `at`, with its head.
    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error>;

    /// Announces the id of each session that is appended to, touched or deleted (also by a sweep) from now on, by this
    /// store or by another one on the same data. An id may come more often than the session changes. After
    /// [`RecvError::Lagged`](broadcast::error::RecvError) any session may have changed. Changes by this store are
    /// announced before the call answers, changes by others soon after.
    fn watch(&self) -> broadcast::Receiver<SessionId>;
}

/// A batch of entries of one session, which is appended completely or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// Whose journal it is: the same in all batches of a journal.
    pub kind: JournalKind,
    /// The head for which the batch was decided. [`Head::default`] creates the session, which must not exist yet.
    pub expected: Head,
    /// The entries, at least one, numbered and tagged on from `expected`.
    pub entries: Vec<Entry>,
    /// Texts too large for entries, with their hashes. A text that the session has already is not stored twice.
    pub values: Vec<(Hash, Arc<str>)>,
    /// Older entries whose data is replaced, in the order of their numbers, each once. Their headers and tags stay.
    pub rewrites: Vec<Rewrite>,
    /// Values that are removed, unless the batch also brings them.
    pub drop_values: Vec<Hash>,
    /// When the session expires; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// What this batch does to the lease on the session.
    pub lease: LeaseChange,
}

/// New data for an existing entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The entry.
    pub seq: Seq,
    /// Its data from now on.
    pub data: Arc<str>,
}

/// Whose journal it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JournalKind {
    /// The journal of a session.
    #[default]
    Session,
    /// The record of a request with an idempotency key, or a collection. It is not listed as a session.
    Unlisted,
}

/// What a batch does to the lease on its session. A session in which a run is going on has a lease: it is set in the
/// transaction in which the run begins, so no run is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeaseChange {
    /// The lease stays as it is.
    #[default]
    Keep,
    /// The session gets this lease, whether or not it had one.
    Set(Lease),
    /// The session has no lease any more.
    Remove,
}

/// Says which server drives the run of a session, and for how long no other takes it over. The clock of the store counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it: unique among live servers.
    pub holder: Arc<str>,
    /// How long it lasts from now on.
    pub lasts: Duration,
}

/// What a store knows of a session without reading its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The end of its journal.
    pub head: Head,
    /// When it expires; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// When it was last appended to or touched.
    pub last_activity: Timestamp,
}

/// The state at a head, in bytes that only the caller understands.
pub type Snapshot = (Head, Arc<[u8]>);

/// The direction in which a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest entry first.
    Forward,
    /// The newest entry first.
    Backward,
}

/// Which entries of a journal to read.
#[derive(Clone, Debug)]
pub struct Query {
    /// Only entries with these numbers, `start` included, `end` not.
    pub seqs: Range<Seq>,
    /// Only entries of these types; empty for any type.
    pub types: Vec<Arc<str>>,
    /// Only entries about these subjects; empty for any subject.
    pub subjects: Vec<Arc<str>>,
    /// Which end of the range comes first.
    pub order: Order,
    /// The most entries to return.
    pub limit: usize,
}

impl Query {
    /// All entries with these numbers, of any type and about any subject.
    pub fn all(seqs: Range<Seq>, order: Order, limit: usize) -> Self {
        Self { seqs, types: Vec::new(), subjects: Vec::new(), order, limit }
    }
}

/// Which entries about one subject to read, in the order of (`time`, `seq`). Entries without a time are left out.
#[derive(Clone, Debug)]
pub struct TimeQuery {
    /// Only entries about this subject.
    pub subject: Arc<str>,
    /// Only entries of this type.
    pub kind: Arc<str>,
    /// Only entries with a later time than this.
    pub after: Option<Timestamp>,
    /// Only entries with an earlier time than this.
    pub before: Option<Timestamp>,
    /// Only entries after this position in `order`: where the last page ended.
    pub from: Option<(Timestamp, Seq)>,
    /// Which end comes first.
    pub order: Order,
    /// The most entries to return.
    pub limit: usize,
}

/// A position in the order of (time, number), as databases store them.
pub(crate) type TimePosition = (i64, i64);

impl TimeQuery {
    /// The positions before the first entry and after the last one. With one pair of bounds instead of three conditions, a
    /// read of an index starts where the page does.
    pub(crate) fn bounds(&self) -> (TimePosition, TimePosition) {
        let after = self.after.map_or((i64::MIN, 0), |time| (time.as_millis(), i64::MAX));
        let before = self.before.map_or((i64::MAX, i64::MAX), |time| (time.as_millis(), 0));
        let from = self.from.map(|(time, seq)| (time.as_millis(), i64::try_from(seq.0).unwrap_or(i64::MAX)));
        match (from, self.order) {
            (None, _) => (after, before),
            (Some(from), Order::Forward) => (after.max(from), before),
            (Some(from), Order::Backward) => (after, before.min(from)),
        }
    }
}

/// What an acknowledged append survives; the weakest level comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Nothing: it is lost with the process, or with the server that has it in memory.
    Process,
    /// Any end of the process, also `kill -9`. A loss of power may lose the last moments.
    Normal,
    /// A loss of power.
    Full,
}

impl Durability {
    /// Its name in URLs and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Normal => "normal",
            Self::Full => "full",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Process, Self::Normal, Self::Full].into_iter().find(|durability| durability.name() == name)
    }
}

impl Lease {
    /// A lease that nobody holds and that has expired already: the first holder that asks gets it.
    pub fn unheld() -> Self {
        Self { holder: "".into(), lasts: Duration::ZERO }
    }

    pub(crate) fn lasts_millis(&self) -> i64 {
        i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
    }

    /// When it expires if it begins at `now`.
    pub(crate) fn until(&self, now: Timestamp) -> Timestamp {
        Timestamp::nearest(now.as_millis().saturating_add(self.lasts_millis()))
    }
}

impl Append {
    /// A batch that adds entries and nothing else, to a session that does not expire.
    pub fn of(session: SessionId, kind: JournalKind, expected: Head, entries: Vec<Entry>) -> Self {
        let (values, rewrites, drop_values, lease) = Default::default();
        Self { session, kind, expected, entries, values, rewrites, drop_values, expires_at: None, lease }
    }

    /// Refuses a batch that is empty, or whose numbers do not continue the expected head, or that rewrites newer entries.
    pub(crate) fn check_numbers(&self) -> Result<(), Error> {
        let expected = self.expected.seq;
        let wrong = |found| Err(Error::Misnumbered { expected, found });
        if self.entries.is_empty() {
            return wrong(None);
        }
        let mut last = expected;
        for entry in &self.entries {
            if entry.header.seq != last.next() {
                return wrong(Some(entry.header.seq));
            }
            last = entry.header.seq;
        }
        let mut last = Seq::ZERO;
        for Rewrite { seq, .. } in &self.rewrites {
            if *seq <= last || *seq > expected {
                return wrong(Some(*seq));
            }
            last = *seq;
        }
        Ok(())
    }

    /// The keys that the batch claims. Refused with the first one that is taken: in the journal, where `claimed` finds it, or
    /// earlier in the batch.
    pub(crate) fn claims<E: From<Error>>(
        &self,
        claimed: impl Fn(&str) -> Result<Option<Seq>, E>,
    ) -> Result<HashMap<Arc<str>, Seq>, E> {
        let mut claims: HashMap<Arc<str>, Seq> = HashMap::new();
        for header in self.entries.iter().map(|entry| &entry.header) {
            for key in &header.keys {
                if let Some(seq) = claimed(key)?.or_else(|| claims.get(key).copied()) {
                    return Err(Error::KeyTaken { key: key.clone(), seq }.into());
                }
                claims.insert(key.clone(), header.seq);
            }
        }
        Ok(claims)
    }

    /// The values that are gone after the batch.
    pub(crate) fn dropped_values(&self) -> impl Iterator<Item = &Hash> {
        let is_brought = |hash: &Hash| self.values.iter().any(|(brought, _)| brought == hash);
        self.drop_values.iter().filter(move |hash| !is_brought(hash))
    }

    /// Whether the batch rewrites entries or drops values.
    pub(crate) fn erases(&self) -> bool {
        !self.rewrites.is_empty() || !self.drop_values.is_empty()
    }
}

impl Row {
    /// When its session expired, if it has by `now`.
    pub(crate) fn expired_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.expires_at.filter(|at| *at <= now)
    }

    /// Whether its session has not expired at `now`.
    pub(crate) fn lives(&self, now: Timestamp) -> bool {
        self.expired_at(now).is_none()
    }
}

/// How many ids of changed sessions wait for a slow watcher before it is told that it lags.
pub(crate) const WATCH_CAPACITY: usize = 1024;

/// How many snapshots of a session are kept.
pub(crate) const SNAPSHOTS_KEPT: usize = 2;
