//! Locks by key: calls about the same thing run one after the other, calls about different things at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// A lock for each key. It exists as long as somebody holds or awaits it. Its clones are the same.
#[derive(Clone)]
pub(crate) struct KeyedLock<K: Hash + Eq>(Arc<Mutex<HashMap<K, Lock>>>);

/// A held lock.
pub(crate) struct KeyedGuard<K: Hash + Eq> {
    _held: OwnedMutexGuard<()>,
    // Dropped after `_held`.
    _forgetting: Forgetting<K>,
}

/// Removes the lock of a key when dropped, unless somebody else has it.
struct Forgetting<K: Hash + Eq> {
    lock: KeyedLock<K>,
    key: K,
}

impl<K: Hash + Eq + Clone> KeyedLock<K> {
    /// Waits until nobody else holds the lock of `key`. Waiters come in order.
    pub(crate) async fn take(&self, key: K) -> KeyedGuard<K> {
        let (lock, forgetting) = self.lock_of(key);
        KeyedGuard { _held: lock.lock_owned().await, _forgetting: forgetting }
    }

    /// The lock of `key`, unless somebody holds it.
    pub(crate) fn try_take(&self, key: K) -> Option<KeyedGuard<K>> {
        let (lock, forgetting) = self.lock_of(key);
        Some(KeyedGuard { _held: lock.try_lock_owned().ok()?, _forgetting: forgetting })
    }

    fn lock_of(&self, key: K) -> (Lock, Forgetting<K>) {
        let forgetting = Forgetting { lock: self.clone(), key: key.clone() };
        (self.locks().entry(key).or_default().clone(), forgetting)
    }
}

impl<K: Hash + Eq> KeyedLock<K> {
    fn locks(&self) -> MutexGuard<'_, HashMap<K, Lock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> Default for KeyedLock<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Hash + Eq> Drop for Forgetting<K> {
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
        assert!(locks.try_take("a").is_none() && locks.try_take("b").is_some());
        drop(first);
        assert!(locks.take("a").now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_lock_goes_with_the_last_who_has_it_or_waits_for_it() {
        let locks: KeyedLock<&str> = KeyedLock::default();
        let first = locks.take("a").await;
        let mut second = Box::pin(locks.take("a"));
        let mut third = Box::pin(locks.take("a"));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop((first, third));
        let second = second.await;
        assert!(locks.take("a").now_or_never().is_none());
        drop(second);
        assert!(locks.locks().is_empty());
    }
}
