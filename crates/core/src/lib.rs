//! The rules of Callboard.
//!
//! This crate does no input or output: no async, clock, randomness or environment. It can neither fail half-way nor
//! differ between runs.

pub mod answer;
pub mod audience;
pub mod command;
mod deciding;
pub mod entry;
pub mod error;
pub mod event;
pub mod fact;
pub mod id;
mod json;
pub mod request;
mod rights;
pub mod state;
pub mod text;
pub mod time;

pub mod agent;
pub mod context_set;
pub mod conversation;
pub mod directive;
pub mod form;
pub mod run;
pub mod session;
pub mod token;

pub mod view;
pub mod viewer;

pub mod count;
pub mod prompt;
pub mod tail;
pub mod why;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
