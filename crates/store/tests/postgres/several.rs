//! Several handles that take turns, as one store: what one does, the next must see.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use callboard_store::{
    Append, Durability, Error, Lease, ManualClock, Query, Row, Snapshot, Store, TimeQuery, conformance::Fixture,
};
use tokio::sync::broadcast;

use crate::fixture::Postgres;

/// A namespace whose handle is three.
pub(crate) struct Several(Postgres);

#[async_trait]
impl Fixture for Several {
    async fn fresh() -> Self {
        Self(Postgres::fresh().await)
    }

    async fn open(&self) -> Arc<dyn Store> {
        let handles = [self.0.open().await, self.0.open().await, self.0.open().await];
        Arc::new(Turns { handles, next: AtomicUsize::new(0) })
    }

    fn clock(&self) -> &ManualClock {
        self.0.clock()
    }
}

struct Turns {
    handles: [Arc<dyn Store>; 3],
    next: AtomicUsize,
}

impl Turns {
    fn next(&self) -> &dyn Store {
        &*self.handles[self.next.fetch_add(1, Ordering::Relaxed) % self.handles.len()]
    }
}

#[async_trait]
impl Store for Turns {
    fn durability(&self) -> Durability {
        self.next().durability()
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        self.next().now().await
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        self.next().append(batch).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        self.next().row(session).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        self.next().touch(session, expires_at).await
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        self.next().read(session, query).await
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        self.next().read_by_time(session, query).await
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        self.next().read_each(session, seqs).await
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        self.next().find_each(session, keys).await
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        self.next().value(session, hash).await
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.next().journals(after, limit).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.next().recent_sessions(limit).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.next().sessions(after, limit).await
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        self.next().lease(lease, most).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        self.next().delete(session).await
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        self.next().expired(limit).await
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        self.next().expired_at(session).await
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        self.next().remove_expired(sessions).await
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        self.next().put_snapshot(session, at, state).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        self.next().snapshot(session, at).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.next().watch()
    }
}
