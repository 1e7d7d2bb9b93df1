//! Checkpoints: copying the write-ahead log into the file, on a separate connection.
//!
//! SQLite restarts the log only when all of it is in the file, which does not happen while others write. So a first
//! checkpoint copies most of the log while they write. A second one copies the rest with the write connection locked,
//! which takes a moment.

use std::{
    path::Path,
    sync::{
        Arc, Weak,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use callboard_tasks::Supervisor;
use rusqlite::{Connection, Result as SqlResult};

use super::{lock::WriteLock, thread::OwnedThread};
use crate::Error;

/// A checkpoint starts when the log has so many pages. With more, pages that change often are copied less often, but the
/// flush of a checkpoint delays writes for longer.
const PAGES: i32 = 2048;

/// Starts the thread that makes checkpoints, with its own connection. It ends when the write connection is gone.
pub(super) fn start(
    db: Connection,
    long: Receiver<()>,
    lock: Weak<WriteLock>,
    path: Arc<Path>,
    supervisor: &Supervisor,
) -> Result<OwnedThread, Error> {
    let run = move || {
        while long.recv().is_ok() {
            if let Err(error) = shorten_log(&db, &long, &lock) {
                tracing::warn!(%error, path = %path.display(), "cannot copy the write-ahead log into the file yet");
            }
        }
    };
    let thread = OwnedThread::start("callboard-log", "SQLite checkpointer", supervisor, run);
    thread.map_err(|error| Error::failed("starting the thread for the log", error))
}

/// Returns a channel that gets a message when a commit on `db` has made the log long.
pub(super) fn watch(db: &mut Connection) -> SqlResult<Receiver<()>> {
    // One message is enough, however many commits there are.
    let (tell, long): (SyncSender<()>, _) = sync_channel(1);
    db.wal_hook(Some(move |_: &mut _, pages| {
        if pages >= PAGES {
            // If the channel is full, the thread knows already. If the thread has ended, the next start copies the log.
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

/// Copies the part of the log that no reader needs any more.
fn checkpoint(db: &Connection) -> SqlResult<()> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
