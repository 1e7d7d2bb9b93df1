//! The lock around the write connection, and the short writes that wait for it.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use tokio::sync::Notify;

use super::{connection::WriteConnection, group::QueuedWrite};

/// How many short writes are committed together, which takes less than a millisecond.
const BATCH: usize = 64;

/// The lock of the one [`WriteConnection`]. A thread may block until it is free; a task is notified. The next holder commits
/// the short writes that wait.
pub(super) struct WriteLock {
    connection: Mutex<WriteConnection>,
    freed: Arc<Notify>,
    short_writes: Mutex<ShortWrites>,
}

#[derive(Default)]
struct ShortWrites {
    writes: Vec<Box<dyn QueuedWrite>>,
    /// Whether a task is running that will commit them.
    has_task: bool,
}

/// Why the lock could not be taken.
pub(super) enum LockError {
    /// It is taken. This notifies when it is free again.
    Busy(Arc<Notify>),
    /// A holder panicked, so the state of the connection is unknown.
    Poisoned,
}

impl WriteLock {
    pub(super) fn new(connection: WriteConnection) -> Self {
        Self { connection: Mutex::new(connection), freed: Arc::default(), short_writes: Mutex::default() }
    }

    /// Takes the lock. Blocks until it is free, so never call it on a task. `None` if it is poisoned.
    pub(super) fn take(&self) -> Option<WriteGuard<'_>> {
        Some(self.guard(self.connection.lock().ok()?))
    }

    /// Takes the lock if it is free.
    pub(super) fn try_take(&self) -> Result<WriteGuard<'_>, LockError> {
        match self.connection.try_lock() {
            Ok(connection) => Ok(self.guard(connection)),
            Err(TryLockError::WouldBlock) => Err(LockError::Busy(self.freed.clone())),
            Err(TryLockError::Poisoned(_)) => Err(LockError::Poisoned),
        }
    }

    /// Adds a short write to the next batch. Returns whether a task has to be started that commits it.
    pub(super) fn push_short(&self, write: Box<dyn QueuedWrite>) -> bool {
        let mut short_writes = self.short_writes();
        short_writes.writes.push(write);
        !mem::replace(&mut short_writes.has_task, true)
    }

    /// Takes a batch of the short writes that wait.
    pub(super) fn take_batch(&self) -> Vec<Box<dyn QueuedWrite>> {
        let writes = &mut self.short_writes().writes;
        let many = writes.len().min(BATCH);
        writes.drain(..many).collect()
    }

    /// Whether the task that commits short writes has to go on. If not, the next short write needs another task.
    pub(super) fn continues(&self) -> bool {
        let mut short_writes = self.short_writes();
        short_writes.has_task = !short_writes.writes.is_empty();
        short_writes.has_task
    }

    /// Takes all short writes that wait.
    pub(super) fn take_short_writes(&self) -> Vec<Box<dyn QueuedWrite>> {
        mem::take(&mut *self.short_writes()).writes
    }

    fn short_writes(&self) -> MutexGuard<'_, ShortWrites> {
        self.short_writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guard<'a>(&'a self, connection: MutexGuard<'a, WriteConnection>) -> WriteGuard<'a> {
        WriteGuard { connection, _notify: NotifyOnDrop(&self.freed) }
    }
}

/// The connection, for as long as this is held.
pub(super) struct WriteGuard<'a> {
    // The order matters: the connection is unlocked first, then a task is notified.
    pub(super) connection: MutexGuard<'a, WriteConnection>,
    _notify: NotifyOnDrop<'a>,
}

/// Notifies when it is dropped.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
