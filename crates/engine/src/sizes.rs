//! Sizes: what texts are counted in where no model is meant.

use std::sync::LazyLock;

use callboard_core::count::TokenCounter;
use callboard_tokens::{Cached, Vocabulary, counter};

/// The vocabulary in which sizes are given, whatever a model counts in. It remembers the long texts of late.
pub(crate) fn sizes() -> &'static dyn TokenCounter {
    static SIZES: LazyLock<Cached> = LazyLock::new(|| Cached::new(counter(Vocabulary::O200kBase), 4096));
    &*SIZES
}
