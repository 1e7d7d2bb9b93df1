//! The lock around the write connection, and the short writes that wait for it.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use tokio::sync::Notify;

use super::{connection::WriteConnection, group::QueuedWrite};

/// How many short writes are committed together: less than a millisecond's worth.
const SOME: usize = 64;

/// The one [`WriteConnection`]. A thread may block until it is free; a task is notified. Whoever has it next commits the
/// short writes that wait.
pub(super) struct WriteLock {
    connection: Mutex<WriteConnection>,
    freed: Arc<Notify>,
    short_writes: Mutex<ShortWrites>,
}

#[derive(Default)]
struct ShortWrites {
    works: Vec<Box<dyn QueuedWrite>>,
    /// Whether a task is on its way to commit them.
    is_under_way: bool,
}

/// Why the connection cannot be had now.
pub(super) enum LockError {
    /// Somebody has it; this notifies when it is free again.
    Busy(Arc<Notify>),
    /// Somebody panicked while holding it, so its state is unknown.
    Poisoned,
}

impl WriteLock {
    pub(super) fn new(connection: WriteConnection) -> Self {
        Self { connection: Mutex::new(connection), freed: Arc::default(), short_writes: Mutex::default() }
    }

    /// Blocks until it is free, so never call it on a task. `None` if it is poisoned.
    pub(super) fn take(&self) -> Option<WriteGuard<'_>> {
        Some(self.guard(self.connection.lock().ok()?))
    }

    /// Takes it if it is free.
    pub(super) fn try_take(&self) -> Result<WriteGuard<'_>, LockError> {
        match self.connection.try_lock() {
            Ok(connection) => Ok(self.guard(connection)),
            Err(TryLockError::WouldBlock) => Err(LockError::Busy(self.freed.clone())),
            Err(TryLockError::Poisoned(_)) => Err(LockError::Poisoned),
        }
    }

    /// Adds a short write to the next batch. Says whether a task has to be started that commits it.
    pub(super) fn push_short(&self, work: Box<dyn QueuedWrite>) -> bool {
        let mut short_writes = self.short_writes();
        short_writes.works.push(work);
        !mem::replace(&mut short_writes.is_under_way, true)
    }

    /// Takes a batch of the short writes that wait.
    pub(super) fn take_batch(&self) -> Vec<Box<dyn QueuedWrite>> {
        let works = &mut self.short_writes().works;
        let many = works.len().min(SOME);
        works.drain(..many).collect()
    }

    /// Whether the task that commits short writes has to go on. If not, the next short write needs another task.
    pub(super) fn continues(&self) -> bool {
        let mut short_writes = self.short_writes();
        short_writes.is_under_way = !short_writes.works.is_empty();
        short_writes.is_under_way
    }

    /// Takes all short writes that wait.
    pub(super) fn take_short_writes(&self) -> Vec<Box<dyn QueuedWrite>> {
        mem::take(&mut *self.short_writes()).works
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
    // The order matters: the connection is unlocked before anybody is notified.
    connection: MutexGuard<'a, WriteConnection>,
    _notify: NotifyOnDrop<'a>,
}

impl Deref for WriteGuard<'_> {
    type Target = WriteConnection;

    fn deref(&self) -> &WriteConnection {
        &self.connection
    }
}

impl DerefMut for WriteGuard<'_> {
    fn deref_mut(&mut self) -> &mut WriteConnection {
        &mut self.connection
    }
}

/// Notifies when it is dropped.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
