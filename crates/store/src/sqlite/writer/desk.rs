//! The connection that writes, and what whoever has it does with it.

use std::{path::Path, sync::Arc, time::Duration};

use callboard_core::id::SessionId;
use rusqlite::{Connection, Result as SqlResult};
use tokio::sync::broadcast;

use super::{
    super::{changes, delete, fault::Fault, file, filing, words::Numbers},
    Write,
    group::{self, Lost, Work},
};
use crate::Clock;

/// How many rows of deleted sessions are removed at a time: a few milliseconds' worth.
const SLICE: usize = 64;

/// How often it is looked for changes by others, as long as somebody watches.
const POLL: Duration = Duration::from_millis(100);

/// How long what was appended waits at most until it is filed, however little it is.
const SOON: Duration = Duration::from_millis(20);

/// The one connection that writes. One at a time has it.
pub(super) struct Desk {
    db: Connection,
    watchers: broadcast::Sender<SessionId>,
    clock: Arc<dyn Clock>,
    path: Arc<Path>,
    /// The newest change that those who watch know of.
    seen: i64,
    data_version: i64,
    /// Whether there may be rows of deleted sessions.
    dead: bool,
    /// The change through which entries are filed, as far as is known.
    filed: i64,
    /// The change as of which it was last tried to file.
    tried: i64,
    numbers: Numbers,
    /// Whether somebody comes soon to file what was appended.
    is_tended: bool,
    /// Whether the last group was one call alone.
    alone: bool,
}

impl Desk {
    pub(super) fn new(
        db: Connection,
        watchers: broadcast::Sender<SessionId>,
        clock: Arc<dyn Clock>,
        path: Arc<Path>,
    ) -> Result<Self, Fault> {
        let (seen, data_version) = (changes::newest(&db)?, changes::data_version(&db)?);
        let (filed, numbers) = (filing::through(&db)?, Numbers::default());
        let (dead, is_tended, alone, tried) = (true, true, true, filed);
        Ok(Self { db, watchers, clock, path, seen, data_version, dead, filed, tried, numbers, is_tended, alone })
    }

    /// Commits a group and answers everybody in it. Those who watch hear of it first.
    pub(super) fn commit(&mut self, mut group: Vec<Box<dyn Work>>) {
        self.alone = group.len() == 1;
        let begun = group::run(&self.db, BEGIN).map_err(Lost::from);
        let done = begun.and_then(|()| self.transact(&mut group));
        self.answer(done, group);
    }

    /// The same without waiting: where somebody else is writing to the file, or each would have to be tried alone, the
    /// group is given back.
    pub(super) fn commit_at_once(&mut self, mut group: Vec<Box<dyn Work>>) -> Vec<Box<dyn Work>> {
        // Nothing but the beginning waits for others.
        let begun = self.db.busy_timeout(Duration::ZERO).and_then(|()| group::run(&self.db, BEGIN));
        let patient = self.db.busy_timeout(file::BUSY);
        if begun.and(patient).is_err() {
            return group;
        }
        self.alone = group.len() == 1;
        match self.transact(&mut group) {
            // Each alone would wait.
            Err(Lost { retry_alone: true, .. }) if !self.alone => group,
            done => {
                self.answer(done, group);
                Vec::new()
            }
        }
    }

    /// Whether the last group was one call alone.
    pub(super) fn was_alone(&self) -> bool {
        self.alone
    }

    /// Answers a group of which it is known what became of it.
    fn answer(&mut self, done: Result<Vec<SessionId>, Lost>, group: Vec<Box<dyn Work>>) {
        match done {
            Ok(changed) => {
                self.announce(changed);
                group.into_iter().for_each(|work| work.answer(None, &self.path));
            }
            Err(Lost { retry_alone: true, .. }) if group.len() > 1 => {
                group.into_iter().for_each(|work| self.commit(vec![work]));
            }
            Err(Lost { error, .. }) => {
                group.into_iter().for_each(|work| work.answer(Some(&error), &self.path));
            }
        }
    }

