//! All writes share one connection, the [`WriteConnection`], behind a [`WriteLock`]. Writes that wait at the same time
//! share a transaction.
//!
//! If nobody else writes, a short write commits on the task of its caller: handing it to a thread and back takes longer
//! than an append. Short writes that arrive together are committed by one task ([`WriteQueue`]). A write that may be long,
//! or may wait for the disk or for another process, goes to a thread ([`WriteThread`]).

mod checkpoint;
mod connection;
mod group;
mod lock;
mod queue;
#[cfg(test)]
mod tests;
mod thread;

use std::{
    fmt, io,
    path::Path,
    sync::{Arc, mpsc},
};

use callboard_core::id::SessionId;
use callboard_tasks::Supervisor;
use rusqlite::Connection;
use tokio::sync::{Semaphore, broadcast, oneshot};

use self::{
    connection::WriteConnection,
    group::WriteCall,
    lock::WriteLock,
    queue::WriteQueue,
    thread::{OwnedThread, WriteThread},
};
use super::{
    error::{SqliteError, lost},
    file,
    transaction::Transaction,
};
use crate::{Clock, Durability, Error, store::WATCH_CAPACITY};

/// How many writes the queue holds; further callers wait.
const QUEUE: usize = 1024;

/// Takes writes from callers. Dropping it waits until every write is answered.
pub(super) struct Writer {
    // The order matters: the thread ends without the queue, when it has answered every write, and then the connection is gone.
    queue: Arc<WriteQueue>,
    /// Whether a commit waits for the disk, which must not block an async runtime.
    flushes: bool,
    room: Arc<Semaphore>,
    changed: broadcast::Sender<SessionId>,
    _thread: OwnedThread,
    /// It ends when the connection is gone.
    _checkpointer: OwnedThread,
}

impl Writer {
    /// Starts the threads for a connection to the file `path`.
    pub(super) fn start(
        mut db: Connection,
        durability: Durability,
        path: &Arc<Path>,
        clock: Arc<dyn Clock>,
        supervisor: Supervisor,
    ) -> Result<Self, Error> {
        let (queue, messages) = mpsc::channel();
        let changed = broadcast::Sender::new(WATCH_CAPACITY);
        let started = |error| lost(&Arc::new(error), "starting to write", path);
        let long = checkpoint::watch(&mut db).map_err(started)?;
        let connection = WriteConnection::new(db, changed.clone(), clock, path.clone()).map_err(started)?;
        let lock = Arc::new(WriteLock::new(connection));
        let log = file::connect_log(path, durability).map_err(started)?;
        let checkpointer = checkpoint::start(log, long, Arc::downgrade(&lock), path.clone(), &supervisor)?;
        let thread = WriteThread { messages, lock: lock.clone() };
        // If the thread cannot be started, this goes first, with the connection that the checkpointer waits for.
        let queue = Arc::new(WriteQueue { lock, queue, supervisor: supervisor.clone() });
        let thread = OwnedThread::start("callboard-store", "SQLite writer", &supervisor, || thread.run())
            .map_err(|error| Error::failed("starting the thread that writes", error))?;
        let room = Arc::new(Semaphore::new(QUEUE));
        let flushes = durability == Durability::Full;
        Ok(Self { queue, flushes, room, changed, _thread: thread, _checkpointer: checkpointer })
    }

    /// Runs `work` in a transaction, possibly together with other writes, and answers after the commit.
    ///
    /// `work` may run more than once, so it must have no effect outside the file. If it returns a refusal, it must not have
    /// written anything.
    pub(super) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Transaction<'_>) -> Result<T, SqliteError> + Send + 'static,
    {
        self.write_if_short(doing, false, work).await
    }

    /// The same. A short write does not go to the thread, unless the commit has to wait for the disk.
    pub(super) async fn write_if_short<T, F>(&self, doing: &'static str, is_short: bool, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Transaction<'_>) -> Result<T, SqliteError> + Send + 'static,
    {
        let gone = || Error::failed(doing, io::Error::other("the thread that writes has ended"));
        let room = self.room.clone().acquire_owned().await.map_err(|_| gone())?;
        let (reply, answer) = oneshot::channel();
        let work = Box::new(WriteCall { doing, work, outcome: None, reply, _room: room });
        if is_short && !self.flushes {
            self.queue.submit_short(work, self.waiting() == 1);
        } else {
            self.queue.hand_to_thread(work);
        }
        // If the write is dropped before it is done, so is its answer.
        answer.await.map_err(|_| gone())?
    }

    /// How many writes are not answered yet.
    pub(super) fn waiting(&self) -> usize {
        QUEUE - self.room.available_permits()
    }

    /// See [`Store::watch`](crate::Store::watch).
    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        let watcher = self.changed.subscribe();
        self.queue.maintain();
        watcher
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}
