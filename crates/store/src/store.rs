//! The trait of stores, and what its calls take and give.

use std::{ops::Range, sync::Arc, time::Duration};

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
/// A session whose `expires_at` is not later than [`now`](Self::now) is gone: every call answers as if it had never
/// been, whether or not [`sweep`](Self::sweep) has removed it yet, and an append that makes it begins with nothing of
/// it.
///
/// An error is never an answer: what could not be found out is an [`Error`], never "not there".
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// What an acknowledged append has survived.
    fn durability(&self) -> Durability;

    /// What whoever runs it should know: settings with which it keeps less than it could, and what to do.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// The newest `last_activity` of all journals when this handle was opened, also of those that had expired and were not
    /// swept yet; nothing where there was none. A clock that is far ahead of it may be wrong.
    fn last_activity_at_open(&self) -> Option<Timestamp> {
        None
    }

    /// The time by the clock that decides about expiry.
    async fn now(&self) -> Result<Timestamp, Error>;

    /// Appends a batch, whole or not at all, and answers once it is as durable as [`durability`](Self::durability)
    /// says.
    ///
    /// In this order it looks whether the entries are numbered on from `expected` ([`Error::Misnumbered`]; tags are
    /// taken as they are), compares the number and the tag of the head with `expected` ([`Error::Conflict`]), and every
    /// key of every entry with the keys of the journal and of the batch ([`Error::KeyTaken`], with the first that is).
    ///
    /// A call that is dropped before it has answered may have appended or not.
    async fn append(&self, batch: Append) -> Result<(), Error>;

    /// What is known of a session.
    ///
    /// To ask is cheap where the data is on this machine: [`SqliteStore`](crate::SqliteStore) remembers rows, asks the file
    /// whether anybody has written to it since, and needs neither a thread nor a query where nobody has.
    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error>;

    /// Notes that a session is in use until `expires_at` (`None` is never) and says what is known of it then. Writes no
    /// entry. It sets what it is given, also an earlier time: the rules of expiry are not the store's.
    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error>;

    /// Reads the entries that `query` asks for. A session that is not there has none.
    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error>;

    /// Reads the entries that `query` asks for by their own time.
    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error>;

    /// Reads the entries with these numbers, in the order of their numbers and each once. A number that the journal does
    /// not have is left out.
    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error>;

    /// Which entry claimed `key`.
    async fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, Error> {
        let found = self.find_each(session, &[key.into()]).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// Which entries claimed `keys`: one answer for each key, in their order.
    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error>;

    /// The text with this hash that was stored beside the journal.
    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error>;

    /// All journals behind `after`, of sessions and of requests, in the order of the bytes of their ids, at most `limit`.
    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// The sessions behind `after`, in the order of the bytes of their ids, at most `limit`. However many journals of
    /// requests there are, none is read for that.
    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// The sessions with the newest `last_activity`, the newest first, at most `limit`. Of those with the same one any may
    /// come first. A store that others than tests use reads no more rows for that than it gives.
    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// Renews the leases of `lease.holder`, gives it up to `most` of those that have run out, the first to have run out
    /// first, and names the sessions of all that it has then, in the order of their ids. From now on each lasts as long
    /// as `lease.lasts`; where that is nothing, the holder lets go of all that it has, and others may have them at once.
    ///
    /// Who had a lease and lost it is not told: it is for the journal to refuse what comes too late. A session that has
    /// expired has no lease. The calls of several holders at once are as if one came after the other; a lease whose
    /// session is being written to at this moment may be renewed or taken by the next call only.
    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error>;

    /// Deletes all there is of a session and says whether there was one.
    async fn delete(&self, session: &SessionId) -> Result<bool, Error>;

    /// Deletes at most `limit` sessions that have expired and names them: in the order in which they expired, then by
    /// id. A touch that comes before wins.
    async fn sweep(&self, limit: usize) -> Result<Vec<SessionId>, Error>;

    /// Keeps a snapshot of what a journal folds to at `at`, in the place of the one that was there for this entry. It
    /// may be dropped at any time, but the newest two are kept as long as there is room. One whose head is not in the
    /// journal (any more) is not kept: it is of another session that had this id.
    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error>;

    /// The newest snapshot that is not later than `at`, with the head that it was made for.
    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error>;

    /// Names each session in which something was appended, touched or deleted (also by a sweep) from now on, by this
    /// store or by another one on the same data. It may name a session too often, and after
    /// [`RecvError::Lagged`](broadcast::error::RecvError) any session may have changed. What this store did is
    /// named before the call answers; what others did soon after.
    fn watch(&self) -> broadcast::Receiver<SessionId>;
}

