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

/// Each test twice: straight on a store, and over HTTP at a server of that store.
macro_rules! both_ways {
    ($($test:ident),* $(,)?) => {
        mod on_a_store {
            $(#[test] fn $test() { super::$test(|home| home); })*
        }

        mod over_http {
            $(#[test] fn $test() { super::$test(crate::home::Home::over_http); })*
        }
    };
}

mod bad_input;
mod browser;
mod compression;
mod crash;
mod director;
mod doctor;
mod documents;
mod elsewhere;
mod examples;
mod expiry;
mod files;
mod help;
mod home;
mod job;
mod mcp;
mod names;
mod nouns;
mod plans;
mod play;
mod reach;
mod readme;
mod real_model;
mod replies;
mod resume;
mod secrets;
mod serve;
mod server;
mod several;
mod several_servers;
mod steps;
mod stores;
mod team_draft;
mod team_run;
mod threads;
mod transfer;
mod unwritable;
mod which;
mod workflows;
