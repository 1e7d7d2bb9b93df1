//! A transaction, and what is told of it once it is committed.

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result as SqlResult};

use super::{changes, words::Numbers};

/// What a write needs of the transaction that it runs in.
pub(super) struct Transaction<'a> {
    /// The connection that it runs on.
    pub(super) db: &'a Connection,
    /// When it began: what has expired by then is gone.
    pub(super) now: Timestamp,
    pub(super) newest_change: i64,
    pub(super) numbers: &'a mut Numbers,
    pub(super) changed: Vec<SessionId>,
    pub(super) dead: bool,
}

impl Transaction<'_> {
    /// The number of the change that is made next.
    pub(super) fn next_change(&mut self) -> i64 {
        self.newest_change += 1;
        self.newest_change
    }

    /// Has the session named to those who watch this store, once it is committed.
    pub(super) fn changed(&mut self, session: &SessionId) {
        self.changed.push(session.clone());
    }

    /// Has the session named to those who watch here and in other processes.
    pub(super) fn notice(&mut self, session: &SessionId) -> SqlResult<()> {
        let change = self.next_change();
        self.changed(session);
        changes::notice(self.db, change, session, self.now)
    }

    /// Notes that there are rows to remove.
    pub(super) fn has_deleted_rows(&mut self) {
        self.dead = true;
    }
}
