//! The rules of Callboard.
//!
//! This crate does no input or output: no async, clock, randomness or environment. It can neither fail half-way nor
//! differ between runs.

pub mod audience;
pub mod count;
pub mod entry;
pub mod id;
pub mod time;
