//! The indices of a board: one for each session, in a file and in memory. All that reads or writes them is off the runtime.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use callboard_core::id::SessionId;
use callboard_recall::{Error as IndexError, Index, Indexes, VectorFile};
use callboard_store::Store;
use tokio::sync::Mutex as AsyncMutex;

use super::{readings::Readings, settings::RecallSettings, vectors::Vectors};
use crate::{
    blocking::off_runtime,
    error::Error,
    lock::{OpenedOnce, lock},
};

/// The indices of a board.
pub(crate) struct Indices {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: RecallSettings,
    /// The vectors of their passages.
    pub(crate) vectors: Arc<Vectors>,
    all: OpenedOnce<Indexes>,
    /// What is read on while questions wait.
    pub(crate) readings: Arc<Readings>,
    /// Locks of journals that are read on.
    locks: Mutex<HashMap<SessionId, Arc<AsyncMutex<()>>>>,
}

/// With so many locks, those that nobody has are dropped.
const LOCKS: usize = 1024;

impl Indices {
    pub(crate) fn new(store: Arc<dyn Store>, settings: RecallSettings) -> Self {
        let (all, readings, locks) = Default::default();
        let vectors = Arc::new(Vectors::new(settings.embedder.clone(), settings.file.as_deref()));
        Self { store, settings, vectors, all, readings, locks }
    }

    /// Does something with all indices. Their file is opened when it is first needed; where that fails, they are in memory
    /// alone.
    async fn with_all<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Indexes) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, Error> {
        let this = self.clone();
        off_runtime(move || Ok(work(&*this.all()?)?)).await?
    }

    fn all(&self) -> Result<Arc<Indexes>, IndexError> {
        let (path, memory) = (self.settings.file.as_deref(), self.settings.memory_bytes);
        self.all.get_or_open(|| {
            Indexes::open(path, memory).or_else(|error| {
                tracing::warn!(?path, %error, "the file of recall cannot be used: its indices are in memory alone");
                Indexes::open(None, memory)
            })
        })
    }

    /// Does something with the index of a session, as far as that is.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        id: &SessionId,
        work: impl FnOnce(&mut Index) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.with_shared(id, move |index| work(&mut lock(index))).await
    }

    /// The same, where others use the index meanwhile whenever it is not locked.
    pub(crate) async fn with_shared<T: Send + 'static>(
        self: &Arc<Self>,
        id: &SessionId,
        work: impl FnOnce(&Mutex<Index>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let name = self.name(id);
        self.with_all(move |all| Ok(work(&*all.of(&name)?))).await?
    }

    /// Does something with the indices of several journals, which stand as they are meanwhile.
    pub(crate) async fn with_each<T: Send + 'static>(
        self: &Arc<Self>,
        ids: &[SessionId],
        work: impl FnOnce(&[&Index]) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let names: Vec<String> = ids.iter().map(|id| self.name(id)).collect();
        self.with_all(move |all| {
            let indices = names.iter().map(|name| all.of(name)).collect::<Result<Vec<_>, _>>()?;
            let mut order: Vec<_> = names.iter().zip(&indices).enumerate().collect();
            // All lock them in one order, so nobody waits for one that waits for it.
            order.sort_by_key(|(_, (name, _))| *name);
            let mut locked: Vec<_> = order.into_iter().map(|(at, (_, index))| (at, lock(index))).collect();
            locked.sort_by_key(|(at, _)| *at);
            Ok(work(&locked.iter().map(|(_, index)| &**index).collect::<Vec<_>>()))
        })
        .await?
    }

    /// Writes what is new in an index to the file. Where that fails, it is read from the journal again later.
    pub(crate) async fn save(self: &Arc<Self>, id: &SessionId, has_erased: bool) -> Result<(), Error> {
        let (name, session) = (self.name(id), id.clone());
        self.with_all(move |all| {
            let saved = if has_erased { all.save_erased(&name) } else { all.save(&name) };
            if let Err(error) = saved {
                tracing::warn!(%session, %error, "the index of a session could not be written");
            }
            Ok(())
        })
        .await
    }

    /// Drops all that was read of a journal, which is read anew.
    pub(crate) async fn forget(self: &Arc<Self>, id: &SessionId) -> Result<(), Error> {
        let (name, journal) = (self.name(id), self.name(id));
        self.vectors.with_file(move |file| file.remove(&journal)).await?;
        self.with_all(move |all| all.remove(&name)).await
    }

    /// Forgets all that was read of a journal that has gone.
    pub(crate) async fn remove(self: &Arc<Self>, id: &SessionId) {
        if !self.is_used() {
            return;
        }
        let lock = self.lock_of(id);
        // Whoever reads it on would write it again.
        let _guard = lock.lock().await;
        if let Err(error) = self.forget(id).await {
            tracing::warn!(session = %id, %error, "the index of a session that has gone could not be removed");
        }
    }

    /// The sessions of which something was read.
    pub(crate) async fn sessions(self: &Arc<Self>) -> Vec<SessionId> {
        if !self.is_used() {
            return Vec::new();
        }
        let mut journals = self.with_all(Indexes::journals).await.unwrap_or_default();
        journals.extend(self.vectors.with_file(VectorFile::journals).await.unwrap_or_default());
        journals.sort_unstable();
        journals.dedup();
        let id = |name: &String| name.strip_prefix(&*self.settings.store)?.strip_prefix('/')?.parse().ok();
        journals.iter().filter_map(id).collect()
    }

    /// The lock of those who read a journal on.
    pub(crate) fn lock_of(&self, id: &SessionId) -> Arc<AsyncMutex<()>> {
        let mut locks = lock(&self.locks);
        if locks.len() > LOCKS {
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        locks.entry(id.clone()).or_default().clone()
    }

    /// Whether there can be anything that was ever read of a journal.
    fn is_used(&self) -> bool {
        self.all.is_open() || self.settings.file.as_ref().is_some_and(|path| path.exists())
    }

    /// What the index of a session is called.
    pub(crate) fn name(&self, id: &SessionId) -> String {
        format!("{}/{id}", self.settings.store)
    }
}
