//! The write connection: it commits groups of writes, and does maintenance between them.

use std::{path::Path, sync::Arc, time::Duration};

use callboard_core::id::SessionId;
use rusqlite::{Connection, Result as SqlResult, TransactionBehavior};
use tokio::sync::broadcast;

use super::{
    super::{changes, delete, file, indexing, sessions, vacuum, words::IdCache},
    Transaction,
    group::{self, CommitError, QueuedWrite},
};
use crate::Clock;

/// How many rows of deleted sessions are removed at a time, which takes a few milliseconds.
const SLICE: usize = 64;

/// How often to look for changes by other processes while somebody watches.
const POLL: Duration = Duration::from_millis(100);

/// The longest time until an appended entry is indexed.
const INDEX_DELAY: Duration = Duration::from_millis(20);

/// The one connection that writes.
pub(super) struct WriteConnection {
    db: Connection,
    watchers: broadcast::Sender<SessionId>,
    clock: Arc<dyn Clock>,
    path: Arc<Path>,
    /// The newest change that was announced to watchers.
    seen: i64,
    data_version: i64,
    /// Whether there may be rows of deleted sessions.
    dead: bool,
    /// The newest change when indexing was last tried.
    indexed: i64,
    ids: IdCache,
    /// Whether the thread will do maintenance soon by itself.
    is_maintained: bool,
    /// Whether the last group was a single write.
    pub(super) alone: bool,
}

impl WriteConnection {
    pub(super) fn new(
        db: Connection,
        watchers: broadcast::Sender<SessionId>,
        clock: Arc<dyn Clock>,
        path: Arc<Path>,
    ) -> SqlResult<Self> {
        let (seen, data_version) = (changes::newest(&db)?, changes::data_version(&db)?);
        let (indexed, ids) = (sessions::indexed_through(&db)?, IdCache::default());
        let (dead, is_maintained, alone) = (true, true, true);
        Ok(Self { db, watchers, clock, path, seen, data_version, dead, indexed, ids, is_maintained, alone })
    }

    /// Commits a group, announces its changes, and then answers each write in it.
    pub(super) fn commit(&mut self, mut group: Vec<Box<dyn QueuedWrite>>) {
        self.alone = group.len() == 1;
        let begun = group::run(&self.db, BEGIN).map_err(CommitError::from);
        let done = begun.and_then(|()| self.transact(&mut group));
        self.answer(done, group);
    }

    /// The same without waiting: if another process is writing, or each write would have to be tried alone, it returns the
    /// group.
    pub(super) fn commit_at_once(&mut self, mut group: Vec<Box<dyn QueuedWrite>>) -> Vec<Box<dyn QueuedWrite>> {
        // Only the beginning of a transaction waits for other processes.
        let begun = self.db.busy_timeout(Duration::ZERO).and_then(|()| group::run(&self.db, BEGIN));
        let patient = self.db.busy_timeout(file::BUSY);
        if begun.and(patient).is_err() {
            return group;
        }
        self.alone = group.len() == 1;
        match self.transact(&mut group) {
            // Trying each alone may have to wait.
            Err(CommitError { retry_alone: true, .. }) if !self.alone => group,
            done => {
                self.answer(done, group);
                Vec::new()
            }
        }
    }

    /// Answers a group whose outcome is known.
    fn answer(&mut self, done: Result<Vec<SessionId>, CommitError>, group: Vec<Box<dyn QueuedWrite>>) {
        match done {
            Ok(changed) => {
                self.announce(changed);
                group.into_iter().for_each(|work| work.answer(None, &self.path));
            }
            Err(CommitError { retry_alone: true, .. }) if group.len() > 1 => {
                group.into_iter().for_each(|work| self.commit(vec![work]));
            }
            Err(CommitError { error, .. }) => {
                group.into_iter().for_each(|work| work.answer(Some(&error), &self.path));
            }
        }
    }

    /// Runs a group in the transaction that has begun. Returns the sessions that it changed.
    fn transact(&mut self, group: &mut [Box<dyn QueuedWrite>]) -> Result<Vec<SessionId>, CommitError> {
        let done = self.transact_begun(group);
        if done.is_err() {
            self.ids.clear();
            if !self.db.is_autocommit() {
                group::run(&self.db, "ROLLBACK")?;
            }
        }
        done
    }

