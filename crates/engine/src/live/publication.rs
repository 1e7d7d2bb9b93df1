//! A value that its owner replaces. Readers get it, and listeners wait for the next one.

use std::sync::{Mutex, OnceLock};

use tokio::sync::watch;

use crate::lock::lock;

/// The value and its listeners.
pub(crate) struct Publication<T> {
    value: Mutex<T>,
    /// Created by the first listener, since it takes more memory than the rest of an idle session.
    listeners: OnceLock<watch::Sender<T>>,
}

impl<T: Clone> Publication<T> {
    /// A value without listeners.
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), listeners: OnceLock::new() }
    }

    /// The current value.
    pub(crate) fn get(&self) -> T {
        lock(&self.value).clone()
    }

    /// Replaces the value and returns the old one.
    pub(crate) fn replace(&self, value: T) -> T {
        let mut held = lock(&self.value);
        // A new listener waits for the lock, so it misses nothing.
        if let Some(listeners) = self.listeners.get() {
            listeners.send_replace(value.clone());
        }
        std::mem::replace(&mut *held, value)
    }

    /// Listens: the receiver gets every later value, or the last of several.
    pub(crate) fn listen(&self) -> watch::Receiver<T> {
        let held = lock(&self.value);
        self.listeners.get_or_init(|| watch::Sender::new(held.clone())).subscribe()
    }

    /// Whether somebody listens.
    pub(crate) fn has_listeners(&self) -> bool {
        self.listeners.get().is_some_and(|listeners| listeners.receiver_count() > 0)
    }
}
