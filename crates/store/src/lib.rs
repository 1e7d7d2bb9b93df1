//! Where journals are kept.
//!
//! A [`Store`] appends to, reads, watches and expires journals; it knows nothing of what they say. Every store passes
//! the same conformance suite, with `memory::MemoryStore` as its oracle.

use std::{ops::Range, sync::Arc};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};

/// A batch of entries of one session that is appended whole or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// The head that the batch was decided on. [`Head::default`] makes the session, which must not exist.
    pub expected: Head,
    /// The entries, numbered and tagged on from `expected`.
    pub entries: Vec<Entry>,
    /// Texts too large for entries, with their hashes. One that is there already is not stored twice.
    pub values: Vec<(Hash, Arc<str>)>,
    /// When the session expires from now on; `None` is never.
    pub expires_at: Option<Timestamp>,
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

/// Which way a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest entry first.
    Forward,
    /// The newest entry first.
    Backward,
}

/// Which entries of a journal are wanted. An empty list of types or subjects means any.
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

/// What an acknowledged append has survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing but the caller: it goes with the process.
    Process,
    /// The end of the process by any means, `kill -9` too. A loss of power may take the last moments with it.
    Normal,
    /// A loss of power.
    Full,
}

/// Keeps journals.
///
/// A session whose `expires_at` is not later than [`now`](Self::now) is gone: every call answers as if it had never
/// been, whether or not [`sweep`](Self::sweep) has removed it yet, and an append that makes it begins with nothing of it.
///
/// An error is never an answer: what could not be found out is an [`Error`], never "not there".
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// What an acknowledged append has survived.
    fn durability(&self) -> Durability;

    /// The time by the clock that decides about expiry.
    async fn now(&self) -> Result<Timestamp, Error>;

    /// Appends a batch, whole or not at all, and answers once it is as durable as [`durability`](Self::durability) says.
    ///
    /// It compares the number and the tag of the head with `expected` ([`Error::Conflict`]), and every key of every
    /// entry with the keys of the journal and of the batch ([`Error::KeyTaken`]).
    async fn append(&self, batch: Append) -> Result<(), Error>;

    /// What is known of a session.
    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error>;

    /// Notes that a session is in use until `expires_at` (`None` is never) and says what is known of it. Writes no
    /// entry. It sets what it is given, also an earlier time: the rules of expiry are not the store's.
    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error>;

    /// Reads the entries that `query` asks for. A session that is not there has none.
    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error>;

    /// Reads the entries that `query` asks for by their own time.
    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error>;

    /// Which entry claimed `key`.
    async fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, Error>;

    /// The text with this hash that was stored beside the journal.
    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error>;

    /// The sessions behind `after`, by id, at most `limit`.
    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error>;

    /// Deletes all there is of a session and says whether there was one.
    async fn delete(&self, session: &SessionId) -> Result<bool, Error>;

    /// Deletes at most `limit` sessions that have expired and names them. A touch that comes before wins.
    async fn sweep(&self, limit: usize) -> Result<Vec<SessionId>, Error>;

    /// Keeps a snapshot of what a journal folds to at `at`. It may be dropped at any time.
    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error>;

    /// The newest snapshot that is not later than `at`. It is given with the head it was made for, which the caller
    /// compares with the journal's.
    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<(Head, Arc<[u8]>)>, Error>;

    /// Names each session in which something was appended, touched or deleted, by this store or by another one on the
    /// same data. It may name a session too often, and after [`RecvError::Lagged`](tokio::sync::broadcast::error::RecvError)
    /// any session may have changed.
    fn watch(&self) -> tokio::sync::broadcast::Receiver<SessionId>;
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal does not end where the batch expected it to.
    #[error("the journal has moved on: its head is {}", found.map_or(Seq::ZERO, |row| row.head.seq))]
    Conflict {
        /// What is there instead; `None` where there is no such session.
        found: Option<Row>,
    },
    /// A key of the batch was claimed before.
    #[error("the key {key:?} was claimed by entry {seq}")]
    KeyTaken {
        /// The key.
        key: Arc<str>,
        /// The entry that claimed it: one of the journal, or an earlier one of the same batch.
        seq: Seq,
    },
    /// The data was written by a newer version of this program.
    #[error("{what} has format {found}, and this version reads up to {known}: use the newer version that wrote it")]
    WrittenByNewer {
        /// What was opened.
        what: String,
        /// Its format.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// There is no room for what was to be written. Nothing of it was.
    #[error("no space left while {doing}: free some, then try again; nothing was written")]
    Full {
        /// What was being done.
        doing: &'static str,
    },
    /// What the store gave back is not what was written.
    #[error("{what} is damaged: {detail}; run `callboard doctor`")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The store could not do it now. Whether it was done is unknown for an append, which can be asked about by its head.
    #[error("the store failed while {doing}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
