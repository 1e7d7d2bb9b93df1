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
    /// Tries it in a transaction. Where it is refused it has changed nothing; where it fails, all of the transaction has.
    /// It may be tried again in another one.
    fn attempt(&mut self, write: &mut Write<'_>) -> Result<(), Sql>;

    /// Answers the caller. `lost` is why the transaction was not committed.
    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path);
}

/// The one kind of [`Work`] there is.
pub(super) struct Job<T, F> {
    doing: &'static str,
    work: F,
    outcome: Option<Result<T, Error>>,
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
    fn attempt(&mut self, write: &mut Write<'_>) -> Result<(), Sql> {
        self.outcome = Some(match (self.work)(write) {
            Ok(done) => Ok(done),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path) {
        let Self { doing, outcome, reply, .. } = *self;
        let answer = match (lost, outcome) {
            (Some(error), _) => Err(fault::lost(error, doing, path)),
            (None, Some(outcome)) => outcome,
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

/// Tries all of `group` in the transaction that has begun and commits it. Where one fails, it takes the others with it:
/// then each is tried alone.
pub(super) fn commit(write: &mut Write<'_>, group: &mut [Box<dyn Work>]) -> Result<(), Lost> {
    for work in group {
        work.attempt(write).map_err(|error| Lost { retry_alone: true, error: Arc::new(error) })?;
    }
    run(write.db, "COMMIT").map_err(|error| Lost { retry_alone: fault::is_full(&error), error: Arc::new(error) })
}

/// Runs a statement that answers nothing.
pub(super) fn run(db: &Connection, statement: &str) -> Result<(), Sql> {
    db.prepare_cached(statement)?.execute([]).map(drop)
}
