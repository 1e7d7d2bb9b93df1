//! Sizes: what texts are counted in.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex},
};

use callboard_core::count::{Counted, Factor, TokenCounter, Tokens};
use callboard_tokens::{Cached, Vocabulary, context_window, counter, factor_for, for_model, is_exact, upper_bound};

use crate::lock::lock;

/// The counts of so many long texts are remembered in each vocabulary.
const REMEMBERED: usize = 4096;

/// The window of a model of which none is known, in tokens.
pub const DEFAULT_WINDOW: Tokens = Tokens(128_000);

/// The window of a model, in tokens, where it is known.
pub fn window_of(model: &str) -> Option<Tokens> {
    context_window(model).map(Tokens)
}

/// The vocabulary in which sizes are given, whatever a model counts in. It remembers the long texts of late.
pub fn sizes() -> &'static dyn TokenCounter {
    static SIZES: LazyLock<&'static dyn TokenCounter> = LazyLock::new(|| remembering(counter(Vocabulary::O200kBase)));
    *SIZES
}

/// How the tokens of a model are counted.
#[derive(Clone, Copy)]
pub struct Measure {
    /// What counts: the model's own vocabulary, one that stands in for it, or the bytes. It remembers the long texts of late:
    /// context sets stand in one prompt after the other.
    pub counter: &'static dyn TokenCounter,
    /// What a token of the vocabulary comes to for the model, where it is not the model's own.
    pub factor: Option<Factor>,
}

impl Measure {
    /// How the tokens of `model` are counted, where `learned` is the factor that its provider taught.
    pub fn of(model: &str, learned: Option<Factor>) -> Self {
        let factor = || learned.or_else(|| factor_for(model)).unwrap_or(Factor::ONE);
        Self { counter: remembering(for_model(model)), factor: (!is_exact(model)).then(factor) }
    }

    /// Counting in this vocabulary; `None` where this program does not have it.
    pub fn named(counted: &Counted) -> Option<Self> {
        let counter = match Vocabulary::named(&counted.vocabulary) {
            Some(vocabulary) => counter(vocabulary),
            None => Some(upper_bound()).filter(|bound| bound.vocabulary() == counted.vocabulary)?,
        };
        Some(Self { counter: remembering(counter), factor: counted.factor })
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str) -> Tokens {
        let counted = self.counter.count(text);
        self.factor.map_or(counted, |factor| factor.of(counted))
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self { counter: sizes(), factor: None }
    }
}

/// The same counter with a memory: one for each vocabulary, as long as the process runs.
fn remembering(counter: &'static dyn TokenCounter) -> &'static dyn TokenCounter {
    static COUNTERS: LazyLock<Mutex<HashMap<&'static str, &'static Cached>>> = LazyLock::new(Mutex::default);
    let mut counters = lock(&COUNTERS);
    *counters.entry(counter.vocabulary()).or_insert_with(|| Box::leak(Box::new(Cached::new(counter, REMEMBERED))))
}
