//! Servers that tests start for themselves. They run on this machine, as long as the test.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, though they are compiled as a module"
)]

use std::{
    env,
    net::TcpListener,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

mod postgres;
mod redis;
mod rest;

pub use postgres::PostgresServer;
pub use redis::{RedisCluster, RedisServer, connection};
pub use rest::{Fault, Proxy};

/// A name of a namespace that nobody else has on a shared server.
pub fn namespace() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A free port below those that the system gives to whoever asks for any, so that it is free again for a server that starts
/// again.
fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Other processes begin elsewhere.
    let next = || FIRST + process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
    let mut ports = (0..COUNT).filter_map(|_| u16::try_from(next()).ok());
    ports.find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok()).expect("a free port")
}

/// The ports of servers that another process started for all tests: those after `name=` in the variable
/// `CALLBOARD_TEST_DATABASES`, such as `postgres=5433 redis=6380 cluster=7001,7002,7003`. The example `databases` prints it.
fn ports(name: &str) -> Vec<u16> {
    let all = env::var("CALLBOARD_TEST_DATABASES").unwrap_or_default();
    let named = all.split(' ').filter_map(|server| server.split_once('=')).find(|(server, _)| *server == name);
    let ports = named.map(|(_, ports)| ports.split(',').map(|port| port.parse().expect("a port"))).into_iter();
    ports.flatten().collect()
}
