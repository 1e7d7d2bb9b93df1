//! Journals in one SQLite file, which several processes may share.
//!
//! All writes share one connection (see [`writer`]), and writes that wait at the same time share a transaction. Reads use a
//! few connections of their own (see [`readers`]). `sqlite/schema.sql` describes the tables.

mod append;
mod changes;
mod column;
mod delete;
mod error;
mod file;
mod indexing;
mod read;
mod readers;
mod row_cache;
mod sessions;
mod snapshots;
#[cfg(test)]
mod tests;
mod transaction;
mod vacuum;
mod words;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use rusqlite::Connection;
use tokio::sync::broadcast;

use self::{readers::Readers, row_cache::RowCache, sessions::StoredSession, writer::Writer};
use crate::{Append, Clock, Durability, Error, Lease, Query, Row, Settings, Snapshot, Store, TimeQuery};

/// Keeps journals in one SQLite file.
///
/// Several processes may open the same file: heads are compared inside the transaction, and while somebody uses
/// [`watch`](Store::watch), the store looks ten times a second for changes by others. The file must be on a local disk;
/// several machines cannot share it.
///
/// With [`Durability::Normal`] an acknowledged append survives any end of the process. A loss of power may lose the newest
/// batches, each completely; the file stays intact. With [`Durability::Full`] an append also survives a loss of power, if
/// the disk keeps what it reports as written (on macOS with `F_FULLFSYNC`). [`Durability::Process`] is treated as `Normal`.
///
/// A deleted session cannot be reached any more at once. Its rows are overwritten and removed afterwards, in slices, so
/// that a long journal delays nobody.
///
/// When the last handle is dropped, waiting writes are still done and answered, and then the file is closed. If entries were
/// rewritten or values dropped, the file is vacuumed first, so that nothing of the old data is left in it.
#[derive(Debug)]
pub struct SqliteStore {
    // The order matters: the connection of the writer is closed last, and then copies the log into the file.
    readers: Readers,
    rows: RowCache,
    writer: Writer,
    durability: Durability,
    clock: Arc<dyn Clock>,
    last_activity_at_open: Option<Timestamp>,
}

impl SqliteStore {
    /// Opens the file at `path`. Creates it and the folders above it if they are missing. Blocks on the disk.
    ///
    /// It refuses a file that is no database, or that another program or another version wrote. A refused file is not changed.
    pub fn open(path: impl AsRef<Path>, settings: Settings) -> Result<Self, Error> {
        let path: Arc<Path> = PathBuf::from(path.as_ref()).into();
        let Settings { durability, clock, supervisor } = settings;
        let durability = if durability == Durability::Full { Durability::Full } else { Durability::Normal };
        let connection = file::open(&path, durability)?;
        let failed = |error| error::lost(&Arc::new(error), "opening the store", &path);
        let last_activity_at_open = sessions::last_activity(&connection).map_err(failed)?;
        let writer = Writer::start(connection, durability, &path, clock.clone(), supervisor)?;
        let rows = RowCache::open(&path).map_err(failed)?;
        Ok(Self { readers: Readers::new(path), rows, writer, durability, clock, last_activity_at_open })
    }

    async fn list(
        &self,
        sql: &'static str,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, Row)>, Error> {
        let (after, now) = (after.cloned(), self.clock.now());
        self.readers.read("listing sessions", move |db| sessions::list(db, sql, after.as_ref(), now, limit)).await
    }

    /// Calls `look` with a session that has not expired. The default answer if there is no such session.
    async fn read_session<T, F>(&self, doing: &'static str, session: &SessionId, look: F) -> Result<T, Error>
    where
        T: Default + Send + 'static,
        F: FnOnce(&Connection, &StoredSession) -> rusqlite::Result<T> + Send + 'static,
    {
        let (session, now) = (session.clone(), self.clock.now());
        let look = move |db: &Connection| match sessions::live(db, &session, now)? {
            Some(found) => look(db, &found),
            None => Ok(T::default()),
        };
        self.readers.read(doing, look).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn durability(&self) -> Durability {
        self.durability
    }

    fn last_activity_at_open(&self) -> Option<Timestamp> {
        self.last_activity_at_open
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.clock.now())
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        batch.check_numbers()?;
        let is_short = append::is_short(&batch);
        self.writer.write_if_short("appending", is_short, move |write| append::append(write, &batch)).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        let now = self.clock.now();
        if let Some(row) = self.rows.row(session, now) {
            return Ok(row);
        }
        self.read_session("looking for a session", session, |_, found| Ok(Some(found.row))).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        let session = session.clone();
        self.writer.write("touching a session", move |write| sessions::touch(write, &session, expires_at)).await
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        self.read_session("reading entries", session, move |db, found| read::read(db, found, &query)).await
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        let look = move |db: &_, found: &_| read::read_by_time(db, found, &query);
        self.read_session("reading entries by time", session, look).await
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        let seqs = seqs.to_vec();
        self.read_session("reading entries", session, move |db, found| read::read_each(db, found, &seqs)).await
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        let (absent, keys) = (vec![None; keys.len()], keys.to_vec());
        let look = move |db: &_, found: &_| append::find_each(db, found, &keys).map(Some);
        Ok(self.read_session("looking for keys", session, look).await?.unwrap_or(absent))
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        self.read_session("reading a large value", session, move |db, found| read::value(db, found, hash)).await
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.list(sessions::JOURNALS, after, limit).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.list(sessions::SESSIONS, after, limit).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        let now = self.clock.now();
        self.readers.read("listing sessions", move |db| sessions::recent(db, now, limit)).await
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        let lease = lease.clone();
        self.writer.write("taking leases", move |write| sessions::lease(write, &lease, most)).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        let session = session.clone();
        self.writer.write("deleting a session", move |write| delete::delete(write, &session)).await
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        // One transaction after the other, so that rescheduling many sessions delays nobody.
        loop {
            let expired = self.writer.write("looking for what has expired", move |write| delete::expired(write, limit));
            if let Some(expired) = expired.await? {
                return Ok(expired);
            }
        }
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        let (session, now) = (session.clone(), self.clock.now());
        let look = move |db: &_| Ok(sessions::find(db, &session)?.and_then(|found| found.row.expired_at(now)));
        self.readers.read("looking for an expired session", look).await
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        let sessions = sessions.to_vec();
        self.writer.write("removing expired sessions", move |write| delete::remove_expired(write, &sessions)).await
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        let session = session.clone();
        self.writer.write("keeping a snapshot", move |write| snapshots::put(write, &session, at, &state)).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        self.read_session("reading a snapshot", session, move |db, found| snapshots::newest(db, found, at)).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.writer.watch()
    }
}
