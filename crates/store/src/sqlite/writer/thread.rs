//! The thread that commits long writes and does maintenance.

use std::{
    io,
    panic::resume_unwind,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread::{Builder, JoinHandle},
    time::Duration,
};

use callboard_tasks::Supervisor;

use super::{group::QueuedWrite, lock::WriteLock};

/// The most writes that are committed together.
const GROUP: usize = 256;

/// A thread of the store. Dropping this waits for its end.
pub(super) struct OwnedThread(Option<JoinHandle<()>>);

impl OwnedThread {
    /// Starts a thread that `supervisor` knows as `task`.
    pub(super) fn start(
        name: &str,
        task: &'static str,
        supervisor: &Supervisor,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let supervisor = supervisor.clone();
        let thread = Builder::new().name(name.to_owned()).spawn(move || supervisor.thread(task, run))?;
        Ok(Self(Some(thread)))
    }
}

impl Drop for OwnedThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic is logged already.
            let _ = thread.join();
        }
    }
}

/// What the thread is asked to do.
pub(super) enum Message {
    /// Commit a write.
    Write(Box<dyn QueuedWrite>),
    /// Do maintenance.
    Maintain,
}

/// The thread's own data.
pub(super) struct WriteThread {
    pub(super) messages: Receiver<Message>,
    pub(super) lock: Arc<WriteLock>,
}

impl WriteThread {
    /// Runs until every handle is gone and the queue is empty.
    ///
    /// It unwinds if a write has panicked on another task: then the store cannot write any more, and the supervisor has to
    /// report that.
    pub(super) fn run(self) {
        let mut pause = Some(Duration::ZERO);
        while let Some((mut group, is_quiet)) = self.next(pause) {
            let Some(mut guard) = self.lock.take() else {
                resume_unwind(Box::new("a write panicked, so the store cannot write any more"));
            };
            // A task that waits for the connection might never get it between two slices of maintenance.
            group.extend(self.lock.take_batch());
            if !group.is_empty() {
                guard.connection.commit(group);
            }
            pause = guard.connection.maintain(is_quiet);
        }
    }

    /// Waits for a message, at most for `pause`, and takes all waiting ones. Returns the writes, and whether no message came.
    /// `None` when every handle is gone.
    fn next(&self, pause: Option<Duration>) -> Option<(Vec<Box<dyn QueuedWrite>>, bool)> {
        let mut group = Vec::new();
        match self.wait(pause) {
            Ok(Message::Write(write)) => group.push(write),
            // More appends may come in a moment, and are then indexed together.
            Ok(Message::Maintain) => return Some((group, false)),
            Err(RecvTimeoutError::Timeout) => return Some((group, true)),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        while group.len() < GROUP {
            match self.messages.try_recv() {
                Ok(Message::Write(write)) => group.push(write),
                Ok(Message::Maintain) => {}
                Err(_) => break,
            }
        }
        Some((group, false))
    }

    fn wait(&self, pause: Option<Duration>) -> Result<Message, RecvTimeoutError> {
        match pause {
            Some(pause) => self.messages.recv_timeout(pause),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}
