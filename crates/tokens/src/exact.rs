//! Exact counts: one counter for each vocabulary, loaded when it first counts.

use std::{cell::Cell, sync::LazyLock};

use callboard_core::count::{TokenCounter, Tokens};
use tiktoken::{CoreBpe, encoding};

use crate::{
    Vocabulary,
    chunks::{Chunks, Isolates},
    upper_bound,
};

/// The exact counter of `vocabulary`; the [`upper_bound`] for one that this program was built without.
///
/// The first count loads the vocabulary, once. Other threads that count meanwhile wait for it.
pub fn counter(vocabulary: Vocabulary) -> &'static dyn TokenCounter {
    match vocabulary {
        Vocabulary::O200kBase => &O200K_BASE,
        #[cfg(feature = "cl100k_base")]
        Vocabulary::Cl100kBase => &CL100K_BASE,
        #[cfg(feature = "qwen2")]
        Vocabulary::Qwen2 => &QWEN2,
        #[cfg(feature = "llama3")]
        Vocabulary::Llama3 => &LLAMA3,
        #[cfg(feature = "deepseek_v3")]
        Vocabulary::DeepseekV3 => &DEEPSEEK_V3,
        #[cfg(feature = "tekken")]
        Vocabulary::Tekken => &TEKKEN,
        #[allow(unreachable_patterns, reason = "all may be built in")]
        _ => upper_bound(),
    }
}

static O200K_BASE: Exact = Exact::new(Vocabulary::O200kBase, encoding::o200k_base);
#[cfg(feature = "cl100k_base")]
static CL100K_BASE: Exact = Exact::new(Vocabulary::Cl100kBase, encoding::cl100k_base);
#[cfg(feature = "qwen2")]
static QWEN2: Exact = Exact::new(Vocabulary::Qwen2, encoding::qwen2);
#[cfg(feature = "llama3")]
static LLAMA3: Exact = Exact::new(Vocabulary::Llama3, encoding::llama3);
#[cfg(feature = "deepseek_v3")]
static DEEPSEEK_V3: Exact = Exact::new(Vocabulary::DeepseekV3, encoding::deepseek_v3);
#[cfg(feature = "tekken")]
static TEKKEN: Exact = Exact::new(Vocabulary::Tekken, encoding::mistral_v3);

struct Exact {
    vocabulary: Vocabulary,
    encoding: LazyLock<CoreBpe>,
}

thread_local! {
    /// Whether the cache of pieces of this thread is made.
    static HAS_CACHE: Cell<bool> = const { Cell::new(false) };
}

/// How much of the stack the cache takes while it is made, and then some, in bytes.
const CACHE_STACK: usize = 2 << 20;

/// A text that is in no vocabulary as a whole, so that counting it makes the cache.
const NO_TOKEN: &str = "zqxjkvq";

impl Exact {
    const fn new(vocabulary: Vocabulary, load: fn() -> CoreBpe) -> Self {
        Self { vocabulary, encoding: LazyLock::new(load) }
    }

    /// The encoding, for use on this thread.
    ///
    /// `tiktoken` makes a cache of pieces for each thread, at the first piece that is no token. It does so on the stack,
    /// and takes 800 kB of it: more than what may be left within a task of an async runtime, whose threads have 2 MiB.
    /// So the first time it gets a stack of its own.
    fn encoding(&self) -> &CoreBpe {
        if !HAS_CACHE.get() {
            stacker::grow(CACHE_STACK, || self.encoding.count(NO_TOKEN));
            HAS_CACHE.set(true);
        }
        &self.encoding
    }

    fn isolates(&self) -> Isolates {
        match self.vocabulary {
            Vocabulary::DeepseekV3 => Isolates::Cjk,
            Vocabulary::O200kBase
            | Vocabulary::Cl100kBase
            | Vocabulary::Qwen2
            | Vocabulary::Llama3
            | Vocabulary::Tekken => Isolates::Nothing,
        }
    }
}

impl TokenCounter for Exact {
    fn vocabulary(&self) -> &str {
        self.vocabulary.as_str()
    }

    fn count(&self, text: &str) -> Tokens {
        let encoding = self.encoding();
        // `count` takes special tokens for the plain text they are; `count_with_special_tokens` would not.
        Chunks::new(text, self.isolates()).map(|chunk| Tokens(encoding.count(chunk) as u64)).sum()
    }
}
