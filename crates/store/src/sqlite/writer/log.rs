//! Bringing the write-ahead log back into the file, beside those who write.
//!
//! SQLite begins the log anew once all of it is in the file. While others write that is never so. So most of it is brought
//! back beside them, and what came meanwhile with nobody writing, which takes a moment.

use std::{
    path::Path,
    sync::{
        Arc, Weak,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use rusqlite::{Connection, Result as SqlResult};

use super::seat::Seat;
use crate::Error;

/// How many pages the log has when it is brought back. The more, the less often are the pages brought back that change all
/// the time, and the longer does a flush of them hold up those who write.
const PAGES: i32 = 2048;

/// The thread that does it. It ends with the connection that writes; dropping this waits for that.
pub(super) struct Log(Option<JoinHandle<()>>);

impl Log {
    /// Starts it for the log that is written at the desk, on a connection of its own.
    pub(super) fn start(db: Connection, long: Receiver<()>, seat: Weak<Seat>, path: Arc<Path>) -> Result<Self, Error> {
        let run = move || {
            while long.recv().is_ok() {
                if let Err(error) = shorten(&db, &long, &seat) {
                    tracing::warn!(%error, path = %path.display(), "cannot bring the log back into the file yet");
                }
            }
        };
        let thread = std::thread::Builder::new().name("callboard-log".into()).spawn(run);
        Ok(Self(Some(thread.map_err(|error| Error::failed("starting the thread for the log", error))?)))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // It says what goes wrong; nothing is left to be said.
            let _ = thread.join();
        }
    }
}

/// Has it told by whoever commits on `db` that the log is long.
pub(super) fn watch(db: &mut Connection) -> SqlResult<Receiver<()>> {
    // Told once is enough.
    let (tell, long): (SyncSender<()>, _) = sync_channel(1);
    db.wal_hook(Some(move |_: &mut _, pages| {
        if pages >= PAGES {
            // Where it has been told it knows; where it has ended the next start does it.
            let _ = tell.try_send(());
        }
        Ok(())
    }))?;
    Ok(long)
}

fn shorten(db: &Connection, long: &Receiver<()>, seat: &Weak<Seat>) -> SqlResult<()> {
    bring_back(db)?;
    let Some(seat) = seat.upgrade() else { return Ok(()) };
    let _nobody_writes = seat.take();
    bring_back(db)?;
    while long.try_recv().is_ok() {}
    Ok(())
}

/// Brings back as much as nobody reads any more.
fn bring_back(db: &Connection) -> SqlResult<()> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
