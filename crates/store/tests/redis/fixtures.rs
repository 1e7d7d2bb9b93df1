//! What the suites need of Redis.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use callboard_core::time::Timestamp;
use callboard_store::{ManualClock, RedisStore, Settings, Store, conformance::Fixture, testing::RedisServer};

use super::proxy::Proxy;

/// A namespace that nobody else in this process has.
pub(crate) fn namespace() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("test{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_millis(1_700_000_000_000).unwrap())
}

/// A handle that goes by `clock`.
pub(crate) async fn open(url: &str, clock: &ManualClock) -> Arc<dyn Store> {
    let settings = Settings { clock: Arc::new(clock.clone()), ..Settings::default() };
    Arc::new(RedisStore::open(url, settings).await.unwrap())
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

/// The same, over REST.
pub(crate) struct Rest {
    pub(crate) proxy: Proxy,
    pub(crate) url: String,
    _server: Arc<RedisServer>,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Rest {
    async fn fresh() -> Self {
        let server = RedisServer::shared();
        let proxy = Proxy::start(server.port()).await;
        Self { url: proxy.url(&namespace()), proxy, _server: server, clock: clock() }
    }

    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url, &self.clock).await
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}
