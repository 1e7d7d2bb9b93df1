//! Locks by key: calls about the same thing run one after the other, calls about different things at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// A lock for each key. It exists as long as somebody holds or awaits it.
pub(crate) struct KeyedLock<K>(Mutex<HashMap<K, Weak<Lock>>>);

impl<K: Hash + Eq> KeyedLock<K> {
    /// Waits until nobody else holds the lock of `key`. Waiters come in order.
    pub(crate) async fn take(&self, key: K) -> OwnedMutexGuard<()> {
        self.lock_of(key).lock_owned().await
    }

    /// The lock of `key`, unless somebody holds it.
    pub(crate) fn try_take(&self, key: K) -> Option<OwnedMutexGuard<()>> {
        self.lock_of(key).try_lock_owned().ok()
    }

    fn lock_of(&self, key: K) -> Arc<Lock> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        let there = locks.get(&key).and_then(Weak::upgrade);
        there.unwrap_or_else(|| {
            let lock = Arc::default();
            locks.insert(key, Arc::downgrade(&lock));
            lock
        })
    }
}

impl<K> Default for KeyedLock<K> {
    fn default() -> Self {
        Self(Mutex::default())
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
        drop(locks.take("b").await);
        assert!(!locks.0.lock().unwrap().contains_key("a"));
    }
}
