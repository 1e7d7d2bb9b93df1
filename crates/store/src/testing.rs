//! Servers for the tests of stores, and of whatever stands on them.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot have its server fails, with what is missing")]

mod postgres;

pub use postgres::PostgresServer;
