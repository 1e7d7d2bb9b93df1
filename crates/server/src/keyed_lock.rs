//! Locks by key: calls about the same thing run one after the other, calls about different things at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

/// A lock for each key, with a value that a holder leaves for the next. It exists as long as somebody holds or awaits it.
pub(crate) struct KeyedLock<K, T = ()>(Mutex<HashMap<K, Arc<tokio::sync::Mutex<T>>>>)
where
    K: Hash + Eq;

/// A held lock.
pub(crate) struct KeyedGuard<'a, K: Hash + Eq, T> {
    held: OwnedMutexGuard<T>,
    // Dropped after `held`.
    _forgetting: Forgetting<'a, K, T>,
}

/// Removes the lock of a key when dropped, unless somebody else has it.
struct Forgetting<'a, K: Hash + Eq, T> {
    lock: &'a KeyedLock<K, T>,
    key: K,
}

impl<K: Hash + Eq + Clone, T: Default> KeyedLock<K, T> {
    /// Waits until nobody else holds the lock of `key`. Waiters come in order.
    pub(crate) async fn take(&self, key: K) -> KeyedGuard<'_, K, T> {
        let forgetting = Forgetting { lock: self, key: key.clone() };
        let lock = self.locks().entry(key).or_default().clone();
        KeyedGuard { held: lock.lock_owned().await, _forgetting: forgetting }
    }
}

impl<K: Hash + Eq, T> KeyedLock<K, T> {
    fn locks(&self) -> MutexGuard<'_, HashMap<K, Arc<tokio::sync::Mutex<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq, T> Default for KeyedLock<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, T> Deref for KeyedGuard<'_, K, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.held
    }
}

impl<K: Hash + Eq, T> DerefMut for KeyedGuard<'_, K, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held
    }
}

impl<K: Hash + Eq, T> Drop for Forgetting<'_, K, T> {
    fn drop(&mut self) {
        let mut locks = self.lock.locks();
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::KeyedLock;

    #[tokio::test]
    async fn only_those_with_the_same_key_wait_for_each_other() {
        let locks: KeyedLock<&str> = KeyedLock::default();
        let first = locks.take("a").await;
        assert!(locks.take("b").now_or_never().is_some());
        assert!(locks.take("a").now_or_never().is_none());
        drop(first);
        assert!(locks.take("a").now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_lock_goes_with_the_last_who_has_it_or_waits_for_it() {
        let locks: KeyedLock<&str, u8> = KeyedLock::default();
        let mut first = locks.take("a").await;
        *first = 7;
        let mut second = Box::pin(locks.take("a"));
        let mut third = Box::pin(locks.take("a"));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop((first, third));
        assert_eq!(*second.await, 7);
        assert!(locks.locks().is_empty());
        assert_eq!(*locks.take("a").await, 0);
    }
}
