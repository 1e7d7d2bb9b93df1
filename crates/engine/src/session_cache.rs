//! A cache that all sessions of a board share: it has one limit, and what was not used for longest goes first. All of it can be
//! dropped at any time.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
};

use callboard_core::id::Seq;

use crate::lock::lock;

/// A value that is cached for a session.
pub(crate) trait Cached {
    /// The entries of the journal are included up to this one.
    fn through(&self) -> Seq;

    /// The approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// The cache of a board.
pub(crate) struct Cache<K, V> {
    max_bytes: usize,
    contents: Mutex<Contents<K, V>>,
}

struct Contents<K, V> {
    sessions: HashMap<u64, HashMap<K, Slot<V>>>,
    bytes: usize,
    /// A counter for the numbers of sessions and the order of uses.
    count: u64,
}

struct Slot<V> {
    value: Arc<V>,
    bytes: usize,
    used: u64,
}

/// The part of the cache for one session. It is dropped with the session.
pub(crate) struct SessionCache<K, V> {
    cache: Arc<Cache<K, V>>,
    session: u64,
}

impl<K, V> Cache<K, V> {
    /// A cache of about so many bytes.
    pub(crate) fn of_bytes(max_bytes: usize) -> Self {
        let contents = Contents { sessions: HashMap::new(), bytes: 0, count: 0 };
        Self { max_bytes, contents: Mutex::new(contents) }
    }

    /// The limit in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// About how many bytes are cached.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.contents).bytes
    }

    /// The part for a new session.
    pub(crate) fn of_session(self: &Arc<Self>) -> SessionCache<K, V> {
        SessionCache { cache: self.clone(), session: lock(&self.contents).next_count() }
    }
}

impl<K, V> SessionCache<K, V> {
    /// Forgets everything.
    pub(crate) fn forget(&self) {
        let mut contents = lock(&self.cache.contents);
        let slots = contents.sessions.remove(&self.session).unwrap_or_default();
        contents.bytes = contents.bytes.saturating_sub(slots.values().map(|slot| slot.bytes).sum());
        drop(contents);
        drop(slots);
    }
}

impl<K: Eq + Hash, V: Cached> SessionCache<K, V> {
    /// The value under a key.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        let mut contents = lock(&self.cache.contents);
        let used = contents.next_count();
        let slot = contents.sessions.get_mut(&self.session)?.get_mut(key)?;
        slot.used = used;
        Some(slot.value.clone())
    }

    /// Keeps a value under a key, unless a newer one was kept meanwhile.
    pub(crate) fn keep(&self, key: K, value: Arc<V>) {
        let bytes = value.bytes();
        let mut contents = lock(&self.cache.contents);
        let used = contents.next_count();
        let slots = contents.sessions.entry(self.session).or_default();
        if slots.get(&key).is_some_and(|now| now.value.through() > value.through()) {
            return;
        }
        let before = slots.insert(key, Slot { value, bytes, used });
        contents.bytes = (contents.bytes + bytes).saturating_sub(before.as_ref().map_or(0, |slot| slot.bytes));
        let forgotten = contents.forget_unused(self.cache.max_bytes);
        // Dropping much takes a while, so it happens after unlocking.
        drop(contents);
        drop((before, forgotten));
    }
}

impl<K, V> Drop for SessionCache<K, V> {
    fn drop(&mut self) {
        self.forget();
    }
}

impl<K, V> Contents<K, V> {
    fn next_count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}

impl<K: Eq + Hash, V> Contents<K, V> {
    /// Beyond the limit, removes a quarter: what was not used for longest. With less, it would have to search each time.
    fn forget_unused(&mut self, max_bytes: usize) -> Vec<Slot<V>> {
        if self.bytes <= max_bytes {
            return Vec::new();
        }
        let slots = self.sessions.values().flat_map(HashMap::values);
        let mut by_use: Vec<_> = slots.map(|slot| (slot.used, slot.bytes)).collect();
        by_use.sort_unstable();
        let mut last = 0;
        for (used, bytes) in by_use {
            if self.bytes <= max_bytes / 4 * 3 {
                break;
            }
            (last, self.bytes) = (used, self.bytes.saturating_sub(bytes));
        }
        let unused = |slots: &mut HashMap<K, Slot<V>>| {
            slots.extract_if(|_, slot| slot.used <= last).map(|(_, slot)| slot).collect::<Vec<_>>()
        };
        let forgotten = self.sessions.values_mut().flat_map(unused).collect();
        self.sessions.retain(|_, slots| !slots.is_empty());
        forgotten
    }
}
