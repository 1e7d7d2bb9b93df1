//! Live sessions: what is durable, published for all who read, and the queue of those who write.

use std::sync::Arc;

use callboard_core::{
    command::{Answer, Command},
    entry::{Actor, Entry, Head},
    id::{AgentName, RunId, Seq, SessionId},
    state::State,
    time::Timestamp,
};
use callboard_store::{Row, Store};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{
    Error, Settings,
    expiry::{self, Activity},
    recent::Recent,
    session::read,
    snapshot::Loaded,
    writer::Writer,
};

/// How many commands may wait for their turn in one session.
const QUEUE: usize = 1024;

/// How many events that are not kept wait for a listener that is slow.
const EPHEMERAL: usize = 1024;

/// How many entries are read at once.
pub(crate) const PAGE: usize = 512;

/// What an executed command is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The answer of the command.
    pub answer: Answer,
    /// The head of the session after it.
    pub head: Seq,
}

/// Something that happens and is not kept: it has no number and is not seen again.
#[derive(Clone, Debug, PartialEq)]
pub enum Ephemeral {
    /// A model said a piece of its answer.
    Delta {
        /// The run.
        run: RunId,
        /// The turn.
        turn: u64,
        /// Whose model it is.
        agent: AgentName,
        /// The piece.
        text: Arc<str>,
    },
}

/// What is asked of the task of a live session.
pub(crate) enum Job {
    /// Decide a command and append what it leads to.
    Execute(Box<Execute>),
    /// Read what others appended.
    CatchUp(oneshot::Sender<Result<(), Error>>),
    /// End, once what was asked before is answered.
    Close(oneshot::Sender<Result<(), Error>>),
}

/// A command that waits for its turn.
pub(crate) struct Execute {
    pub(crate) by: Actor,
    pub(crate) command: Command,
    pub(crate) expected: Option<Seq>,
    pub(crate) answer: oneshot::Sender<Result<Receipt, Error>>,
}

/// What is durable, or why there is nothing more to be known of it here.
pub(crate) type Published = Result<Arc<State>, End>;

/// Why a live session has ended. It never begins again: whoever wants the session opens it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The journal was deleted, has expired, or is another one than before.
    Gone,
    /// The board was closed.
    Closed,
}

/// A session in memory.
pub(crate) struct Live {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ephemeral: broadcast::Sender<Ephemeral>,
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
            ephemeral: broadcast::Sender::new(EPHEMERAL),
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

/// Whether `entry` is the one after `head`, and its tag says so.
pub(crate) fn follows(head: Head, entry: &Entry) -> bool {
    let data = callboard_core::entry::Hash::of(entry.data.as_bytes());
    entry.header.seq == head.seq.next() && head.tag.chain(&entry.header, &data) == entry.tag
}
