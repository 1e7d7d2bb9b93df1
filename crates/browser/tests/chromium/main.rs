//! A real Chromium and pages on loopback.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests"
)]

mod pages;

mod guard;
mod reading;
mod tabs;
