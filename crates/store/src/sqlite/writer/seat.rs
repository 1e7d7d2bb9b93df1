//! The seat at the desk, which one at a time has.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, TryLockError},
};

use tokio::sync::Notify;

use super::desk::Desk;

/// The one [`Desk`], for threads that wait until it is free and a task that is told.
pub(super) struct Seat {
    desk: Mutex<Desk>,
    freed: Arc<Notify>,
}

/// Why nobody can take it now.
pub(super) enum Taken {
    /// Somebody has it; this is told when it is free again.
    Busy(Arc<Notify>),
    /// Somebody panicked there, and nobody knows what state it is in.
    Lost,
}

impl Seat {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk: Mutex::new(desk), freed: Arc::default() }
    }

    /// Takes it once it is free, which no task may wait for. `None` where it is lost.
    pub(super) fn take(&self) -> Option<Seated<'_>> {
        Some(self.seated(self.desk.lock().ok()?))
    }

    /// Takes it if it is free.
    pub(super) fn try_take(&self) -> Result<Seated<'_>, Taken> {
        match self.desk.try_lock() {
            Ok(desk) => Ok(self.seated(desk)),
            Err(TryLockError::WouldBlock) => Err(Taken::Busy(self.freed.clone())),
            Err(TryLockError::Poisoned(_)) => Err(Taken::Lost),
        }
    }

    fn seated<'a>(&'a self, desk: MutexGuard<'a, Desk>) -> Seated<'a> {
        Seated { desk, _tell: Tell(&self.freed) }
    }
}

/// Who has the desk.
pub(super) struct Seated<'a> {
    // The order matters: it is told once it is so.
    desk: MutexGuard<'a, Desk>,
    _tell: Tell<'a>,
}

impl Deref for Seated<'_> {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

impl DerefMut for Seated<'_> {
    fn deref_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }
}

/// Tells when it is dropped.
struct Tell<'a>(&'a Notify);

impl Drop for Tell<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
