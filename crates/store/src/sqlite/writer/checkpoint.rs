//! Checkpoints: copying the write-ahead log into the file, on a connection of their own.
//!
//! SQLite starts the log anew only when all of it is in the file, which is never so while others write. So a first
//! checkpoint copies most of it while they write, and a second one, with the write connection locked, copies the rest,
//! which takes a moment.

use std::{
    path::Path,
    sync::{
        Arc, Weak,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use callboard_tasks::Supervisor;
use rusqlite::{Connection, Result as SqlResult};

use super::lock::WriteLock;
use crate::Error;

/// How many pages the log has before a checkpoint. With more, pages that change all the time are copied less often, and the
/// flush of a checkpoint holds up writes for longer.
const PAGES: i32 = 2048;

/// The thread that does it. It ends with the write connection; dropping this waits for that.
pub(super) struct Checkpointer(Option<JoinHandle<()>>);

impl Checkpointer {
    /// Starts it, on a connection of its own.
    pub(super) fn start(
        db: Connection,
        long: Receiver<()>,
        lock: Weak<WriteLock>,
        path: Arc<Path>,
        supervisor: Supervisor,
    ) -> Result<Self, Error> {
        let run = move || {
            while long.recv().is_ok() {
                if let Err(error) = shorten_log(&db, &long, &lock) {
                    tracing::warn!(%error, path = %path.display(), "cannot copy the write-ahead log into the file yet");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("callboard-log".into())
            .spawn(move || supervisor.thread("SQLite checkpointer", run));
        Ok(Self(Some(thread.map_err(|error| Error::failed("starting the thread for the log", error))?)))
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // It has logged what went wrong.
            let _ = thread.join();
        }
    }
}

/// Gives a channel that tells when a commit on `db` has made the log long.
pub(super) fn watch(db: &mut Connection) -> SqlResult<Receiver<()>> {
    // Told once is enough.
    let (tell, long): (SyncSender<()>, _) = sync_channel(1);
    db.wal_hook(Some(move |_: &mut _, pages| {
        if pages >= PAGES {
            // If the channel is full it was told already; if the thread has ended the next start does it.
            let _ = tell.try_send(());
        }
        Ok(())
    }))?;
    Ok(long)
}

fn shorten_log(db: &Connection, long: &Receiver<()>, lock: &Weak<WriteLock>) -> SqlResult<()> {
    checkpoint(db)?;
    let Some(lock) = lock.upgrade() else { return Ok(()) };
    let _nobody_writes = lock.take();
    checkpoint(db)?;
    while long.try_recv().is_ok() {}
    Ok(())
}

/// Copies as much of the log as no reader needs any more.
fn checkpoint(db: &Connection) -> SqlResult<()> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
