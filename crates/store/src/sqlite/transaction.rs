//! A transaction, and what watchers are told after its commit.

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result as SqlResult};

use super::{changes, words::IdCache};

/// The transaction in which a write runs.
pub(super) struct Transaction<'a> {
    pub(super) db: &'a Connection,
    /// When it began. Sessions that have expired by then are gone.
    pub(super) now: Timestamp,
    pub(super) newest_change: i64,
    pub(super) ids: &'a mut IdCache,
    /// The sessions that are announced to watchers of this store after the commit.
    pub(super) changed: Vec<SessionId>,
    /// Whether there are rows of deleted sessions to remove.
    pub(super) dead: bool,
}

impl Transaction<'_> {
    /// The number of the next change.
    pub(super) fn next_change(&mut self) -> i64 {
        self.newest_change += 1;
        self.newest_change
    }

    /// Announces the session to watchers of this store and of other processes after the commit.
    pub(super) fn notice(&mut self, session: &SessionId) -> SqlResult<()> {
        let change = self.next_change();
        self.changed.push(session.clone());
        changes::notice(self.db, change, session, self.now)
    }
}
