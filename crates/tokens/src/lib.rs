//! Counts the tokens of texts: exactly for the vocabularies in the binary, by an estimate for models that are known
//! otherwise, and as an upper bound for all others.
//!
//! A counter is chosen by [`Vocabulary`] or by the name of a model. The first count in a vocabulary loads it, once in a
//! process, which takes some tenths of a second and some tens of megabytes. Counting needs the processor, so do it outside
//! an async runtime.
//!
//! ```
//! use callboard_core::count::{Counting, Tokens};
//! use callboard_tokens::{Vocabulary, context_window, counter, factor_for, for_model};
//!
//! assert_eq!(counter(Vocabulary::O200kBase).count("The company reads the callboard."), Tokens(7));
//!
//! let counter = for_model("openai:gpt-4o-mini");
//! assert_eq!((counter.vocabulary(), counter.counting()), ("o200k_base", Counting::Exact));
//! assert_eq!(context_window("gpt-4o-mini"), Some(128_000));
//!
//! assert!(factor_for("claude-sonnet-4-5").is_some(), "its own vocabulary is not public: o200k_base stands in");
//!
//! let counter = for_model("nobody-knows-it");
//! assert_eq!((counter.vocabulary(), counter.counting()), ("bytes", Counting::UpperBound));
//! ```

mod bound;
mod cached;
mod chunks;
mod exact;
mod model;
mod vocabulary;

pub use bound::upper_bound;
pub use cached::Cached;
pub use exact::counter;
pub use model::{context_window, factor_for, for_model, is_exact};
pub use vocabulary::Vocabulary;
