//! The one thread that writes: it commits what waits in one transaction, and answers each by itself.

mod group;
mod thread;

use std::{
    io,
    path::Path,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::Instant,
};

use callboard_core::id::SessionId;
use rusqlite::Connection;
use tokio::sync::{
    Semaphore, broadcast,
    oneshot::{self, error::TryRecvError},
};

use self::{
    group::{Job, Work},
    thread::{AWAKE, Thread},
};
use super::{fault::Fault, write::Write};
use crate::{Clock, Error, store::WATCH_CAPACITY};

/// How many calls wait in the queue; those behind them wait before it.
const QUEUE: usize = 1024;

/// The handle of the thread. Dropping it ends the thread once everything in the queue is answered, and waits for that.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<Message>>,
    room: Arc<Semaphore>,
    changed: broadcast::Sender<SessionId>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is told.
enum Message {
    /// Something is to be done.
    Work(Box<dyn Work>),
    /// Somebody began to watch.
    Watched,
}

impl Writer {
    /// Starts the thread on a connection to the file `path`.
    pub(super) fn start(db: Connection, path: &Arc<Path>, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let (queue, messages) = mpsc::channel();
        let changed = broadcast::Sender::new(WATCH_CAPACITY);
        let started = |error: Fault| error.during("starting to write", path);
        let thread = Thread::new(db, messages, changed.clone(), clock, path.clone()).map_err(started)?;
        let thread = std::thread::Builder::new()
            .name("callboard-store".into())
            .spawn(move || thread.run())
            .map_err(|error| Error::failed("starting the thread that writes", error))?;
        let room = Arc::new(Semaphore::new(QUEUE));
        Ok(Self { queue: Some(queue), room, changed, thread: Some(thread) })
    }

    /// Does `work` in a transaction, maybe together with others, and answers when that is committed.
    ///
    /// It may be tried again from the start, so it must leave no traces but in the file. Where it refuses, it must not have
    /// written anything.
    pub(super) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Write<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let gone = || Error::failed(doing, io::Error::other("the thread that writes has ended"));
        let room = self.room.clone().acquire_owned().await.map_err(|_| gone())?;
        let (reply, answer) = oneshot::channel();
        let job = Job::new(doing, work, reply, room);
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(Message::Work(Box::new(job))).map_err(|_| gone())?;
        self.awaited(answer).await.ok_or_else(gone)?
    }

    /// The answer; `None` where there will be none. Who is alone in the queue looks for it before going to sleep, as the
    /// thread does for the next call.
    async fn awaited<T>(&self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        let began = Instant::now();
        while self.room.available_permits() + 1 == QUEUE && began.elapsed() < AWAKE {
            match answer.try_recv() {
                Ok(answer) => return Some(answer),
                Err(TryRecvError::Empty) => tokio::task::yield_now().await,
                Err(TryRecvError::Closed) => return None,
            }
        }
        answer.await.ok()
    }

    /// How many calls were not answered yet.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        QUEUE - self.room.available_permits()
    }

    /// See [`Store::watch`](crate::Store::watch).
    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        let watcher = self.changed.subscribe();
        if let Some(queue) = &self.queue {
            // Where the thread has ended, so has the channel that the watcher listens to.
            let _ = queue.send(Message::Watched);
        }
        watcher
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // It has answered everybody, or it has panicked and they know: nothing is left to be said.
            let _ = thread.join();
        }
    }
}
