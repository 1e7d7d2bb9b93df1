//! Sessions on a real disk.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test may"
)]

mod checking;
mod cleaning;
mod fixture;
mod hostile;
mod index;
mod sharing;
