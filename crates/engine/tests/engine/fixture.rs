//! What the tests need of boards, sessions and stores.

use std::{
    future::Future,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callboard_engine::{
    Board, Error, Filter, JournalQuery, NewBoardSession, Random, RecallSettings, Receipt, Session, Settings,
    core::{
        audience::Audience,
        command::Command,
        context_set::PutSet,
        conversation::{AddMessages, NewMessage, Role},
        entry::{Entry, Head},
        id::{CollectionName, Seq, SessionId, ThreadId},
        rewriting::{ErasedEntry, ErasureCheck},
        session::SessionPatch,
        state::State,
        time::Timestamp,
        view::Projected,
        viewer::Viewer,
    },
    store::{self, ManualClock, MemoryStore, Order, Query, Settings as StoreSettings, SqliteStore, Store},
};

/// Random numbers that are the same each time.
#[derive(Debug)]
pub(crate) struct Seeded(pub(crate) AtomicU64);

impl Random for Seeded {
    fn next(&self) -> u64 {
        let mut x = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

pub(crate) fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_millis(1_700_000_000_000).unwrap())
}

/// How long anything may take until a test is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings whose time stands still, and with which nothing is swept or read unless somebody asks, who waits until it is.
pub(crate) fn settings(clock: &ManualClock) -> Settings {
    static SEED: AtomicU64 = AtomicU64::new(7);
    let random = Arc::new(Seeded(AtomicU64::new(SEED.fetch_add(1, Ordering::SeqCst))));
    let recall = RecallSettings { quiet: None, patience: PATIENCE, ..RecallSettings::default() };
    Settings { clock: Arc::new(clock.clone()), random, sweep: None, recall, ..Settings::default() }
}

pub(crate) fn memory(clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(Arc::new(clock.clone())))
}

/// A folder with a file of SQLite, which goes at the end.
pub(crate) struct File(tempfile::TempDir);

impl File {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.0.path()
    }

    pub(crate) fn open(&self, clock: &ManualClock) -> Arc<dyn Store> {
        let settings = StoreSettings { clock: Arc::new(clock.clone()), ..StoreSettings::default() };
        let path: PathBuf = self.0.path().join("callboard.db");
        Arc::new(SqliteStore::open(path, settings).unwrap())
    }
}

/// The store at a URL.
pub(crate) async fn opened(url: &str) -> Arc<dyn Store> {
    store::open(url, StoreSettings::default()).await.unwrap()
}

/// A board over `store` whose time stands still.
pub(crate) fn board(store: &Arc<dyn Store>) -> Board {
    Board::new(store.clone(), settings(&clock()))
}

/// A team of `lead`, `writer` and `editor`, under this name.
pub(crate) fn new(id: &str) -> NewBoardSession {
    let agents = r#"[{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"},
                     {"name": "editor", "role": "worker"}]"#;
    NewBoardSession { id: Some(self::id(id)), agents: serde_json::from_str(agents).unwrap(), ..Default::default() }
}

pub(crate) fn id(id: &str) -> SessionId {
    id.parse().unwrap()
}

pub(crate) fn handbook() -> CollectionName {
    "handbook".parse().unwrap()
}

pub(crate) fn thread(name: &str) -> ThreadId {
    name.parse().unwrap()
}

pub(crate) fn agent(name: &str) -> Viewer {
    Viewer::Agent(name.parse().unwrap())
}

/// A session `s` over a store in memory.
pub(crate) async fn session() -> Session {
    board(&memory(&clock())).create(new("s")).await.unwrap()
}

