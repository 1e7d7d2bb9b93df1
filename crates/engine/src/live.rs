//! Live sessions: one task owns the state of a session, takes what is asked of it in order, and publishes what is
//! durable.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use callboard_core::{
    command::{Answer, Command},
    entry::{Actor, Entry, Head},
    id::{AgentName, RunId, Seq, SessionId},
    state::State,
};
use callboard_store::Store;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{Error, Settings, session::read};

/// How many commands may wait for their turn in one session.
const QUEUE: usize = 1024;

/// How many entries are read at once.
pub(crate) const PAGE: usize = 512;

/// How many of the newest entries are kept for those who read on.
const RECENT: usize = 1024;

/// How many bytes of the newest entries are kept for those who read on.
const RECENT_BYTES: usize = 1024 * 1024;

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

/// What is asked of a live session.
pub(crate) enum Job {
    /// Decide a command and append what it leads to.
    Execute(Box<Execute>),
    /// Read what others appended.
    CatchUp(oneshot::Sender<Result<(), Error>>),
}

/// A command that waits for its turn.
pub(crate) struct Execute {
    pub(crate) by: Actor,
    pub(crate) command: Command,
    pub(crate) expected: Option<Seq>,
    pub(crate) answer: oneshot::Sender<Result<Receipt, Error>>,
}

/// A session in memory.
pub(crate) struct Live {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    /// What is durable; `None` once the session is gone.
    pub(crate) state: watch::Receiver<Option<Arc<State>>>,
    pub(crate) ephemeral: broadcast::Sender<Ephemeral>,
    recent: Arc<Recent>,
    jobs: mpsc::Sender<Job>,
}

impl Live {
    /// Starts the task of a session whose durable state is `state`.
    pub(crate) fn start(id: SessionId, store: Arc<dyn Store>, settings: Settings, state: State) -> Arc<Self> {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        let (published, state) = watch::channel(Some(Arc::new(state)));
        let recent = Arc::new(Recent::default());
        let writer = Writer {
            id: id.clone(),
            store: store.clone(),
            settings,
            published,
            recent: recent.clone(),
            snapshot: Seq::ZERO,
        };
        tokio::spawn(writer.run(waiting));
        Arc::new(Self { id, store, state, ephemeral: broadcast::channel(1024).0, recent, jobs })
    }

    /// Waits for its turn in the queue of the session.
    pub(crate) async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(job(answer)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())?
    }

    /// The state as it is in the store now, also where somebody else wrote it.
    pub(crate) async fn current(&self) -> Result<Arc<State>, Error> {
        let Some(row) = self.store.row(&self.id).await? else {
            let _ = self.ask(Job::CatchUp).await;
            return Err(self.gone());
        };
        if self.known()?.head != row.head {
            self.ask(Job::CatchUp).await?;
        }
        self.known()
    }

    /// The state that was published last.
    pub(crate) fn known(&self) -> Result<Arc<State>, Error> {
        self.state.borrow().clone().ok_or_else(|| self.gone())
    }

    /// The entries after `after` up to `through`, at most a page: from memory where they are there.
    pub(crate) async fn entries(&self, after: Seq, through: Seq) -> Result<Vec<Arc<Entry>>, Error> {
        if let Some(entries) = self.recent.after(after, through) {
            return Ok(entries);
        }
        let entries = read(&*self.store, &self.id, after, through, PAGE).await?;
        Ok(entries.into_iter().map(Arc::new).collect())
    }

    /// That there is no such session (any more).
    pub(crate) fn gone(&self) -> Error {
        Error::NoSession { session: self.id.clone() }
    }
}

/// The newest durable entries, without a gap.
#[derive(Default)]
struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

