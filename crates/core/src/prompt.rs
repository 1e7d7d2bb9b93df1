//! Prompts.
pub mod profile;
