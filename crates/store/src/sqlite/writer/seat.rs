//! The seat at the desk, which one at a time has.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use tokio::sync::Notify;

use super::{desk::Desk, group::Work};

/// How many short calls are taken at a time: less than a millisecond's worth.
const SOME: usize = 64;

/// The one [`Desk`], for threads that wait until it is free and a task that is told, and the short calls that whoever
/// has it next commits.
pub(super) struct Seat {
    desk: Mutex<Desk>,
    freed: Arc<Notify>,
    gathered: Mutex<Gathered>,
}

#[derive(Default)]
struct Gathered {
    works: Vec<Box<dyn Work>>,
    /// Whether there is a task that commits them.
    is_under_way: bool,
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
        Self { desk: Mutex::new(desk), freed: Arc::default(), gathered: Mutex::default() }
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

    /// Has a short call wait for whoever has the desk next. Says whether a task has to be started that comes there.
    pub(super) fn gather(&self, work: Box<dyn Work>) -> bool {
        let mut gathered = self.gathered();
        gathered.works.push(work);
        !mem::replace(&mut gathered.is_under_way, true)
    }

    /// Takes some of what has gathered.
    pub(super) fn some(&self) -> Vec<Box<dyn Work>> {
        let works = &mut self.gathered().works;
        let many = works.len().min(SOME);
        works.drain(..many).collect()
    }

    /// Whether the task that commits what has gathered has to go on; where not, the next one that gathers needs another.
    pub(super) fn goes_on(&self) -> bool {
        let mut gathered = self.gathered();
        gathered.is_under_way = !gathered.works.is_empty();
        gathered.is_under_way
    }

    /// Takes all that has gathered from the task that would have committed it.
    pub(super) fn all(&self) -> Vec<Box<dyn Work>> {
        mem::take(&mut *self.gathered()).works
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
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