impl Recent {
    fn push(&self, entries: impl Iterator<Item = Entry>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            kept.bytes += entry.data.len();
            kept.entries.push_back(Arc::new(entry));
        }
        while kept.entries.len() > RECENT || kept.bytes > RECENT_BYTES {
            let Some(oldest) = kept.entries.pop_front() else { return };
            kept.bytes -= oldest.data.len();
        }
    }

    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    /// The entries after `after` up to `through`, where all of them are kept.
    fn after(&self, after: Seq, through: Seq) -> Option<Vec<Arc<Entry>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = kept.entries.front()?.header.seq;
        if after.next() < first {
            return None;
        }
        let wanted = kept.entries.iter().skip(usize::try_from(after.next().0 - first.0).ok()?);
        Some(wanted.take_while(|entry| entry.header.seq <= through).take(PAGE).cloned().collect())
    }
}

/// The task of a session: the only one that changes what is published.
pub(crate) struct Writer {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: Settings,
    published: watch::Sender<Option<Arc<State>>>,
    recent: Arc<Recent>,
    /// The entry that the newest snapshot was written for, by this task.
    pub(crate) snapshot: Seq,
}

/// How many commands are decided together at most.
const BATCH: usize = 256;

impl Writer {
    /// Takes what is asked in order, until nobody is left who could ask, or the session is gone.
    async fn run(mut self, mut waiting: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(BATCH);
        while waiting.recv_many(&mut jobs, BATCH).await > 0 {
            let mut commands = Vec::new();
            for job in jobs.drain(..) {
                match job {
                    Job::Execute(job) => commands.push(*job),
                    Job::CatchUp(answer) => {
                        let _ = answer.send(self.catch_up().await);
                    }
                }
            }
            if !commands.is_empty() {
                self.execute(commands).await;
            }
            if self.published.borrow().is_none() {
                return;
            }
        }
    }

    /// The state that the next command is decided on.
    pub(crate) fn state(&self) -> Result<Arc<State>, Error> {
        self.published.borrow().clone().ok_or_else(|| self.gone())
    }

    pub(crate) fn gone(&self) -> Error {
        Error::NoSession { session: self.id.clone() }
    }

    /// Publishes what has become durable.
    pub(crate) fn publish(&mut self, entries: Vec<Entry>, state: State) {
        self.recent.push(entries.into_iter());
        let state = Arc::new(state);
        self.published.send_replace(Some(state.clone()));
        self.write_snapshot(&state);
    }

    /// Publishes that the session is gone.
    pub(crate) fn close(&mut self) {
        self.recent.clear();
        self.published.send_replace(None);
    }

    /// Reads what others appended. Where the journal is not the one that was read before, it is read anew.
    pub(crate) async fn catch_up(&mut self) -> Result<(), Error> {
        let Some(row) = self.store.row(&self.id).await? else {
            self.close();
            return Err(self.gone());
        };
        let known = self.state()?;
        if row.head == known.head {
            return Ok(());
        }
        let mut state = State::clone(&known);
        let mut fresh = Vec::new();
        while state.head.seq < row.head.seq {
            let page = read(&*self.store, &self.id, state.head.seq, row.head.seq, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for entry in page {
                if !follows(state.head, &entry) {
                    return self.read_anew(row.head).await;
                }
                state.apply(&entry)?;
                fresh.push(entry);
            }
        }
        if state.head != row.head {
            return self.read_anew(row.head).await;
        }
        self.publish(fresh, state);
        Ok(())
    }

    /// Reads the journal from its start, since it is another one than before.
    async fn read_anew(&mut self, head: Head) -> Result<(), Error> {
        tracing::warn!(session = %self.id, %head.seq, "the journal was replaced; reading it anew");
        let state = crate::snapshot::load(&*self.store, &self.id, head.seq).await?;
        self.recent.clear();
        self.publish(Vec::new(), state);
        Ok(())
    }
}

/// Whether `entry` is the one after `head`, and its tag says so.
pub(crate) fn follows(head: Head, entry: &Entry) -> bool {
    let data = callboard_core::entry::Hash::of(entry.data.as_bytes());
    entry.header.seq == head.seq.next() && head.tag.chain(&entry.header, &data) == entry.tag
}
