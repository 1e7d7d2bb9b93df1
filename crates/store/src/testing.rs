//! Servers that tests start for themselves, on this machine and for as long as the test runs.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, though they are compiled as a module"
)]

mod postgres;
mod redis;
mod rest;

pub use postgres::PostgresServer;
pub use redis::{RedisCluster, RedisServer};
pub use rest::{Proxy, Trouble};
