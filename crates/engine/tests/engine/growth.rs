//! Invariant I11, counted rather than timed: how much is asked of the store, and how much of it comes back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use callboard_engine::{
    Board, MessageQuery, PromptQuery, Session,
    core::{
        count::Tokens,
        entry::{Entry, Hash, Head},
        id::{Seq, SessionId},
        time::Timestamp,
        viewer::Viewer,
    },
    store::{Append, Durability, Error, Query, Row, Snapshot, Store, TimeQuery},
};
use tokio::sync::broadcast;

use crate::fixture::{add, clock, memory, new, run, say, settings, text, thread};

/// Counts the calls of another store, and the entries that it gives.
struct Counting {
    inner: Arc<dyn Store>,
    calls: AtomicUsize,
    entries: AtomicUsize,
}

/// How many calls there were, and how many entries were read.
#[derive(Debug, PartialEq)]
struct Asked {
    calls: usize,
    entries: usize,
}

impl Counting {
    fn called(&self) -> &dyn Store {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.inner
    }

    fn gave(&self, entries: Vec<Entry>) -> Vec<Entry> {
        self.entries.fetch_add(entries.len(), Ordering::Relaxed);
        entries
    }

    /// What was asked since this was asked for last.
    fn asked(&self) -> Asked {
        Asked { calls: self.calls.swap(0, Ordering::Relaxed), entries: self.entries.swap(0, Ordering::Relaxed) }
    }
}

#[async_trait]
impl Store for Counting {
    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        self.inner.now().await
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        self.called().append(batch).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        self.called().row(session).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        self.called().touch(session, expires_at).await
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        Ok(self.gave(self.called().read(session, query).await?))
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        Ok(self.gave(self.called().read_by_time(session, query).await?))
    }

    async fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, Error> {
        self.called().find(session, key).await
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        self.called().value(session, hash).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.called().sessions(after, limit).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        self.called().delete(session).await
    }

    async fn sweep(&self, limit: usize) -> Result<Vec<SessionId>, Error> {
        self.called().sweep(limit).await
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        // It is off the path of appends.
        self.inner.put_snapshot(session, at, state).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        self.called().snapshot(session, at).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.inner.watch()
    }
}

/// What an append, a prompt of a fixed budget and a page of 50 ask of the store.
async fn costs(store: &Counting, session: &Session) -> [Asked; 3] {
    store.asked();
    say(session, "one more").await;
    let append = store.asked();
    let query = PromptQuery { agent: "writer".parse().ok(), budget: Some(Tokens(4000)), ..Default::default() };
    session.prompt(&query).await.unwrap();
    let prompt = store.asked();
    let page = MessageQuery { limit: Some(50), ..Default::default() };
    session.messages(&Viewer::User, &thread("main"), page).await.unwrap();
    [append, prompt, store.asked()]
}

/// Adds messages until there are so many.
async fn fill(session: &Session, from: usize, to: usize) {
    for at in (from..to).step_by(500) {
        let messages = (at..to.min(at + 500)).map(|n| text(&format!("message {n:06}"))).collect();
        run(session, add("main", messages)).await;
    }
}

#[tokio::test]
async fn i11_an_append_a_prompt_and_a_page_ask_for_the_same_however_long_the_history_is() {
    let clock = clock();
    let inner = memory(&clock);
    let store = Arc::new(Counting { inner, calls: AtomicUsize::default(), entries: AtomicUsize::default() });
    let session = Board::new(store.clone(), settings(&clock)).create(new("s")).await.unwrap();
    fill(&session, 0, 1000).await;
    let at_few = costs(&store, &session).await;
    fill(&session, 1000, 20_000).await;
    let at_many = costs(&store, &session).await;
    assert_eq!(at_few, at_many);
    let [append, _, page] = at_many;
    assert_eq!(append, Asked { calls: 1, entries: 0 });
    assert!(page.entries <= 51, "{page:?}");
}
