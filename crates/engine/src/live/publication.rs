//! What is durable, for all who want to know, and for those who wait for more.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;

/// A value that readers take and listeners wait for.
pub(crate) struct Publication<T> {
    value: Mutex<T>,
    /// There once somebody listens: it takes more room than all the rest of an idle session.
    listeners: OnceLock<watch::Sender<T>>,
}

impl<T: Clone> Publication<T> {
    /// A value nobody has heard of.
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), listeners: OnceLock::new() }
    }

    /// The value as it is now.
    pub(crate) fn get(&self) -> T {
        self.value().clone()
    }

    /// Puts another value in its place, and gives the one before.
    pub(crate) fn replace(&self, value: T) -> T {
        let mut held = self.value();
        // Who begins to listen meanwhile waits for the lock, and so misses nothing.
        if let Some(listeners) = self.listeners.get() {
            listeners.send_replace(value.clone());
        }
        std::mem::replace(&mut *held, value)
    }

    /// The values from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<T> {
        let held = self.value();
        self.listeners.get_or_init(|| watch::Sender::new(held.clone())).subscribe()
    }

    /// Whether somebody listens.
    pub(crate) fn has_listeners(&self) -> bool {
        self.listeners.get().is_some_and(|listeners| listeners.receiver_count() > 0)
    }

    fn value(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
