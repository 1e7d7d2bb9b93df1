//! A board in memory, for tests: a session with its journal and a clock that a test sets, decided and read as an engine
//! does it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in tests a surprise is a failure")]

mod board;
mod counter;
mod run;

pub use self::{
    board::Board,
    counter::{Pieces, Words},
};
