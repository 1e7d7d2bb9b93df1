//! What the suites need of Redis.

use std::sync::Arc;

use async_trait::async_trait;
use callboard_store::{
    ManualClock, RedisStore, Settings, Store,
    conformance::Fixture,
    testing::{Proxy, RedisCluster, RedisServer, connection},
};

pub(crate) use callboard_store::{conformance::clock, testing::namespace};

/// A handle that goes by `clock`.
pub(crate) async fn open(url: &str, clock: &ManualClock) -> Arc<dyn Store> {
    let settings = Settings { clock: Arc::new(clock.clone()), ..Settings::default() };
    Arc::new(RedisStore::open(url, settings).await.unwrap())
}

/// Whoever runs the server, who may give it any command.
pub(crate) struct Admin(redis::aio::MultiplexedConnection);

impl Admin {
    pub(crate) async fn of(server: &RedisServer) -> Self {
        Self(connection(server.port()).await)
    }

    /// Gives a command whose words have no spaces.
    pub(crate) async fn tell<T: redis::FromRedisValue>(&mut self, command: &str) -> T {
        let mut words = redis::Cmd::new();
        command.split_whitespace().for_each(|word| {
            words.arg(word);
        });
        words.query_async(&mut self.0).await.unwrap()
    }

    /// Runs a script.
    pub(crate) async fn eval(&mut self, code: &str) {
        redis::cmd("EVAL").arg(code).arg(0).query_async::<()>(&mut self.0).await.unwrap();
    }
}

/// A namespace in a server that is shared.
pub(crate) struct Native {
    pub(crate) server: Arc<RedisServer>,
    pub(crate) url: String,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Native {
    async fn fresh() -> Self {
        let server = RedisServer::shared();
        Self { url: server.url(&namespace()), server, clock: clock() }
    }

    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url, &self.clock).await
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

/// A namespace in a cluster that is shared.
pub(crate) struct Clustered {
    pub(crate) cluster: Arc<RedisCluster>,
    pub(crate) url: String,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Clustered {
    async fn fresh() -> Self {
        let cluster = tokio::task::spawn_blocking(RedisCluster::shared).await.unwrap();
        Self { url: cluster.url(&namespace()), cluster, clock: clock() }
    }

    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url, &self.clock).await
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

/// The same, over REST.
pub(crate) struct Rest {
    pub(crate) proxy: Proxy,
    pub(crate) url: String,
    pub(crate) server: Arc<RedisServer>,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Rest {
    async fn fresh() -> Self {
        let server = RedisServer::shared();
        let proxy = Proxy::start(server.port()).await;
        Self { url: proxy.url(&namespace()), proxy, server, clock: clock() }
    }

    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url, &self.clock).await
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}
