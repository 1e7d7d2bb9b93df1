//! A namespace of its own for each test, in a shared server.

use std::sync::Arc;

use async_trait::async_trait;
use callboard_store::{
    Durability, ManualClock, PostgresStore, Settings, Store,
    conformance::{Fixture, clock},
    testing::{PostgresServer, namespace},
};

/// A namespace.
pub(crate) struct Postgres {
    clock: ManualClock,
    url: String,
}

impl Postgres {
    /// One that holds nothing yet, on `server`.
    pub(crate) fn on(server: &PostgresServer) -> Self {
        Self { clock: clock(), url: server.url(&namespace()) }
    }

    /// The URL of it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What handles on it are told.
    pub(crate) fn settings(&self) -> Settings {
        Settings { durability: Durability::Normal, clock: Arc::new(self.clock.clone()), ..Settings::default() }
    }
}

#[async_trait]
impl Fixture for Postgres {
    async fn fresh() -> Self {
        let server = tokio::task::spawn_blocking(PostgresServer::shared).await.unwrap();
        Self::on(server)
    }

    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(PostgresStore::open(&self.url, self.settings()).await.unwrap())
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}
