//! Locks within the process.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Locks it, also after a panic of somebody who had it locked: nothing is left half done there.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is opened when it is first needed, by one alone: two that make the same file at once are in each other's way.
#[derive(Debug)]
pub(crate) struct OpenedOnce<T> {
    opened: OnceLock<Arc<T>>,
    opening: Mutex<()>,
}

impl<T> Default for OpenedOnce<T> {
    fn default() -> Self {
        Self { opened: OnceLock::new(), opening: Mutex::default() }
    }
}

impl<T> OpenedOnce<T> {
    /// Whether it was opened.
    pub(crate) fn is_open(&self) -> bool {
        self.opened.get().is_some()
    }

    /// What was opened, or what `open` opens. It blocks while another opens it.
    pub(crate) fn get_or_open<E>(&self, open: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let _only_one = (!self.is_open()).then(|| lock(&self.opening));
        if let Some(opened) = self.opened.get() {
            return Ok(opened.clone());
        }
        let opened = Arc::new(open()?);
        Ok(self.opened.get_or_init(|| opened).clone())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn what_many_need_at_once_is_opened_by_one() {
        let (once, opened) = (OpenedOnce::default(), AtomicUsize::new(0));
        assert_eq!(once.get_or_open(|| Err("no disk")), Err::<Arc<usize>, _>("no disk"));
        assert!(!once.is_open());
        let open = || {
            // The others come meanwhile.
            (0..1000).for_each(|_| thread::yield_now());
            Ok::<_, &str>(opened.fetch_add(1, Ordering::SeqCst))
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(once.get_or_open(open), Ok(Arc::new(0))));
            }
        });
        assert_eq!(opened.into_inner(), 1);
    }
}
