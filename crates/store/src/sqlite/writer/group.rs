//! Writes that are committed together.

use std::{path::Path, sync::Arc};

use rusqlite::{Connection, Error as Sql};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    super::error::{self, SqliteError},
    Transaction,
};
use crate::Error;

/// A write that waits for its commit.
pub(super) trait QueuedWrite: Send {
    /// Runs it in a transaction. A refused write has changed nothing and is no error here. An error fails the whole
    /// transaction; the write may then run again in another one.
    fn attempt(&mut self, write: &mut Transaction<'_>) -> Result<(), Sql>;

    /// Answers the caller. `lost` is the reason why the transaction was not committed.
    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path);
}

/// A write with the channel for its answer. This is the only [`QueuedWrite`]; the trait hides its types.
pub(super) struct WriteCall<T, F> {
    pub(super) doing: &'static str,
    pub(super) work: F,
    pub(super) outcome: Option<Result<T, Error>>,
    pub(super) reply: oneshot::Sender<Result<T, Error>>,
    /// Its place in the queue.
    pub(super) _room: OwnedSemaphorePermit,
}

impl<T, F> QueuedWrite for WriteCall<T, F>
where
    T: Send,
    F: FnMut(&mut Transaction<'_>) -> Result<T, SqliteError> + Send,
{
    fn attempt(&mut self, write: &mut Transaction<'_>) -> Result<(), Sql> {
        self.outcome = Some(match (self.work)(write) {
            Ok(done) => Ok(done),
            Err(SqliteError::Refused(error)) => Err(error),
            Err(SqliteError::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, lost: Option<&Arc<Sql>>, path: &Path) {
        let Self { doing, outcome, reply, .. } = *self;
        let answer = match (lost, outcome) {
            (Some(error), _) => Err(error::lost(error, doing, path)),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(Error::failed(doing, "it was not tried")),
        };
        // The caller may have stopped waiting.
        let _ = reply.send(answer);
    }
}

/// Why a transaction was not committed.
pub(super) struct CommitError {
    pub(super) error: Arc<Sql>,
    /// Whether certainly nothing was committed, and each write may succeed alone.
    pub(super) retry_alone: bool,
}

impl From<Sql> for CommitError {
    fn from(error: Sql) -> Self {
        Self { error: Arc::new(error), retry_alone: false }
    }
}

/// Runs all writes of `group` in the transaction that has begun, and commits it. If one write fails, the whole transaction
/// fails, and each write is tried alone.
pub(super) fn commit(write: &mut Transaction<'_>, group: &mut [Box<dyn QueuedWrite>]) -> Result<(), CommitError> {
    for work in group {
        work.attempt(write).map_err(|error| CommitError { retry_alone: true, error: Arc::new(error) })?;
    }
    run(write.db, "COMMIT").map_err(|error| CommitError { retry_alone: error::is_full(&error), error: Arc::new(error) })
}

/// Runs a statement without result rows.
pub(super) fn run(db: &Connection, statement: &str) -> Result<(), Sql> {
    db.prepare_cached(statement)?.execute([]).map(drop)
}
