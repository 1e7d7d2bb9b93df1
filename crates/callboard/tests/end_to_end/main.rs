//! The binary as people and programs use it: a real store, real processes, models over real HTTP.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test may"
)]

mod bad_input;
mod crash;
mod help;
mod home;
mod nouns;
mod play;
mod real_model;
mod replies;
mod resume;
mod several;
mod team_run;
