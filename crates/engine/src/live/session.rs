//! A session in memory: its published durable state, and the queue of jobs.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock},
};

use callboard_core::{
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
    time::Timestamp,
};
use callboard_store::Store;
use tokio::{
    sync::{Notify, Semaphore, broadcast},
    task::JoinHandle,
};

use crate::{
    error::Error,
    journal::{self, PAGE, follows, read},
    live::{
        job::{EndReason, Ephemeral, Job, Published},
        message_cache::{MessageCache, SessionMessages},
        past::PastStates,
        publication::Publication,
        recent::Recent,
    },
    lock::lock,
    prompt_memory::SessionMemory,
    seal::{known::Known, said::SaidBytes},
    settings::Settings,
    upkeep::{expiry::Activity, snapshot::Loaded},
};

/// The most waiting commands of a session.
const QUEUE: usize = 1024;

/// A session in memory.
pub(crate) struct Live {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) prompts: SessionMemory,
    pub(crate) messages: SessionMessages,
    pub(crate) past: PastStates,
    /// A random number in the entries that are decided here, by which they differ from those of other writers.
    pub(crate) nonce: Option<u32>,
    /// Notifies when a run begins or continues here.
    pub(crate) begun: Arc<Notify>,
    /// Created by the first listener, since it takes more memory than the rest.
    pub(crate) ephemeral: OnceLock<broadcast::Sender<Ephemeral>>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) published: Publication<Published>,
    pub(crate) recent: Recent,
    pub(crate) activity: Activity,
    /// What is known of its secrets.
    pub(crate) secrets: Mutex<Arc<Known>>,
    /// What was said in it, once something became a secret.
    pub(crate) said: Mutex<Option<Box<SaidBytes>>>,
    /// Free places in the queue.
    pub(crate) room: Semaphore,
    jobs: Mutex<Jobs>,
}

/// The jobs of a session, and the state of its writer. An idle session has no task.
pub(crate) struct Jobs {
    pub(crate) waiting: VecDeque<Job>,
    /// Whether a writer is active.
    pub(crate) is_under_way: bool,
    /// The number of the task that records the use by listeners, if there is one.
    pub(crate) noting: Option<u64>,
    /// The head after the last append from here, unless it failed. It is published when the append is answered. Boxed, since
    /// most sessions in memory append nothing.
    pub(crate) appending: Option<Box<Head>>,
    /// The entry of the newest known snapshot.
    pub(crate) snapshot: Seq,
    /// The snapshot that is being written.
    pub(crate) writing: Option<JoinHandle<Option<()>>>,
}

impl Live {
    /// Creates a session from its durable state. Its last use was recorded at `used`.
    pub(crate) fn new(
        id: SessionId,
        store: Arc<dyn Store>,
        settings: Arc<Settings>,
        begun: Arc<Notify>,
        messages: &Arc<MessageCache>,
        loaded: Loaded,
        used: Timestamp,
    ) -> Arc<Self> {
        let Loaded { state, snapshot, newest: _ } = loaded;
        let (waiting, is_under_way, noting, appending, writing) = Default::default();
        Arc::new(Self {
            id,
            store,
            prompts: settings.prompt_memory.of_session(),
            messages: messages.of_session(),
            past: PastStates::default(),
            nonce: settings.nonce(),
            begun,
            ephemeral: OnceLock::new(),
            settings,
            published: Publication::new(Ok(Arc::new(state))),
            recent: Recent::default(),
            secrets: Mutex::default(),
            said: Mutex::default(),
            activity: Activity::at(used),
            room: Semaphore::new(QUEUE),
            jobs: Mutex::new(Jobs { waiting, is_under_way, noting, appending, snapshot, writing }),
        })
    }

    pub(crate) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        lock(&self.jobs)
    }

    /// Takes the next jobs, at most `most`. If there are none, the writer has to end.
    pub(crate) fn take(&self, most: usize) -> Vec<Job> {
        let mut queue = self.jobs();
        let jobs: Vec<_> = {
            let many = queue.waiting.len().min(most);
            queue.waiting.drain(..many).collect()
        };
        queue.is_under_way = !jobs.is_empty();
        drop(queue);
        self.room.add_permits(jobs.len());
        jobs
    }

    /// The published state.
    pub(crate) fn known(&self) -> Result<Arc<State>, Error> {
        self.published.get().map_err(|end| self.error(end))
    }

    /// Forgets all that was made of entries.
    pub(crate) fn forget_all(&self) {
        self.recent.forget();
        self.prompts.forget();
        self.messages.forget();
    }

    /// The entries after `after` up to `through`, at most a page, from memory if possible. There are none if the journal was
    /// replaced by another one.
    pub(crate) async fn entries(&self, after: Head, through: Seq) -> Result<Vec<Arc<Entry>>, Error> {
        if let Some(entries) = self.recent.after(after.seq, through) {
            return Ok(entries);
        }
        let entries = read(&*self.store, &self.id, after.seq, through, PAGE).await?;
        let goes_on = entries.first().is_some_and(|first| follows(after, first));
        Ok(if goes_on { entries.into_iter().map(Arc::new).collect() } else { Vec::new() })
    }

    /// All entries after `after` up to `through`, if they are in memory.
    pub(crate) fn newer(&self, after: Seq, through: Seq) -> Option<Vec<Arc<Entry>>> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut last = after;
        while last < through {
            entries.extend(self.recent.after(last, through)?);
            last = entries.last().map(|entry| entry.header.seq).filter(|seq| *seq > last)?;
        }
        Some(entries)
    }

    /// An error if the journal was replaced since `state` was read: then later reads do not belong to it.
    pub(crate) async fn confirm(&self, state: &State) -> Result<(), Error> {
        let Head { seq, tag } = state.head;
        let is_it = match self.store.row(&self.id).await? {
            Some(row) if row.head == state.head => true,
            Some(_) => journal::entry(&*self.store, &self.id, seq).await?.is_some_and(|entry| entry.tag == tag),
            None => false,
        };
        if is_it { Ok(()) } else { Err(self.gone()) }
    }

    /// The error that the session does not exist any more.
    pub(crate) fn gone(&self) -> Error {
        self.error(EndReason::Gone)
    }

    pub(crate) fn error(&self, end: EndReason) -> Error {
        match end {
            EndReason::Gone => Error::NoSession { session: self.id.clone() },
            EndReason::Closed => Error::Closed,
        }
    }
}
