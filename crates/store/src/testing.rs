//! Servers that tests start for themselves. They run on this machine, as long as the test.
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
pub use rest::{Fault, Proxy};
