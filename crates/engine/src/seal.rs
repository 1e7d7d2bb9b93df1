//! Secrets: sealed with a key of their session before anything is decided, and masked wherever they come in later.
//!
//! `keys` has the keys and what is done with them, `mask` finds known values in texts, and `masks` has what finds those of a session.
//! `known` is what a session in memory knows of its secrets, and `masking` applies it to the input of a command, which `sealer` seals.
//! `rewrite` hides what earlier entries say of what becomes a secret, unless `said` knows that they do not; `originals` has what they
//! said.

mod digest;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod layer;
pub(crate) mod mask;
pub(crate) mod masking;
pub(crate) mod masks;
pub(crate) mod originals;
pub(crate) mod rewrite;
pub(crate) mod said;
pub(crate) mod sealer;
pub(crate) mod stream;
mod variants;
mod writing;