pub(crate) fn text(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

pub(crate) fn with_id(id: &str, text: &str) -> NewMessage {
    NewMessage { message_id: Some(id.parse().unwrap()), ..self::text(text) }
}

pub(crate) fn add(thread: &str, messages: Vec<NewMessage>) -> AddMessages {
    AddMessages { thread: self::thread(thread), messages }
}

pub(crate) fn put(name: &str, content: &str) -> PutSet {
    PutSet::new(name.parse().unwrap(), content)
}

pub(crate) fn put_for(name: &str, content: &str, agents: &[&str]) -> PutSet {
    let agents = agents.iter().map(|name| name.parse().unwrap());
    PutSet::new(name.parse().unwrap(), content).for_agents(agents)
}

pub(crate) fn only(agents: &[&str]) -> Audience {
    Audience::of(agents.iter().map(|name| name.parse().unwrap()))
}

pub(crate) async fn run<C: Command>(session: &Session, command: C) -> Receipt<C::Answer> {
    session.execute(Viewer::User, command).await.unwrap()
}

pub(crate) async fn say(session: &Session, words: &str) -> Seq {
    session.say(Viewer::User, &ThreadId::main(), text(words)).await.unwrap()
}

/// All entries of a session, as the store has them.
pub(crate) async fn journal(store: &Arc<dyn Store>, session: &SessionId) -> Vec<Entry> {
    store.read(session, Query::all(Seq(1)..Seq(u64::MAX), Order::Forward, usize::MAX)).await.unwrap()
}

/// The entries after `after` that `viewer` may see, at most `limit`, and the head; only those of `types`, if there are any.
pub(crate) async fn seen(
    session: &Session,
    viewer: &Viewer,
    after: Seq,
    limit: usize,
    types: &[Arc<str>],
) -> Result<(Vec<Projected>, Seq), Error> {
    let filter = Filter { types: types.to_vec(), ..Filter::default() };
    let (before, order, seen_by, saying, sentences) = (None, Order::Forward, None, None, false);
    let mut query = JournalQuery { after, before, order, limit, filter, seen_by, saying, sentences };
    let mut page = session.journal_page(viewer, &query).await?;
    while let Some(next) = page.next.filter(|_| page.entries.len() < limit) {
        (query.after, query.limit) = (next, limit - page.entries.len());
        let more = session.journal_page(viewer, &query).await?;
        page.entries.extend(more.entries);
        page.next = more.next;
    }
    Ok((page.entries, page.head))
}

/// The user erases the words of an entry.
pub(crate) async fn erase(session: &Session, seq: Seq, reason: &str) -> Result<Receipt<ErasedEntry>, Error> {
    session.execute(Viewer::User, session.erasure(seq, reason).await?).await
}

/// The texts of all messages, as the store has them.
pub(crate) async fn texts(store: &Arc<dyn Store>, session: &SessionId) -> Vec<String> {
    let messages = journal(store, session).await;
    let messages = messages.iter().filter(|entry| &*entry.header.kind == "message.added");
    messages
        .map(|entry| {
            let data: serde_json::Value = serde_json::from_str(&entry.data).unwrap();
            data["content"].as_str().unwrap_or_default().to_owned()
        })
        .collect()
}

/// Whether a value stands anywhere in the journal of a session.
pub(crate) async fn holds(store: &Arc<dyn Store>, session: &str, value: &str) -> bool {
    let entries = journal(store, &id(session)).await;
    let headers = entries.iter().any(|entry| format!("{:?}", entry.header).contains(value));
    headers || entries.iter().any(|entry| entry.data.contains(value))
}

/// The lines of an export.
pub(crate) async fn exported(session: &Session) -> String {
    let (mut export, mut lines) = (session.export().await.unwrap(), String::new());
    while let Some(more) = export.next().await.unwrap() {
        lines.push_str(&more);
    }
    lines
}

/// The journal is without a gap, each entry follows on the one before, and the session knows exactly what it folds to.
pub(crate) async fn assert_sound(session: &Session) -> Vec<Entry> {
    let store = session_store(session).await;
    let (mut head, mut erasures) = (Head::default(), ErasureCheck::default());
    for entry in &store {
        assert_eq!(entry.header.seq, head.seq.next());
        assert_eq!(entry.tag, head.tag.chain(&entry.header, &entry.data_hash()), "entry {}", entry.header.seq);
        erasures.take(entry).unwrap();
        head = entry.head();
    }
    assert_eq!(*session.state().await.unwrap(), State::fold(&store).unwrap());
    store
}

async fn session_store(session: &Session) -> Vec<Entry> {
    let mut entries = Vec::new();
    for seq in 1..=session.state().await.unwrap().head.seq.0 {
        entries.push(session.entry(Seq(seq)).await.unwrap().unwrap());
    }
    entries
}

/// What a future comes to, which it must soon.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Lets others run for a moment, between two looks at something that is waited for.
pub(crate) async fn moment() {
    // clock: a pause that stands for nothing, only lets others run
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// Executes a command again and again while others are faster.
pub(crate) async fn insist<C: Command + Clone>(session: &Session, command: C) -> Receipt<C::Answer> {
    loop {
        match session.execute(Viewer::User, command.clone()).await {
            Ok(receipt) => return receipt,
            Err(Error::Busy { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn code<T>(answer: Result<T, Error>) -> &'static str {
    answer.err().map_or("ok", |error| error.code())
}

/// A change of the session, written as JSON.
pub(crate) fn patch(fields: serde_json::Value) -> SessionPatch {
    serde_json::from_value(fields).unwrap()
}