    /// Tries a group in the transaction that has begun and names the sessions that it changed.
    fn transact(&mut self, group: &mut [Box<dyn Work>]) -> Result<Vec<SessionId>, Lost> {
        let done = self.transact_begun(group);
        if done.is_err() {
            self.numbers.forget();
            if !self.db.is_autocommit() {
                group::run(&self.db, "ROLLBACK")?;
            }
        }
        done
    }

    fn transact_begun(&mut self, group: &mut [Box<dyn Work>]) -> Result<Vec<SessionId>, Lost> {
        self.notice_others()?;
        let newest = self.seen;
        let (db, now, numbers) = (&self.db, self.clock.now(), &mut self.numbers);
        let mut write = Write { db, now, newest_change: newest, numbers, changed: Vec::new(), dead: false };
        group::commit(&mut write, group)?;
        let Write { newest_change, changed, dead, .. } = write;
        self.seen = newest_change;
        self.dead |= dead;
        Ok(changed)
    }

    /// Does what nobody waits for: all of it where nobody has asked for anything lately. Says after how long to come again;
    /// `None` is once somebody [calls](Self::calls).
    pub(super) fn tend(&mut self, is_quiet: bool) -> Option<Duration> {
        if is_quiet {
            self.look_for_others();
        }
        self.file(if is_quiet { 1 } else { filing::WAITING });
        self.reclaim();
        let pause = if self.dead {
            Some(Duration::ZERO)
        } else if self.waits() > 0 {
            Some(SOON)
        } else {
            (self.watchers.receiver_count() > 0).then_some(POLL)
        };
        self.is_tended = pause.is_some_and(|pause| pause <= SOON);
        pause
    }

    /// Whether somebody has to be told to [tend](Self::tend) to what was committed. They are told once.
    pub(super) fn calls(&mut self) -> bool {
        !std::mem::replace(&mut self.is_tended, true)
    }

    /// Looks for what other connections have changed, if somebody wants to know.
    fn look_for_others(&mut self) {
        if self.watchers.receiver_count() == 0 {
            return;
        }
        if let Err(error) = self.notice_others() {
            tracing::warn!(%error, path = %self.path.display(), "cannot see what other processes changed");
        }
    }

    /// Takes in what other connections have changed, and names the sessions if somebody wants to know.
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
            // Nobody watching is no error.
            let _ = self.watchers.send(session);
        }
    }

    /// How many changes wait to be filed, unless that was tried and nothing has changed since.
    fn waits(&self) -> i64 {
        if self.seen == self.tried { 0 } else { self.seen.saturating_sub(self.filed) }
    }

    /// Files what was appended once so many changes wait. Where it cannot, it is tried again after the next change, and
    /// reads look through what waits.
    fn file(&mut self, worth_it: i64) {
        if self.waits() < worth_it {
            return;
        }
        self.tried = self.seen;
        match transaction(&self.db, filing::file) {
            Ok(_) => self.filed = self.seen,
            Err(error) => tracing::warn!(%error, path = %self.path.display(), "cannot file what was appended yet"),
        }
    }

    /// Removes some rows of deleted sessions. Where it cannot, it leaves them for the next deletion, or the next start.
    fn reclaim(&mut self) {
        if !self.dead {
            return;
        }
        self.dead = match self.reclaim_slice() {
            Ok(more) => more,
            Err(error) => {
                tracing::warn!(%error, path = %self.path.display(), "cannot remove what was deleted yet");
                false
            }
        };
    }

    fn reclaim_slice(&self) -> SqlResult<bool> {
        if !delete::waits(&self.db)? {
            return Ok(false);
        }
        transaction(&self.db, |db| delete::reclaim(db, SLICE))
    }
}

const BEGIN: &str = "BEGIN IMMEDIATE";

/// Does `work` in a transaction of its own.
fn transaction<T>(db: &Connection, work: impl FnOnce(&Connection) -> SqlResult<T>) -> SqlResult<T> {
    group::run(db, BEGIN)?;
    let done = work(db).and_then(|done| group::run(db, "COMMIT").map(|()| done));
    if done.is_err() && !db.is_autocommit() {
        group::run(db, "ROLLBACK")?;
    }
    done
}
