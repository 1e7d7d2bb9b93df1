//! A cache for the counts of long texts.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    mem,
    sync::{Mutex, PoisonError},
};

use callboard_core::count::{Counting, TokenCounter, Tokens};

/// Counting a text with fewer bytes takes about as long as looking it up.
const WORTH_BYTES: usize = 1 << 10;

/// A counter that caches the counts of texts of 1 KiB or more, so that counting the same text again costs only a hash.
///
/// It keeps hashes, not texts: 128 bits with random keys, so nobody can construct two texts with the same hash. It keeps
/// between half of `capacity` and `capacity` counts, at least the most recently used.
pub struct Cached {
    counter: &'static dyn TokenCounter,
    keys: [RandomState; 2],
    counts: Mutex<Generations>,
}

impl Cached {
    /// Caches up to `capacity` counts of `counter`, with 40 bytes each.
    pub fn new(counter: &'static dyn TokenCounter, capacity: usize) -> Self {
        let counts = Generations { each: capacity / 2, young: HashMap::new(), old: HashMap::new() };
        Self { counter, keys: Default::default(), counts: Mutex::new(counts) }
    }

    fn with_counts<T>(&self, with: impl FnOnce(&mut Generations) -> T) -> T {
        with(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TokenCounter for Cached {
    fn vocabulary(&self) -> &str {
        self.counter.vocabulary()
    }

    fn count(&self, text: &str) -> Tokens {
        if text.len() < WORTH_BYTES {
            return self.counter.count(text);
        }
        let hash = self.keys.each_ref().map(|key| key.hash_one(text));
        if let Some(tokens) = self.with_counts(|counts| counts.get(hash)) {
            return tokens;
        }
        let tokens = self.counter.count(text);
        self.with_counts(|counts| counts.insert(hash, tokens));
        tokens
    }

    fn counting(&self) -> Counting {
        self.counter.counting()
    }
}

/// The two halves of the cache: recently used counts, and older ones. When the first half is full, the second is dropped.
struct Generations {
    each: usize,
    young: HashMap<[u64; 2], Tokens>,
    old: HashMap<[u64; 2], Tokens>,
}

impl Generations {
    fn get(&mut self, hash: [u64; 2]) -> Option<Tokens> {
        if let Some(&tokens) = self.young.get(&hash) {
            return Some(tokens);
        }
        let tokens = self.old.remove(&hash)?;
        self.insert(hash, tokens);
        Some(tokens)
    }

    fn insert(&mut self, hash: [u64; 2], tokens: Tokens) {
        if self.each == 0 {
            return;
        }
        if self.young.len() >= self.each {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(hash, tokens);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts bytes, and how often it was asked.
    #[derive(Default)]
    struct Asked(AtomicUsize);

    impl TokenCounter for Asked {
        fn vocabulary(&self) -> &str {
            "asked"
        }

        fn count(&self, text: &str) -> Tokens {
            self.0.fetch_add(1, Ordering::Relaxed);
            Tokens(text.len() as u64)
        }
    }

    /// Counts texts of these lengths with a cache of `capacity`, and says how often the counter was asked.
    fn asked(capacity: usize, lengths: &[usize]) -> usize {
        let asked: &'static Asked = Box::leak(Box::default());
        let cached = Cached::new(asked, capacity);
        for &length in lengths {
            assert_eq!(cached.count(&"x".repeat(length)), Tokens(length as u64));
        }
        assert!(cached.with_counts(|counts| counts.young.len() + counts.old.len()) <= capacity);
        asked.0.load(Ordering::Relaxed)
    }

    #[test]
    fn a_long_text_is_counted_once() {
        assert_eq!(asked(8, &[2000, 3000, 2000, 3000, 2000]), 2);
    }

    #[test]
    fn a_short_text_is_counted_each_time() {
        assert_eq!(asked(8, &[1023, 1023]), 2);
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_goes() {
        assert_eq!(asked(4, &[2000, 3000, 2000, 4000, 2000, 5000, 2000, 6000, 2000]), 5);
        assert_eq!(asked(4, &[2000, 3000, 4000, 5000, 6000, 2000]), 6);
    }

    #[test]
    fn a_cache_without_room_still_counts() {
        assert_eq!(asked(0, &[2000, 2000]), 2);
    }
}
