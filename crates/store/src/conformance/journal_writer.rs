//! Writing entries in tests.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    entry::{Actor, Draft, Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{everything, session};
use crate::{Append, Error, JournalKind, Store};

/// Writes to one session and remembers its head.
#[derive(Clone)]
pub struct JournalWriter {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The session.
    pub session: SessionId,
    /// The head, as far as this writer knows.
    pub head: Head,
    /// The expiry that the next append sets.
    pub expires_at: Option<Timestamp>,
}

impl JournalWriter {
    /// A writer for a session that does not exist yet.
    pub fn new(store: &Arc<dyn Store>, id: &str) -> Self {
        Self { store: store.clone(), session: session(id), head: Head::default(), expires_at: None }
    }

    /// Creates a session with one entry for each word of `text`.
    pub async fn with(store: &Arc<dyn Store>, id: &str, text: &str) -> Self {
        let mut journal = Self::new(store, id);
        journal.write(text.split_whitespace().map(note)).await;
        journal
    }

    /// Creates a session with something of everything: the key `k`, a large value and a snapshot.
    pub async fn furnished(store: &Arc<dyn Store>, id: &str, expires_at: Option<Timestamp>) -> Self {
        let mut journal = Self { expires_at, ..Self::new(store, id) };
        let mut batch = journal.batch([claiming(&["k"])]);
        batch.values = vec![(Hash::of(b"large"), "large".into())];
        journal.append(batch).await.unwrap();
        store.put_snapshot(&journal.session, journal.head, Arc::from(*b"state")).await.unwrap();
        assert_eq!(journal.texts().await, ["claims"], "a new one starts empty");
        journal
    }

    /// Whether a furnished session has its entry, its key, its value and its snapshot.
    pub async fn has(&self) -> [bool; 4] {
        let Self { store, session, .. } = self;
        let entry = self.texts().await.contains(&"claims".to_owned());
        let key = store.find(session, "k").await.unwrap();
        let value = store.value(session, Hash::of(b"large")).await.unwrap();
        let snapshot = store.snapshot(session, Seq(u64::MAX)).await.unwrap();
        [entry, key.is_some(), value.is_some(), snapshot.is_some()]
    }

    /// A batch that appends `drafts` at the head.
    pub fn batch(&self, drafts: impl IntoIterator<Item = Draft>) -> Append {
        let mut head = self.head;
        let seal = |draft| {
            let at = super::seconds(1_700_000_000);
            let entry = Entry::seal(head, at, Actor::User, None, draft);
            head = entry.head();
            entry
        };
        let entries = drafts.into_iter().map(seal).collect();
        let batch = Append::of(self.session.clone(), JournalKind::Session, self.head, entries);
        Append { expires_at: self.expires_at, ..batch }
    }

    /// Appends a batch, and moves the head to its end.
    pub async fn append(&mut self, batch: Append) -> Result<Vec<Entry>, Error> {
        let entries = batch.entries.clone();
        self.store.append(batch).await?;
        self.head = entries.last().unwrap().head();
        Ok(entries)
    }

    /// Tries to append `drafts`.
    pub async fn try_write(&mut self, drafts: impl IntoIterator<Item = Draft>) -> Result<Vec<Entry>, Error> {
        self.append(self.batch(drafts)).await
    }

    /// Appends `drafts`.
    pub async fn write(&mut self, drafts: impl IntoIterator<Item = Draft>) -> Vec<Entry> {
        self.try_write(drafts).await.unwrap()
    }

    /// All entries.
    pub async fn read(&self) -> Vec<Entry> {
        self.store.read(&self.session, everything()).await.unwrap()
    }

    /// The texts of all entries.
    pub async fn texts(&self) -> Vec<String> {
        self.read().await.iter().map(|entry| entry.data.to_string()).collect()
    }
}

/// An entry that says `text` in the main thread.
pub fn note(text: &str) -> Draft {
    about("thread:main", text)
}

/// An entry that says `text` about `subject`.
pub fn about(subject: &str, text: &str) -> Draft {
    Draft {
        v: 1,
        kind: "note.made".into(),
        subject: subject.into(),
        audience: Audience::All,
        time: None,
        keys: vec![],
        data: text.into(),
    }
}

/// An entry that claims `keys`.
pub fn claiming(keys: &[&str]) -> Draft {
    Draft { keys: keys.iter().map(|&key| key.into()).collect(), ..note("claims") }
}
