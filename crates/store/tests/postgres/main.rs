//! What Postgres must pass: the suite of all stores, the comparison with memory, and what is particular to a server.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

mod faults;
mod fixture;
mod model;
#[path = "../model_of/mod.rs"]
mod model_of;
mod opening;
mod rows;
mod sweep;
mod tls;
mod together;

use fixture::Postgres;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

callboard_store::conformance!(Postgres);
callboard_store::conformance_of_durable!(Postgres);

/// How somebody else connects to the namespace of `url`.
fn config(url: &str) -> Config {
    let (base, namespace) = url.split_once("?namespace=").unwrap();
    let mut config: Config = base.parse().unwrap();
    config.options(format!("-c search_path={namespace}")).application_name("test");
    config
}

/// A connection of somebody else to the namespace of `url`.
async fn connect(url: &str) -> Client {
    let (client, connection) = config(url).connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The first column of what statements find that somebody else runs.
async fn sql(url: &str, statements: &str) -> Vec<String> {
    let messages = connect(url).await.simple_query(statements).await.unwrap();
    let value = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    messages.iter().filter_map(value).collect()
}
