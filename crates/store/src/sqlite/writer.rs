//! All that is written goes over one connection, the [`Desk`](desk::Desk), and what waits is committed in one transaction.
//! Whoever comes alone with something short does it there and then; where short calls come together a task commits them,
//! and the rest is done by a thread: to hand a call to a thread and back takes longer than an append. See [`Calls`].

mod calls;
mod desk;
mod group;
mod log;
mod seat;
#[cfg(test)]
mod tests;
mod thread;

use std::{
    fmt, io,
    path::Path,
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use callboard_core::id::SessionId;
use rusqlite::Connection;
use tokio::sync::{Semaphore, broadcast, oneshot};

use self::{calls::Calls, desk::Desk, group::Job, log::Log, seat::Seat, thread::Thread};
use super::{fault::Fault, file, write::Write};
use crate::{Clock, Durability, Error, store::WATCH_CAPACITY};

/// How many calls wait in the queue; those behind them wait before it.
const QUEUE: usize = 1024;

/// How all that is written is asked for. Dropping it waits until everything that was asked for is answered.
pub(super) struct Writer {
    /// `None` only while it is dropped.
    calls: Option<Arc<Calls>>,
    /// Whether a commit waits for the disk, which no task of a runtime may.
    flushes: bool,
    room: Arc<Semaphore>,
    changed: broadcast::Sender<SessionId>,
    thread: Option<JoinHandle<()>>,
    /// Behind the desk: it ends once that is gone.
    _log: Log,
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
        let seat = Arc::new(Seat::new(desk));
        let log = file::connect_log(path, durability).map_err(started)?;
        let log = Log::start(log, long, Arc::downgrade(&seat), path.clone())?;
        let thread = Thread::new(messages, seat.clone());
        let thread = std::thread::Builder::new()
            .name("callboard-store".into())
            .spawn(move || thread.run())
            .map_err(|error| Error::failed("starting the thread that writes", error))?;
        let room = Arc::new(Semaphore::new(QUEUE));
        let flushes = durability == Durability::Full;
        let calls = Some(Arc::new(Calls::new(seat, queue)));
        Ok(Self { calls, flushes, room, changed, thread: Some(thread), _log: log })
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

    /// The same for what takes a moment: no thread is asked to do it, unless the disk has to be waited for.
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
        let calls = self.calls.as_ref().ok_or_else(gone)?;
        let (reply, answer) = oneshot::channel();
        let work = Box::new(Job::new(doing, work, reply, room));
        if is_short {
            calls.take(work, self.waiting() == 1);
        } else {
            calls.leave(work);
        }
        // What is not done any more is dropped, and its answer with it.
        answer.await.map_err(|_| gone())?
    }

    /// How many calls were not answered yet.
    pub(super) fn waiting(&self) -> usize {
        QUEUE - self.room.available_permits()
    }

    /// See [`Store::watch`](crate::Store::watch).
    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        let watcher = self.changed.subscribe();
        if let Some(calls) = &self.calls {
            calls.tend();
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
        drop(self.calls.take());
        if let Some(thread) = self.thread.take() {
            // It has answered everybody, or it has panicked and they know: nothing is left to be said.
            let _ = thread.join();
        }
    }
}
