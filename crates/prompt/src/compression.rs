//! Compression: what of a thread is summarised, what is kept word for word, whether a summary is good, and a summary without a
//! model. Asking a model is for others.

mod extract;
mod identifiers;
pub mod instructions;
pub mod material;
pub mod plan;
mod shared;
mod transcript;

pub use self::transcript::Spoken;