    fn transact_begun(&mut self, group: &mut [Box<dyn QueuedWrite>]) -> Result<Vec<SessionId>, CommitError> {
        self.notice_others()?;
        let newest = self.seen;
        let (db, now, ids) = (&self.db, self.clock.now(), &mut self.ids);
        let mut write = Transaction { db, now, newest_change: newest, ids, changed: Vec::new(), dead: false };
        group::commit(&mut write, group)?;
        let Transaction { newest_change, changed, dead, .. } = write;
        self.seen = newest_change;
        self.dead |= dead;
        Ok(changed)
    }

    /// Maintenance that no caller waits for: all of it in a quiet moment, else only what is urgent. Returns when to call it
    /// again; `None` for when [`needs_maintenance`](Self::needs_maintenance) says so.
    pub(super) fn maintain(&mut self, is_quiet: bool) -> Option<Duration> {
        if is_quiet
            && self.watchers.receiver_count() > 0
            && let Err(error) = self.notice_others()
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot see what other processes changed");
        }
        self.index(if is_quiet { 1 } else { indexing::MAX_UNINDEXED });
        self.reclaim();
        let pause = if self.dead {
            Some(Duration::ZERO)
        } else if self.unindexed() > 0 {
            Some(INDEX_DELAY)
        } else {
            (self.watchers.receiver_count() > 0).then_some(POLL)
        };
        self.is_maintained = pause.is_some_and(|pause| pause <= INDEX_DELAY);
        pause
    }

    /// Whether the thread has to be woken for [maintenance](Self::maintain). It says so once, until the thread has done it.
    pub(super) fn needs_maintenance(&mut self) -> bool {
        !std::mem::replace(&mut self.is_maintained, true)
    }

    /// Reads the changes by other processes, and announces them if somebody watches.
    fn notice_others(&mut self) -> SqlResult<()> {
        let version = changes::data_version(&self.db)?;
        if version == self.data_version {
            return Ok(());
        }
        let newest = changes::newest(&self.db)?;
        if self.watchers.receiver_count() > 0 {
            self.announce(changes::between(&self.db, self.seen, newest)?);
        }
        (self.seen, self.data_version) = (newest, version);
        Ok(())
    }

    fn announce(&self, changed: Vec<SessionId>) {
        for session in changed {
            // Sending fails only if nobody watches.
            let _ = self.watchers.send(session);
        }
    }

    /// How many changes wait to be indexed.
    fn unindexed(&self) -> i64 {
        self.seen.saturating_sub(self.indexed)
    }

    /// Indexes if at least so many changes wait. A failure is harmless: reads scan the entries that are not indexed, and
    /// after more changes it is tried again.
    fn index(&mut self, at_least: i64) {
        if self.unindexed() < at_least {
            return;
        }
        self.indexed = self.seen;
        if let Err(error) = transaction(&self.db, indexing::index_all) {
            tracing::warn!(%error, path = %self.path.display(), "cannot index what was appended yet");
        }
    }

    /// Removes some rows of deleted sessions. If that fails, they stay until the next deletion or start.
    fn reclaim(&mut self) {
        if !self.dead {
            return;
        }
        let more = match delete::has_deleted_rows(&self.db) {
            Ok(true) => transaction(&self.db, |db| delete::reclaim(db, SLICE)),
            none => none,
        };
        self.dead = more.unwrap_or_else(|error| {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove what was deleted yet");
            false
        });
    }
}

impl Drop for WriteConnection {
    fn drop(&mut self) {
        if let Err(error) = vacuum::vacuum_if_noted(&self.db) {
            let path = self.path.display();
            tracing::warn!(%error, %path, "what was erased may still be in unused parts of the file: this is tried again");
        }
    }
}

const BEGIN: &str = "BEGIN IMMEDIATE";

/// Runs `work` in its own transaction.
fn transaction<T>(db: &Connection, work: impl FnOnce(&Connection) -> SqlResult<T>) -> SqlResult<T> {
    let transaction = rusqlite::Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}
