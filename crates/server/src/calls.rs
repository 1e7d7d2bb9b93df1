//! What calls do: functions of a caller and typed input, which know no HTTP. Handlers, tools and tests use the same ones.
//!
//! A call is a method of [`Authorized`] with the right that it needs, so that nothing is looked up for a caller without
//! that right. It takes input and gives an [`Answer`] of the crate `callboard_api`, or a [`CallError`]. A long list is
//! given as [`Pages`]. There is a file for each resource; what they share comes first.

mod answer;
mod caller;
mod cursor;
mod error;
pub(crate) mod feed;
mod idempotency;
mod options;
pub(crate) mod rights;

mod compression;
pub(crate) mod context_set;
mod directive;
mod file;
mod form;
pub(crate) mod journal;
pub(crate) mod message;
mod orchestration;
mod plan;
mod prompt;
mod run;
mod session;
mod thread;
mod token;
mod tool;
mod transfer;
mod variable;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    answer::{Answer, Pages},
    caller::{Authorized, AuthorizedIfThere, AuthorizedOnServer, AuthorizedToAdd, Caller, Credentials},
    error::CallError,
    options::WriteOptions,
};
