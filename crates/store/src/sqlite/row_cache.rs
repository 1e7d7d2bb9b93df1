//! A cache of the rows of sessions. It is valid until somebody writes to the file.
//!
//! SQLite has a number, `data_version`, that changes when another connection has committed. Reading it takes a few
//! microseconds, less than handing a call to a thread. So the caller itself looks a row up: in memory if the number is
//! the same, else over a connection that only this cache uses.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Mutex, TryLockError},
    time::Duration,
};

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result};

use super::{changes, file, sessions};
use crate::Row;

/// The most rows in the cache.
const MOST: usize = 4096;

/// The rows that were read since the file last changed.
#[derive(Debug)]
pub(super) struct RowCache(Mutex<Cached>);

#[derive(Debug)]
struct Cached {
    db: Connection,
    /// The `data_version` for which the rows are valid.
    version: i64,
    rows: HashMap<SessionId, Option<Row>>,
}

impl RowCache {
    /// Creates an empty cache for the file `path`, which must have been opened before.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let db = file::connect_reader(path)?;
        // This runs on the task of the caller, which must not wait for another process. A thread does that.
        db.busy_timeout(Duration::ZERO)?;
        let version = changes::data_version(&db)?;
        Ok(Self(Mutex::new(Cached { db, version, rows: HashMap::new() })))
    }

    /// The current row of a session that has not expired at `now`. `None` if it cannot be read at once: another task is
    /// reading, SQLite would have to wait, or it fails. Then a reader thread has to read it, which can wait and reports
    /// errors.
    pub(super) fn row(&self, session: &SessionId, now: Timestamp) -> Option<Option<Row>> {
        let mut cached = match self.0.try_lock() {
            Ok(cached) => cached,
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let row = cached.look_up(session).ok()?;
        Some(row.filter(|row| row.lives(now)))
    }
}

impl Cached {
    fn look_up(&mut self, session: &SessionId) -> Result<Option<Row>> {
        // The version is read first: the row is then of this version or a later one, which the next call notices.
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
