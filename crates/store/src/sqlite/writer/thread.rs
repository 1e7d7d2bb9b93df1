//! What the thread that writes does all day.

use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, Instant},
};

use callboard_core::id::SessionId;
use rusqlite::{Connection, Result as SqlResult};
use tokio::sync::broadcast;

use super::{
    super::{changes, delete, fault::Fault, filing, words::Numbers},
    Message, Write,
    group::{self, Lost, Work},
};
use crate::Clock;

/// How many calls are committed together at most.
const GROUP: usize = 256;

/// How many rows of deleted sessions are removed at a time: a few milliseconds' worth.
const SLICE: usize = 64;

/// For how long the thread stays awake for the next call, where one caller asks again once it is answered: to wake a
/// thread takes longer than an append.
pub(super) const AWAKE: Duration = Duration::from_micros(50);

/// How often it is looked for changes by others, as long as somebody watches.
const POLL: Duration = Duration::from_millis(100);

/// For how long nothing has to be asked until what waits is filed, however little it is.
const QUIET: Duration = Duration::from_millis(20);

/// What the thread owns.
pub(super) struct Thread {
    db: Connection,
    messages: Receiver<Message>,
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
    /// Whether the last call had its transaction to itself.
    alone: bool,
}

impl Thread {
    pub(super) fn new(
        db: Connection,
        messages: Receiver<Message>,
        watchers: broadcast::Sender<SessionId>,
        clock: Arc<dyn Clock>,
        path: Arc<Path>,
    ) -> Result<Self, Fault> {
        let (seen, data_version) = (changes::newest(&db)?, changes::data_version(&db)?);
        let (filed, numbers) = (filing::through(&db)?, Numbers::default());
        let (dead, alone, tried) = (true, false, filed);
        Ok(Self { db, messages, watchers, clock, path, seen, data_version, dead, filed, tried, numbers, alone })
    }

    /// Works until every handle is gone and the queue is empty.
    pub(super) fn run(mut self) {
        while let Some(group) = self.next() {
            let is_quiet = group.is_empty();
            if !is_quiet {
                self.commit(group);
            }
            self.file(if is_quiet { 1 } else { filing::WAITING });
            self.reclaim();
        }
    }

    /// Waits for something to do and takes all that waits; `None` when there never will be anything again.
    fn next(&mut self) -> Option<Vec<Box<dyn Work>>> {
        let mut group = Vec::new();
        match self.wait() {
            Ok(Message::Work(work)) => group.push(work),
            Ok(Message::Watched) | Err(RecvTimeoutError::Timeout) => {
                self.look_for_others();
                return Some(group);
            }
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        while group.len() < GROUP {
            match self.messages.try_recv() {
                Ok(Message::Work(work)) => group.push(work),
                Ok(Message::Watched) => {}
                Err(_) => break,
            }
        }
        self.alone = group.len() == 1;
        Some(group)
    }

    fn wait(&self) -> Result<Message, RecvTimeoutError> {
        if self.dead {
            // There is something to do meanwhile.
            return self.messages.try_recv().map_err(|empty| match empty {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        let began = Instant::now();
        while self.alone && began.elapsed() < AWAKE {
            match self.messages.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            }
        }
        if self.waits() > 0 {
            return self.messages.recv_timeout(QUIET);
        }
        if self.watchers.receiver_count() > 0 {
            return self.messages.recv_timeout(POLL);
        }
        self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Commits a group and answers everybody in it. Those who watch hear of it first.
    fn commit(&mut self, mut group: Vec<Box<dyn Work>>) {
        match self.transact(&mut group) {
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

    /// Tries a group in one transaction and names the sessions that it changed.
    fn transact(&mut self, group: &mut [Box<dyn Work>]) -> Result<Vec<SessionId>, Lost> {
        group::run(&self.db, "BEGIN IMMEDIATE")?;
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
        let newest = changes::newest(&self.db)?;
        self.announce_others(newest)?;
        let (db, now, numbers) = (&self.db, self.clock.now(), &mut self.numbers);
        let mut write = Write { db, now, newest_change: newest, numbers, changed: Vec::new(), dead: false };
        group::commit(&mut write, group)?;
        let Write { newest_change, changed, dead, .. } = write;
        self.seen = newest_change;
        self.dead |= dead;
        Ok(changed)
    }

    /// Looks for what other connections have changed, if somebody wants to know.
    fn look_for_others(&mut self) {
        if self.watchers.receiver_count() == 0 {
            return;
        }
        if let Err(error) = self.poll() {
            tracing::warn!(%error, path = %self.path.display(), "cannot see what other processes changed");
        }
    }

    fn poll(&mut self) -> SqlResult<()> {
        let version = changes::data_version(&self.db)?;
        if version != self.data_version {
            self.announce_others(changes::newest(&self.db)?)?;
            self.data_version = version;
        }
        Ok(())
    }

    /// Names the sessions that others have changed, where `newest` is the newest change.
    fn announce_others(&mut self, newest: i64) -> SqlResult<()> {
        if self.watchers.receiver_count() > 0 {
            self.announce(changes::between(&self.db, self.seen, newest)?);
        }
        self.seen = newest;
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

/// Does `work` in a transaction of its own.
fn transaction<T>(db: &Connection, work: impl FnOnce(&Connection) -> SqlResult<T>) -> SqlResult<T> {
    group::run(db, "BEGIN IMMEDIATE")?;
    let done = work(db).and_then(|done| group::run(db, "COMMIT").map(|()| done));
    if done.is_err() && !db.is_autocommit() {
        group::run(db, "ROLLBACK")?;
    }
    done
}
