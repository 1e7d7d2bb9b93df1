//! I11: what is asked of the store for an append, a prompt and a page of history does not grow with the history.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use callboard_engine::{
    Board, MasterKey, MessageQuery, PromptSpec, Session, Settings,
    core::{
        conversation::{NewMessage, Role},
        count::Tokens,
        entry::{Entry, Hash, Head},
        id::{Seq, SessionId},
        prompt::Format,
        time::Timestamp,
        viewer::Viewer,
    },
    store::{Append, Durability, Error, Lease, Query, Row, Snapshot, Store, TimeQuery},
};
use tokio::sync::broadcast;

use crate::fixture::{add, clock, id, memory, new, run, settings, thread};

/// Counts what is read of another store.
struct Counting {
    inner: Arc<dyn Store>,
    read: Mutex<Read>,
}

/// How often a store was asked, and how many entries it gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Read {
    calls: usize,
    entries: usize,
}

impl Counting {
    fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, read: Mutex::default() })
    }

    fn called<T>(&self, answer: T, entries: usize) -> T {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.calls += 1;
        read.entries += entries;
        answer
    }

    /// What was read since this was asked the last time.
    fn since(&self) -> Read {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
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
        self.called(self.inner.append(batch).await, 0)
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        self.called(self.inner.row(session).await, 0)
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        self.called(self.inner.touch(session, expires_at).await, 0)
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        let read = self.inner.read(session, query).await?;
        let entries = read.len();
        Ok(self.called(read, entries))
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        let read = self.inner.read_by_time(session, query).await?;
        let entries = read.len();
        Ok(self.called(read, entries))
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        let read = self.inner.read_each(session, seqs).await?;
        let entries = read.len();
        Ok(self.called(read, entries))
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        self.called(self.inner.find_each(session, keys).await, 0)
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        self.called(self.inner.value(session, hash).await, 0)
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.called(self.inner.journals(after, limit).await, 0)
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.called(self.inner.sessions(after, limit).await, 0)
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.called(self.inner.recent_sessions(limit).await, 0)
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        self.inner.lease(lease, most).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        self.called(self.inner.delete(session).await, 0)
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        self.inner.expired(limit).await
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        self.called(self.inner.expired_at(session).await, 0)
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        self.inner.remove_expired(sessions).await
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        // It is off the path of appends.
        self.inner.put_snapshot(session, at, state).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        self.called(self.inner.snapshot(session, at).await, 0)
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.inner.watch()
    }
}

const START: i64 = 1_700_000_000_000;

/// A message in the middle of many that are all alike. Every fifth is an agent's.
fn message(number: usize) -> NewMessage {
    let role = if number.is_multiple_of(5) { Role::Ai } else { Role::User };
    let timestamp = Timestamp::from_millis(START + number as i64 * 1000).ok();
    NewMessage { timestamp, ..NewMessage::text(role, "the tide turns before noon and every vessel waits") }
}

/// A session with so many messages, opened anew, and what counts the reading of it.
async fn opened(messages: usize) -> (Arc<Counting>, Board, Session) {
    let inner = memory(&clock());
    let board = Board::new(inner.clone(), settings(&clock()));
    let session = board.create(new("s")).await.unwrap();
    for from in (0..messages).step_by(500) {
        run(&session, add("main", (from..from + 500).map(message).collect())).await;
    }
    board.close().await;
    let store = Counting::new(inner);
    let board = Board::new(store.clone(), settings(&clock()));
    let session = board.session(&id("s")).await.unwrap();
    session.state().await.unwrap();
    store.since();
    (store, board, session)
}

#[tokio::test]
async fn i11_an_append_is_one_call_however_long_the_history_is() {
    for messages in [1_000, 20_000] {
        let (store, _board, session) = opened(messages).await;
        for more in 0..3 {
            run(&session, add("main", vec![message(messages + more)])).await;
            assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "after {messages} messages");
        }
    }
}

