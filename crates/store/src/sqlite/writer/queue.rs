//! The three ways of a write to the connection: at once, in a batch of short writes, or through the thread.

use std::sync::{Arc, Weak, mpsc};

use callboard_tasks::Supervisor;
use tokio::sync::Notify;

use super::{
    group::QueuedWrite,
    lock::{LockError, WriteGuard, WriteLock},
    thread::Message,
};

/// Hands writes to the connection.
pub(super) struct WriteQueue {
    pub(super) lock: Arc<WriteLock>,
    pub(super) queue: mpsc::Sender<Message>,
    pub(super) supervisor: Supervisor,
}

impl WriteQueue {
    /// Hands a write to the thread.
    pub(super) fn hand_to_thread(&self, write: Box<dyn QueuedWrite>) {
        // If the thread has ended, the write is dropped, and its caller gets an error.
        let _ = self.queue.send(Message::Write(write));
    }

    /// Wakes the thread for maintenance: indexing, removing deleted rows, looking for changes by others.
    pub(super) fn maintain(&self) {
        // If the thread has ended, maintenance is done after the next start.
        let _ = self.queue.send(Message::Maintain);
    }

    /// Commits a short write at once if nobody else writes. Otherwise it joins the next batch of short writes, which a task
    /// commits, so that many callers share a transaction without a thread.
    pub(super) fn submit_short(self: &Arc<Self>, mut write: Box<dyn QueuedWrite>, is_alone: bool) {
        if is_alone
            && let Ok(guard) = self.lock.try_take()
            && guard.connection.alone
        {
            let Some(left) = self.commit(guard, vec![write]).pop() else { return };
            write = left;
        }
        if self.lock.push_short(write) {
            let task = CommitTask { queue: Arc::downgrade(self), is_done: false };
            tokio::spawn(self.supervisor.once("SQLite commit", task.run()));
        }
    }

    /// Commits a group. Returns the writes that would have to wait for another process.
    fn commit(&self, mut guard: WriteGuard<'_>, group: Vec<Box<dyn QueuedWrite>>) -> Vec<Box<dyn QueuedWrite>> {
        let left = guard.connection.commit_at_once(group);
        if guard.connection.needs_maintenance() {
            self.maintain();
        }
        left
    }

    /// Commits a batch of short writes. Those that would have to wait for another process go to the thread.
    fn commit_batch(&self) -> AfterCommit {
        let guard = match self.lock.try_take() {
            Ok(guard) => guard,
            Err(LockError::Busy(freed)) => return AfterCommit::Wait(freed),
            Err(LockError::Poisoned) => return AfterCommit::Poisoned,
        };
        let group = self.lock.take_batch();
        if !group.is_empty() {
            self.commit(guard, group).into_iter().for_each(|write| self.hand_to_thread(write));
        }
        if self.lock.continues() { AfterCommit::More } else { AfterCommit::Done }
    }

    fn hand_all_to_thread(&self) {
        self.lock.take_short_writes().into_iter().for_each(|write| self.hand_to_thread(write));
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        self.hand_all_to_thread();
    }
}

/// What follows after a batch was committed.
enum AfterCommit {
    /// More short writes wait.
    More,
    /// The connection is in use. This notifies when it is free.
    Wait(Arc<Notify>),
    /// No short write waits.
    Done,
    /// The connection is unusable, since a write panicked.
    Poisoned,
}

/// The task that commits batches of short writes.
struct CommitTask {
    queue: Weak<WriteQueue>,
    is_done: bool,
}

impl CommitTask {
    async fn run(mut self) {
        while !self.is_done {
            // Gives other tasks the chance to add a write.
            tokio::task::yield_now().await;
            // The store may be closed while this waits.
            let Some(next) = self.queue.upgrade().map(|queue| queue.commit_batch()) else { return };
            match next {
                AfterCommit::More => {}
                AfterCommit::Wait(freed) => freed.notified().await,
                AfterCommit::Done => self.is_done = true,
                AfterCommit::Poisoned => return,
            }
        }
    }
}

impl Drop for CommitTask {
    fn drop(&mut self) {
        // If the runtime ends first, the thread commits what is left. If a write panicked, the thread has to notice it.
        if !self.is_done
            && let Some(queue) = self.queue.upgrade()
        {
            queue.hand_all_to_thread();
            queue.maintain();
        }
    }
}
