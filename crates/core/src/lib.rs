//! The rules of Callboard.
//!
//! This crate does no input or output: no async, clock, randomness or environment. It can neither fail half-way nor
//! differ between runs.

pub mod id;
pub mod time;
pub mod audience;
pub mod entry;
pub mod fact;
pub mod state;
pub mod command;
pub mod error;
pub mod text;
mod rights;

pub mod session;
pub mod agent;
pub mod context_set;
pub mod form;
pub mod directive;
pub mod conversation;
pub mod run;

pub mod viewer;
pub mod view;

pub mod count;
pub mod prompt;