#[tokio::test]
async fn i11_what_is_read_for_a_new_secret_does_not_grow_with_the_history_after_the_first() {
    let with_key = || Settings { master_keys: Arc::new(vec![MasterKey::new([1; 32])]), ..settings(&clock()) };
    for messages in [1_000, 5_000] {
        let inner = memory(&clock());
        let board = Board::new(inner.clone(), with_key());
        let session = board.create(new("s")).await.unwrap();
        run(&session, add("main", (0..messages).map(message).collect())).await;
        board.close().await;
        let store = Counting::new(inner);
        let board = Board::new(store.clone(), with_key());
        let session = board.session(&id("s")).await.unwrap();
        for nth in 0..4 {
            let token = format!(r#"{{"token": "canary-{nth}-of-many"}}"#);
            let result = NewMessage { tool_call_id: Some(format!("c{nth}")), ..NewMessage::text(Role::Tool, &*token) };
            store.since();
            run(&session, add("main", vec![result])).await;
            let Read { calls, entries } = store.since();
            match nth {
                0 => assert!(entries >= messages, "{entries}"),
                _ => assert!(entries < 10 && calls < 10, "{calls} {entries} after {messages} messages"),
            }
        }
    }
}

fn query(format: Format) -> PromptSpec {
    let (agent, model) = ("writer".parse().ok(), Some("gpt-4o".to_owned()));
    PromptSpec { agent, model, format, budget: Some(Tokens(4000)), ..PromptSpec::default() }
}

/// What is read for prompts: the first, one after a message more, the same again.
async fn prompts(messages: usize) -> Vec<(Read, u64)> {
    let (store, _board, session) = opened(messages).await;
    let mut read = Vec::new();
    for format in [Format::Text, Format::OpenAi] {
        for _ in 0..3 {
            run(&session, add("main", vec![message(1)])).await;
            store.since();
            for _ in 0..2 {
                let prompt = session.prompt(&query(format)).await.unwrap();
                assert!(prompt.parts.iter().any(|part| part.name == "history" && part.shortened));
                read.push((store.since(), prompt.tokens.0 / 1000));
            }
        }
    }
    read
}

#[tokio::test]
async fn i11_what_is_read_for_a_prompt_does_not_grow_with_the_history_and_is_nothing_but_the_row_after_the_first() {
    let [short, long] = [prompts(1_000).await, prompts(20_000).await];
    assert_eq!(short, long);
    let firsts = [0, 6];
    for (at, (read, _)) in short.into_iter().enumerate() {
        if firsts.contains(&at) {
            assert!(read.entries > 100 && read.entries < 600 && read.calls <= 4, "{read:?}");
        } else {
            assert_eq!(read, Read { calls: 1, entries: 0 }, "the prompt {at}");
        }
    }
}

/// What is read for pages: the newest, before a place and a time in the middle, of one role; each again after a message.
async fn pages(messages: usize) -> Vec<(Read, usize)> {
    let (store, _board, session) = opened(messages).await;
    let newest = MessageQuery { limit: Some(50), ..MessageQuery::default() };
    let middle = Timestamp::from_millis(START + messages as i64 / 2 * 1000).ok();
    let before = MessageQuery { before: middle, ..newest.clone() };
    let place = session.messages(&Viewer::User, &thread("main"), before.clone()).await.unwrap().next;
    assert!(place.is_some());
    let at_place = MessageQuery { cursor: place, ..newest.clone() };
    let of_role = MessageQuery { roles: vec![Role::Ai], ..newest.clone() };
    store.since();
    let mut read = Vec::new();
    for query in [newest, before, at_place, of_role] {
        for more in 0..2 {
            let page = session.messages(&Viewer::User, &thread("main"), query.clone()).await.unwrap();
            read.push((store.since(), page.messages.len()));
            run(&session, add("main", vec![message(messages + more)])).await;
            store.since();
        }
    }
    read
}

#[tokio::test]
async fn i11_what_is_read_for_a_page_does_not_grow_with_the_history() {
    let [short, long] = [pages(1_000).await, pages(20_000).await];
    assert_eq!(short, long);
    assert!(short.iter().all(|(read, given)| *given == 50 && read.calls <= 8 && read.entries <= 400), "{short:?}");
}

#[tokio::test]
async fn i11_newest_messages_that_were_read_before_are_read_from_memory() {
    let (store, _board, session) = opened(1_000).await;
    let newest = MessageQuery { limit: Some(50), ..MessageQuery::default() };
    session.messages(&Viewer::User, &thread("main"), newest.clone()).await.unwrap();
    run(&session, add("main", vec![message(1_000), message(1_001)])).await;
    store.since();
    let page = session.messages(&Viewer::User, &thread("main"), newest).await.unwrap();
    assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "one look whether somebody else has written");
    assert_eq!(page.messages.last().unwrap().timestamp, message(1_001).timestamp.unwrap());
}

#[tokio::test]
async fn i11_a_list_is_one_call_and_two_more_for_each_session_that_has_changed() {
    for messages in [2, 400] {
        let inner = memory(&clock());
        let board = Board::new(inner.clone(), Settings { snapshot_every: 100, ..settings(&clock()) });
        for name in ["a", "b", "c"] {
            let session = board.create(new(name)).await.unwrap();
            run(&session, add("main", (0..messages).map(message).collect())).await;
        }
        board.close().await;
        let snapshot = inner.snapshot(&id("a"), Seq(u64::MAX)).await.unwrap();
        assert_eq!(snapshot.is_some(), messages > 100);
        let store = Counting::new(inner);
        let board = Board::new(store.clone(), settings(&clock()));
        let list = async || board.recent_sessions(None, 9, |_| true).await.unwrap();
        let infos = list().await;
        assert!(
            infos.len() == 3 && infos.iter().all(|info| info.last.as_ref().map(|last| last.seq) == Some(info.head))
        );
        assert_eq!(store.since().calls, 1 + 2 * 3, "with {messages} messages");
        list().await;
        assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "nothing has changed");
        run(&board.session(&id("b")).await.unwrap(), add("main", vec![message(1)])).await;
        store.since();
        let changed =
            list().await.iter().find(|info| info.id == id("b")).and_then(|info| Some(info.last.as_ref()?.seq));
        assert_eq!(changed, Some(infos[0].head.next()));
        assert_eq!(store.since().calls, 1 + 2, "one has changed");
    }
}