/// A batch of entries of one session that is appended whole or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// What the journal is of: the same in all its batches.
    pub kind: JournalKind,
    /// The head that the batch was decided on. [`Head::default`] makes the session, which must not exist.
    pub expected: Head,
    /// The entries, at least one, numbered and tagged on from `expected`.
    pub entries: Vec<Entry>,
    /// Texts too large for entries, with their hashes. One that is there already is not stored twice.
    pub values: Vec<(Hash, Arc<str>)>,
    /// When the session expires from now on; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// What becomes of the lease on the session with this batch.
    pub work: Work,
}

/// What a journal is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JournalKind {
    /// A session.
    #[default]
    Session,
    /// A request under an idempotency key, which is no session and is not listed as one.
    Request,
}

/// Whether there is something to do in a session by itself, a run that goes on, and who does it. A session in which
/// there is has a lease, in the same transaction in which that begins, so that none is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// As before the batch.
    #[default]
    AsBefore,
    /// There is, and whoever has this lease does it from now on, whoever did before.
    Due(Lease),
    /// There is nothing (any more).
    Done,
}

/// That the work in a session is somebody's, and for how long nobody else takes it. By the clock of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Whose; no two that live at the same time have one name.
    pub holder: Arc<str>,
    /// For how long from now on.
    pub lasts: Duration,
}

/// What a store knows of a session without looking into its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where its journal ends.
    pub head: Head,
    /// When it expires; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// When it was last appended to or touched.
    pub last_activity: Timestamp,
}

/// What a journal folds to, in bytes that mean something to whoever made it, and the head that it was made for.
pub type Snapshot = (Head, Arc<[u8]>);

/// Which way a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest entry first.
    Forward,
    /// The newest entry first.
    Backward,
}

/// Which entries of a journal are wanted. An empty list of types or subjects means any; who is in a list twice counts
/// once.
#[derive(Clone, Debug)]
pub struct Query {
    /// Only entries with these numbers, `start` included, `end` not.
    pub seqs: Range<Seq>,
    /// Only entries of these types.
    pub types: Vec<Arc<str>>,
    /// Only entries about these subjects.
    pub subjects: Vec<Arc<str>>,
    /// Which end of the range comes first.
    pub order: Order,
    /// How many entries at most.
    pub limit: usize,
}

/// Which entries of one subject are wanted in the order of (`time`, `seq`). Entries without a time are not among them.
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
    /// Only entries that come, in `order`, behind this place: where the last page ended.
    pub from: Option<(Timestamp, Seq)>,
    /// Which end comes first.
    pub order: Order,
    /// How many entries at most.
    pub limit: usize,
}

/// A place in the order of (time, number), as databases keep both.
pub(crate) type TimePosition = (i64, i64);

impl TimeQuery {
    /// The places between which, both excluded, the entries are. One pair of bounds instead of three conditions lets an
    /// index begin where the page does.
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

/// What an acknowledged append has survived, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Nothing but the caller: it goes with the process, or with the server that has it in memory.
    Process,
    /// The end of the process by any means, `kill -9` too. A loss of power may take the last moments with it.
    Normal,
    /// A loss of power.
    Full,
}

impl Lease {
    /// A lease that has run out from the beginning: whoever asks first gets it.
    pub fn of_nobody() -> Self {
        Self { holder: "".into(), lasts: Duration::ZERO }
    }

    pub(crate) fn lasts_millis(&self) -> i64 {
        i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
    }

    /// When it runs out where it begins at `now`.
    pub(crate) fn until(&self, now: Timestamp) -> Timestamp {
        Timestamp::nearest(now.as_millis().saturating_add(self.lasts_millis()))
    }
}

impl Append {
    /// Refuses a batch that is empty or not numbered on from the head that it expects.
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
        Ok(())
    }
}

impl Row {
    /// Whether its session is still there at `now`.
    pub(crate) fn lives(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }
}

/// How many names of changed sessions wait for a watcher that is slow, before it is told that it lags.
pub(crate) const WATCH_CAPACITY: usize = 1024;

/// How many snapshots of a session are kept.
pub(crate) const SNAPSHOTS_KEPT: usize = 2;
