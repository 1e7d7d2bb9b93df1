//! Locks within the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it, also after a panic of somebody who had it locked: nothing is left half done there.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
