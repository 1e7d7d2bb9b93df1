//! Servers that tests start for themselves. They run on this machine, as long as the test.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, though they are compiled as a module"
)]

use std::{
    env, process,
    sync::atomic::{AtomicU32, Ordering},
};

mod postgres;
mod redis;
mod rest;

pub use postgres::PostgresServer;
pub use redis::{RedisCluster, RedisServer};
pub use rest::{Fault, Proxy};

/// A name of a namespace that nobody else has on a shared server.
pub fn namespace() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The ports of servers that another process started for all tests: those after `name=` in the variable
/// `CALLBOARD_TEST_DATABASES`, such as `postgres=5433 redis=6380 cluster=7001,7002,7003`. The example `databases` prints it.
fn ports(name: &str) -> Vec<u16> {
    let all = env::var("CALLBOARD_TEST_DATABASES").unwrap_or_default();
    let named = all.split(' ').filter_map(|server| server.split_once('=')).find(|(server, _)| *server == name);
    let ports = named.map(|(_, ports)| ports.split(',').map(|port| port.parse().expect("a port"))).into_iter();
    ports.flatten().collect()
}
