//! Calls that are committed together.

use std::{path::Path, sync::Arc};

use rusqlite::{Connection, Error as Sql};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    super::fault::{self, Fault},
    Write,
};
use crate::Error;

/// A call that waits for its commit.
pub(super) trait Work: Send {
    /// Tries it in a transaction and says whether it went well. It may be tried again in another transaction.
    fn attempt(&mut self, write: &mut Write<'_>) -> bool;

    /// Answers the caller. `lost` is why the transaction was not committed.
    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path);
}

/// The one kind of [`Work`] there is.
pub(super) struct Job<T, F> {
    doing: &'static str,
    work: F,
    outcome: Option<Result<T, Fault>>,
    reply: oneshot::Sender<Result<T, Error>>,
    /// Its place in the queue.
    _room: OwnedSemaphorePermit,
}

impl<T, F> Job<T, F> {
    pub(super) fn new(
        doing: &'static str,
        work: F,
        reply: oneshot::Sender<Result<T, Error>>,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self { doing, work, outcome: None, reply, _room: room }
    }
}

impl<T, F> Work for Job<T, F>
where
    T: Send,
    F: FnMut(&mut Write<'_>) -> Result<T, Fault> + Send,
{
    fn attempt(&mut self, write: &mut Write<'_>) -> bool {
        let outcome = (self.work)(write);
        let went_well = outcome.is_ok();
        self.outcome = Some(outcome);
        went_well
    }

    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path) {
        let Self { doing, outcome, reply, .. } = *self;
        let answer = match (lost, outcome) {
            (Some(error), _) => Err(fault::lost(error, doing, path)),
            (None, Some(outcome)) => outcome.map_err(|fault| fault.during(doing, path)),
            (None, None) => Err(Error::failed(doing, "it was not tried")),
        };
        // Who does not wait any more is not told.
        let _ = reply.send(answer);
    }
}

/// Why a transaction was not committed.
pub(super) struct Lost {
    /// What SQLite said.
    pub(super) error: Arc<Sql>,
    /// Whether it is sure that nothing was committed, and one that is tried alone may do better.
    pub(super) retry_alone: bool,
}

impl From<Sql> for Lost {
    fn from(error: Sql) -> Self {
        Self { error: Arc::new(error), retry_alone: false }
    }
}

/// Tries all of `group` in the transaction that has begun and commits what went well.
pub(super) fn commit(write: &mut Write<'_>, group: &mut [Box<dyn Work>]) -> Result<(), Lost> {
    match group {
        [alone] => attempt_alone(write, alone.as_mut())?,
        _ => group.iter_mut().try_for_each(|work| attempt_behind_savepoint(write, work.as_mut()))?,
    }
    if write.db.is_autocommit() {
        return Ok(());
    }
    run(write.db, "COMMIT").map_err(|error| Lost { retry_alone: fault::is_full(&error), error: Arc::new(error) })
}

/// Tries one that has the transaction to itself: where it goes wrong, so may the transaction.
fn attempt_alone(write: &mut Write<'_>, work: &mut dyn Work) -> Result<(), Lost> {
    if !attempt(write, work) && !write.db.is_autocommit() {
        run(write.db, "ROLLBACK")?;
    }
    Ok(())
}

/// Tries one of several. Where it goes wrong, the others stay.
fn attempt_behind_savepoint(write: &mut Write<'_>, work: &mut dyn Work) -> Result<(), Lost> {
    run(write.db, "SAVEPOINT one")?;
    if !attempt(write, work) {
        if write.db.is_autocommit() {
            // A full disk, and little else, takes the whole transaction with it.
            return Err(taken_down());
        }
        run(write.db, "ROLLBACK TO one")?;
    }
    Ok(run(write.db, "RELEASE one")?)
}

/// Tries one, and forgets what it has changed where it goes wrong.
fn attempt(write: &mut Write<'_>, work: &mut dyn Work) -> bool {
    let (newest_change, changed) = (write.newest_change, write.changed.len());
    let went_well = work.attempt(write);
    if !went_well {
        write.newest_change = newest_change;
        write.changed.truncate(changed);
    }
    went_well
}

/// Runs a statement that answers nothing.
pub(super) fn run(db: &Connection, statement: &str) -> Result<(), Sql> {
    db.prepare_cached(statement)?.execute([]).map(drop)
}

fn taken_down() -> Lost {
    let aborted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT);
    let why = "another change in the same transaction failed".to_owned();
    Lost { error: Arc::new(Sql::SqliteFailure(aborted, Some(why))), retry_alone: true }
}
