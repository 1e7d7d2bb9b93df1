//! Starts the databases that tests share, prints their ports as `CALLBOARD_TEST_DATABASES` names them, and ends them when its
//! input ends.

#![allow(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::io::{Read as _, Write as _};

use callboard_store::testing::{PostgresServer, RedisCluster, RedisServer};

fn main() -> std::io::Result<()> {
    let (postgres, redis, cluster) = (PostgresServer::start(), RedisServer::start(), RedisCluster::start());
    let nodes: Vec<_> = cluster.nodes().iter().map(|node| node.port().to_string()).collect();
    println!("postgres={} redis={} cluster={}", postgres.port(), redis.port(), nodes.join(","));
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
