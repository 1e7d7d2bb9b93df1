//! Sizes: what texts are counted in.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use callboard_core::count::TokenCounter;
use callboard_tokens::{Cached, Vocabulary, counter, for_model};

/// The counts of so many long texts are remembered in each vocabulary.
const REMEMBERED: usize = 4096;

/// The vocabulary in which sizes are given, whatever a model counts in. It remembers the long texts of late.
pub fn sizes() -> &'static dyn TokenCounter {
    static SIZES: LazyLock<&'static dyn TokenCounter> = LazyLock::new(|| remembering(counter(Vocabulary::O200kBase)));
    *SIZES
}

/// What counts the tokens of a model: its vocabulary where it is known, an upper bound where not. It remembers the long
/// texts of late: context sets stand in one prompt after the other.
pub(crate) fn counter_for(model: &str) -> &'static dyn TokenCounter {
    remembering(for_model(model))
}

/// The same counter with a memory: one for each vocabulary, as long as the process runs.
fn remembering(counter: &'static dyn TokenCounter) -> &'static dyn TokenCounter {
    static COUNTERS: LazyLock<Mutex<HashMap<&'static str, &'static Cached>>> = LazyLock::new(Mutex::default);
    let mut counters = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
    *counters.entry(counter.vocabulary()).or_insert_with(|| Box::leak(Box::new(Cached::new(counter, REMEMBERED))))
}
