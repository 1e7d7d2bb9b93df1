//! Bringing the log back into the file beside appends, so that none of them waits for the disk to do so.
//!
//! SQLite would have whoever commits do it. Here a thread of its own copies the pages while others go on writing to the
//! log. What they add meanwhile is little, and is brought back between two commits: then the log is empty for a moment,
//! and begins anew.

use std::{
    ffi::c_int,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use rusqlite::{Connection, ErrorCode, MAIN_DB, Result as SqlResult, wal::CheckpointMode};

use super::{fault::Fault, file};

/// How many pages the log has when it is brought back: 16 MiB. The pages that change all the time are brought back less
/// often the longer it is.
const LOG: c_int = 4096;

/// How often the thread goes over the log before it leaves the rest to the one that writes: each time less is left.
const PASSES: usize = 2;

/// The thread that brings the log back. It ends when this is dropped.
pub(super) struct Checkpoints {
    /// `None` only while this is dropped.
    wanted: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How many pages the log has, as of the last commit of the connection that writes.
    pages: Arc<AtomicI32>,
    /// Whether the thread has done its part.
    is_ready: Arc<AtomicBool>,
    /// Whether the thread was asked for its part.
    is_under_way: bool,
    /// How many pages are too many.
    most: c_int,
}

impl Checkpoints {
    /// Takes over from SQLite what becomes of the log that `db` writes.
    pub(super) fn start(db: &mut Connection, path: &Arc<Path>) -> Result<Self, Fault> {
        let (pages, is_ready) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicBool::new(false)));
        let counted = pages.clone();
        db.wal_hook(Some(move |_: &mut _, pages| {
            counted.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let (wanted, asked) = mpsc::channel();
        let (own, ready) = (path.clone(), is_ready.clone());
        let thread = std::thread::Builder::new().name("callboard-log".into()).spawn(move || {
            for () in asked {
                if let Err(fault) = bring_back(&own) {
                    let error = fault.during("bringing the log back", &own);
                    tracing::warn!(%error, path = %own.display(), "the log cannot be brought back beside appends");
                }
                ready.store(true, Ordering::Release);
            }
        });
        let thread = thread.map_err(|error| crate::Error::failed("starting the thread that keeps the log", error))?;
        Ok(Self { wanted: Some(wanted), thread: Some(thread), pages, is_ready, is_under_way: false, most: LOG })
    }

    /// Sees to the log, between two commits of `db`.
    pub(super) fn see_to(&mut self, db: &Connection) -> SqlResult<()> {
        if self.is_under_way {
            if self.is_ready.swap(false, Ordering::Acquire) {
                self.is_under_way = false;
                let (log, back) = checkpoint(db)?;
                // Where somebody reads what the log began with, it goes on growing, and is looked at again later.
                self.most = if back == log { LOG } else { log.saturating_add(LOG / 4) };
            }
        } else if self.pages.load(Ordering::Relaxed) >= self.most {
            // The thread ends with this, not before.
            self.is_under_way = self.wanted.as_ref().is_some_and(|wanted| wanted.send(()).is_ok());
        }
        Ok(())
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.wanted.take());
        if let Some(thread) = self.thread.take() {
            // Where it has panicked, the log is brought back when the file is closed.
            let _ = thread.join();
        }
    }
}

fn bring_back(path: &Path) -> Result<(), Fault> {
    let db = file::connect_reader(path)?;
    // It does something on macOS only. Nobody waits for it.
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    for _ in 0..PASSES {
        checkpoint(&db)?;
    }
    Ok(())
}

/// Brings back what can be without waiting for anybody. Gives the pages of the log, and how many of them are back.
fn checkpoint(db: &Connection) -> SqlResult<(c_int, c_int)> {
    match db.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
        // Another process does it.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok((0, 0)),
        done => done,
    }
}
