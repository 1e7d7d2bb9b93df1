//! The rows of sessions in memory, for as long as nobody writes to the file.
//!
//! SQLite has a number, `data_version`, that is another one once any other connection has committed. To read it takes a
//! few microseconds, less than to hand a call to a thread. So a row is looked up by whoever asks for it: in memory where
//! the number has stayed, else over a connection that is there for nothing else.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Mutex, TryLockError},
    time::Duration,
};

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result};

use super::{changes, error::SqliteError, file, sessions};
use crate::Row;

/// How many rows are remembered.
const MOST: usize = 4096;

/// The rows that were looked up since the file last changed.
#[derive(Debug)]
pub(super) struct RowCache(Mutex<Cached>);

#[derive(Debug)]
struct Cached {
    db: Connection,
    /// The version of the data of which the rows are.
    version: i64,
    rows: HashMap<SessionId, Option<Row>>,
}

impl RowCache {
    /// An empty one for the file `path`, which is there and sound.
    pub(super) fn open(path: &Path) -> Result<Self, SqliteError> {
        let db = file::connect_reader(path)?;
        // Whoever asks does not wait for another process: a thread does.
        db.busy_timeout(Duration::ZERO)?;
        let version = changes::data_version(&db)?;
        Ok(Self(Mutex::new(Cached { db, version, rows: HashMap::new() })))
    }

    /// The row of a session that lives at `now`, as it is in the file at this moment. An error where that cannot be said
    /// at once: because another task is looking, or SQLite would have to wait, or it fails.
    pub(super) fn row(&self, session: &SessionId, now: Timestamp) -> Result<Option<Row>, WouldBlock> {
        let mut cached = match self.0.try_lock() {
            Ok(cached) => cached,
            Err(TryLockError::WouldBlock) => return Err(WouldBlock),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let row = cached.look_up(session).map_err(|_| WouldBlock)?;
        Ok(row.filter(|row| row.lives(now)))
    }
}

/// A reader thread has to be asked, which waits where it must and says what is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct WouldBlock;

impl Cached {
    fn look_up(&mut self, session: &SessionId) -> Result<Option<Row>> {
        // In this order: what is read below is of this version or a later one, and a later one is noticed the next time.
        let version = changes::data_version(&self.db)?;
        if version != self.version || self.rows.len() >= MOST {
            self.rows.clear();
            self.version = version;
        }
        if let Some(row) = self.rows.get(session) {
            return Ok(*row);
        }
        let row = sessions::find(&self.db, session)?.map(|found| found.row);
        self.rows.insert(session.clone(), row);
        Ok(row)
    }
}
