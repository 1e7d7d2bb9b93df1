//! The simplest ways to store messages on a server, for comparison: one command for each message, and the caller waits.

use std::sync::Arc;

use redis::AsyncCommands;
use tokio_postgres::{Client, NoTls, Statement};

use crate::{
    board,
    rounds::{Rate, at_once},
};

/// Connections to Postgres. Each inserts rows, every row in its own transaction.
pub(super) struct Postgres(Vec<(Arc<Client>, Statement)>);

impl Postgres {
    /// Connects as often as `many` says, and makes a table.
    pub(super) async fn connect(url: &str, many: usize) -> anyhow::Result<Self> {
        let (plain, _) = url.split_once('?').unwrap_or((url, ""));
        let mut connections = Vec::new();
        for number in 0..many {
            let (client, connection) = tokio_postgres::connect(plain, NoTls).await?;
            tokio::spawn(connection);
            if number == 0 {
                let table = "CREATE TABLE bare (session int, seq bigserial, data text, PRIMARY KEY (session, seq))";
                client.batch_execute(table).await?;
            }
            let insert = client.prepare("INSERT INTO bare (session, data) VALUES ($1, $2)").await?;
            connections.push((Arc::new(client), insert));
        }
        Ok(Self(connections))
    }

    /// Inserts `count` more, the same number over each connection.
    pub(super) async fn insert(&self, count: usize) -> anyhow::Result<Rate> {
        let each = count.div_ceil(self.0.len());
        let callers = (0_i32..).zip(self.0.clone()).map(move |(session, (client, insert))| async move {
            for number in 0..each {
                client.execute(&insert, &[&session, &board::text(number)]).await?;
            }
            anyhow::Ok(())
        });
        at_once(each * self.0.len(), callers).await
    }
}

/// Connections to Redis. Each pushes to its own list.
pub(super) struct Redis(Vec<redis::aio::MultiplexedConnection>);

impl Redis {
    /// Connects as often as `many` says.
    pub(super) async fn connect(port: u16, many: usize) -> anyhow::Result<Self> {
        let client = redis::Client::open(("127.0.0.1", port))?;
        let mut connections = Vec::new();
        for _ in 0..many {
            connections.push(client.get_multiplexed_async_connection().await?);
        }
        Ok(Self(connections))
    }

    /// Pushes `count` more, the same number over each connection.
    pub(super) async fn push(&self, count: usize) -> anyhow::Result<Rate> {
        let each = count.div_ceil(self.0.len());
        let callers = self.0.iter().cloned().enumerate().map(move |(session, mut connection)| async move {
            for number in 0..each {
                let _: i64 = connection.rpush(format!("bare:{session}"), board::text(number)).await?;
            }
            anyhow::Ok(())
        });
        at_once(each * self.0.len(), callers).await
    }
}
