//! Live sessions: what is durable, published for all who read, and the queue of those who write.

use std::sync::{Arc, OnceLock};

use callboard_core::{
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
    time::Timestamp,
};
use callboard_store::{Row, Store};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{
    Error, Settings,
    expiry::{self, Activity},
    job::{End, Ephemeral, Job, Published},
    journal::{PAGE, follows, read},
    recent::Recent,
    remembered::SessionMemory,
    snapshot::Loaded,
    writer::Writer,
};

/// How many commands may wait for their turn in one session.
const QUEUE: usize = 1024;

/// How many events that are not kept wait for a listener that is slow.
const EPHEMERAL: usize = 1024;

/// A session in memory.
pub(crate) struct Live {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) prompts: SessionMemory,
    /// There once somebody listens: it takes more room than all the rest.
    ephemeral: OnceLock<broadcast::Sender<Ephemeral>>,
    settings: Settings,
    published: watch::Sender<Published>,
    recent: Arc<Recent>,
    activity: Arc<Activity>,
    jobs: mpsc::Sender<Job>,
}

impl Live {
    /// Starts the task of a session whose durable state was just read. Its last use was noted at `used`.
    pub(crate) fn start(
        id: SessionId,
        store: Arc<dyn Store>,
        settings: Settings,
        loaded: Loaded,
        used: Timestamp,
    ) -> Arc<Self> {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        let live = Self {
            id,
            store,
            prompts: settings.prompt_memory.of_session(),
            ephemeral: OnceLock::new(),
            settings,
            published: watch::Sender::new(Ok(Arc::new(loaded.state))),
            recent: Arc::default(),
            activity: Arc::new(Activity::at(used)),
            jobs,
        };
        tokio::spawn(live.writer(loaded.snapshot).run(waiting));
        Arc::new(live)
    }

    fn writer(&self, snapshot: Seq) -> Writer {
        Writer {
            id: self.id.clone(),
            store: self.store.clone(),
            settings: self.settings.clone(),
            published: self.published.clone(),
            recent: self.recent.clone(),
            activity: self.activity.clone(),
            snapshot,
            writing: None,
        }
    }

    /// Waits for its turn in the queue of the session.
    pub(crate) async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let ended = || self.known().err().unwrap_or(Error::Closed);
        self.jobs.send(job(answer)).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }

    /// The state as it is in the store now, also where somebody else wrote it. It counts as a use of the session.
    pub(crate) async fn current(&self) -> Result<Arc<State>, Error> {
        let before = self.known()?;
        let interval = expiry::interval(before.session.settings.ttl_seconds);
        if self.activity.is_due(self.settings.clock.now(), interval) {
            let until = expiry::lives_until(&before, self.store.now().await?);
            match self.store.touch(&self.id, until).await {
                Ok(row) => return self.caught_up(&before, row).await,
                // What can be read can be read while nothing can be written.
                Err(error) => tracing::warn!(session = %self.id, %error, "a use of the session could not be noted"),
            }
        }
        let row = self.store.row(&self.id).await?;
        self.caught_up(&before, row).await
    }

    /// The state as it is in the store now, for Callboard's own ends: it counts as no use.
    pub(crate) async fn refresh(&self) -> Result<Arc<State>, Error> {
        let before = self.known()?;
        let row = self.store.row(&self.id).await?;
        self.caught_up(&before, row).await
    }

    /// The state as of `row` or later, where `before` was published before the row was read.
    async fn caught_up(&self, before: &State, row: Option<Row>) -> Result<Arc<State>, Error> {
        let now = self.known()?;
        let is_known = row.is_some_and(|Row { head, .. }| {
            let between = before.head.seq < head.seq && head.seq < now.head.seq;
            head == before.head || head == now.head || between
        });
        if is_known {
            return Ok(now);
        }
        self.ask(Job::CatchUp).await?;
        self.known()
    }

    /// The state that was published last.
    pub(crate) fn known(&self) -> Result<Arc<State>, Error> {
        self.published.borrow().clone().map_err(|end| self.error(end))
    }

    /// The states that are published from now on.
    pub(crate) fn published(&self) -> watch::Receiver<Published> {
        self.published.subscribe()
    }

    /// Lets those who listen hear something that is not kept.
    pub(crate) fn tell(&self, event: Ephemeral) {
        if let Some(ephemeral) = self.ephemeral.get() {
            // Nobody may be listening any more.
            let _ = ephemeral.send(event);
        }
    }

    /// Hears what is not kept.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Ephemeral> {
        self.ephemeral.get_or_init(|| broadcast::Sender::new(EPHEMERAL)).subscribe()
    }

    /// Whether somebody waits for what happens.
    pub(crate) fn has_listeners(&self) -> bool {
        self.published.receiver_count() > 0
    }

    /// The entries after `after` up to `through`, at most a page: from memory where they are there. None where the
    /// journal is not the one any more in which `after` is.
    pub(crate) async fn entries(&self, after: Head, through: Seq) -> Result<Vec<Arc<Entry>>, Error> {
        if let Some(entries) = self.recent.after(after.seq, through) {
            return Ok(entries);
        }
        let entries = read(&*self.store, &self.id, after.seq, through, PAGE).await?;
        let goes_on = entries.first().is_some_and(|first| follows(after, first));
        Ok(if goes_on { entries.into_iter().map(Arc::new).collect() } else { Vec::new() })
    }

    /// All entries after `after` up to `through`, where they are in memory.
    pub(crate) fn newer(&self, after: Seq, through: Seq) -> Option<Vec<Arc<Entry>>> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut last = after;
        while last < through {
            entries.extend(self.recent.after(last, through)?);
            last = entries.last().map(|entry| entry.header.seq).filter(|seq| *seq > last)?;
        }
        Some(entries)
    }

    /// Makes sure that what was read after `state` was taken is of the same journal.
    pub(crate) async fn confirm(&self, state: &State) -> Result<(), Error> {
        let Head { seq, tag } = state.head;
        let is_it = match self.store.row(&self.id).await? {
            Some(row) if row.head == state.head => true,
            Some(_) => {
                let there = read(&*self.store, &self.id, seq.previous(), seq, 1).await?;
                there.first().is_some_and(|entry| entry.tag == tag)
            }
            None => false,
        };
        if is_it { Ok(()) } else { Err(self.gone()) }
    }

    /// That there is no such session (any more).
    pub(crate) fn gone(&self) -> Error {
        self.error(End::Gone)
    }

    pub(crate) fn error(&self, end: End) -> Error {
        match end {
            End::Gone => Error::NoSession { session: self.id.clone() },
            End::Closed => Error::Closed,
        }
    }
}
