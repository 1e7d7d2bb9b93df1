//! All that is written goes over one connection, the [`Desk`]. A thread commits what waits in one transaction, and answers
//! each by itself. Whoever finds the desk free and nobody waiting does what is short there and then: to hand it to a
//! thread and back takes longer than an append.

mod desk;
mod group;
mod log;
mod thread;

use std::{
    fmt, io,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
};

use callboard_core::id::SessionId;
use rusqlite::Connection;
use tokio::sync::{Semaphore, broadcast, oneshot};

use self::{
    desk::Desk,
    group::{Job, Work},
    log::Log,
    thread::Thread,
};
use super::{fault::Fault, file, write::Write};
use crate::{Clock, Durability, Error, store::WATCH_CAPACITY};

/// How many calls wait in the queue; those behind them wait before it.
const QUEUE: usize = 1024;

/// The handle of the thread. Dropping it ends the thread once everything in the queue is answered, and waits for that.
pub(super) struct Writer {
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<Message>>,
    desk: Arc<Mutex<Desk>>,
    /// Whether a commit waits for the disk, which no task of a runtime may.
    flushes: bool,
    room: Arc<Semaphore>,
    changed: broadcast::Sender<SessionId>,
    thread: Option<JoinHandle<()>>,
    /// Behind the desk: it ends once that is gone.
    _log: Log,
}

/// What the thread is told.
enum Message {
    /// Something is to be done.
    Work(Box<dyn Work>),
    /// There is something to look after that nobody waits for.
    Tend,
}

impl Writer {
    /// Starts the thread on a connection to the file `path`.
    pub(super) fn start(
        mut db: Connection,
        durability: Durability,
        path: &Arc<Path>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let (queue, messages) = mpsc::channel();
        let changed = broadcast::Sender::new(WATCH_CAPACITY);
        let started = |error: Fault| error.during("starting to write", path);
        let long = log::watch(&mut db).map_err(|error| started(error.into()))?;
        let desk = Desk::new(db, changed.clone(), clock, path.clone()).map_err(started)?;
        let desk = Arc::new(Mutex::new(desk));
        let log = file::connect_log(path, durability).map_err(started)?;
        let log = Log::start(log, long, Arc::downgrade(&desk), path.clone())?;
        let thread = Thread::new(messages, desk.clone());
        let thread = std::thread::Builder::new()
            .name("callboard-store".into())
            .spawn(move || thread.run())
            .map_err(|error| Error::failed("starting the thread that writes", error))?;
        let room = Arc::new(Semaphore::new(QUEUE));
        let flushes = durability == Durability::Full;
        Ok(Self { queue: Some(queue), desk, flushes, room, _log: log, changed, thread: Some(thread) })
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
        self.ask(doing, work, false).await
    }

    /// The same for what takes a moment: it is done here and now where that keeps nobody waiting.
    pub(super) async fn write_short<T, F>(&self, doing: &'static str, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Write<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.ask(doing, work, !self.flushes).await
    }

    async fn ask<T, F>(&self, doing: &'static str, work: F, is_short: bool) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Write<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let gone = || Error::failed(doing, io::Error::other("the thread that writes has ended"));
        let room = self.room.clone().acquire_owned().await.map_err(|_| gone())?;
        let (reply, answer) = oneshot::channel();
        let job = Job::new(doing, work, reply, room);
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        let job: Box<dyn Work> = Box::new(job);
        if let Err(job) = if is_short { self.at_once(queue, job) } else { Err(job) } {
            queue.send(Message::Work(job)).map_err(|_| gone())?;
        }
        answer.await.map_err(|_| gone())?
    }

    /// Does `work` here and now, unless others wait or write; then it is given back.
    fn at_once(&self, queue: &mpsc::Sender<Message>, work: Box<dyn Work>) -> Result<(), Box<dyn Work>> {
        if self.waiting() > 1 {
            return Err(work);
        }
        let Ok(mut desk) = self.desk.try_lock() else { return Err(work) };
        desk.commit_at_once(work)?;
        if desk.calls() {
            // Where the thread has ended, what waits is filed after the next start.
            let _ = queue.send(Message::Tend);
        }
        Ok(())
    }

    /// How many calls were not answered yet.
    pub(super) fn waiting(&self) -> usize {
        QUEUE - self.room.available_permits()
    }

    /// See [`Store::watch`](crate::Store::watch).
    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        let watcher = self.changed.subscribe();
        if let Some(queue) = &self.queue {
            // Where the thread has ended, so has the channel that the watcher listens to.
            let _ = queue.send(Message::Tend);
        }
        watcher
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("waiting", &self.waiting()).finish_non_exhaustive()
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
