//! Live sessions: what is durable, published for all who read, and the queue of those who write.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

use callboard_core::{
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
    time::Timestamp,
};
use callboard_store::{Row, Store};
use futures::FutureExt as _;
use tokio::{
    sync::{Notify, Semaphore, broadcast, oneshot, watch},
    task::JoinHandle,
};

use crate::{
    Error, Settings,
    expiry::{self, Activity},
    job::{End, Ephemeral, Job, Published},
    journal::{PAGE, follows, read},
    publication::Publication,
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
    /// Tells the entries that are decided here from those of anybody else.
    pub(crate) nonce: Option<u32>,
    /// Told where a run begins or goes on here.
    pub(crate) begun: Arc<Notify>,
    /// There once somebody listens: it takes more room than all the rest.
    ephemeral: OnceLock<broadcast::Sender<Ephemeral>>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) published: Publication<Published>,
    pub(crate) recent: Recent,
    pub(crate) activity: Activity,
    /// Room in the queue.
    room: Semaphore,
    work: Mutex<Work>,
}

/// What is to be done in a session, and who does it. A session in which nothing happens has no task.
pub(crate) struct Work {
    pub(crate) waiting: VecDeque<Job>,
    /// Whether there is a task that does it.
    pub(crate) is_under_way: bool,
    /// The task that sees to it that the use by those who listen is noted; each one has another number.
    noting: Option<u64>,
    /// The entry that the newest snapshot is of, as far as is known here.
    pub(crate) snapshot: Seq,
    /// The snapshot that is being written.
    pub(crate) writing: Option<JoinHandle<()>>,
}

impl Live {
    /// A session whose durable state was just read. Its last use was noted at `used`.
    pub(crate) fn new(
        id: SessionId,
        store: Arc<dyn Store>,
        settings: Arc<Settings>,
        begun: Arc<Notify>,
        loaded: Loaded,
        used: Timestamp,
    ) -> Arc<Self> {
        let Loaded { state, snapshot } = loaded;
        let (waiting, is_under_way, noting, writing) = Default::default();
        Arc::new(Self {
            id,
            store,
            prompts: settings.prompt_memory.of_session(),
            nonce: settings.nonce(),
            begun,
            ephemeral: OnceLock::new(),
            settings,
            published: Publication::new(Ok(Arc::new(state))),
            recent: Recent::default(),
            activity: Activity::at(used),
            room: Semaphore::new(QUEUE),
            work: Mutex::new(Work { waiting, is_under_way, noting, snapshot, writing }),
        })
    }

    /// Waits for its turn in the queue of the session.
    pub(crate) async fn ask<T>(
        self: &Arc<Self>,
        job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        // The semaphore is never closed.
        self.room.acquire().await.map_err(|_| Error::Closed)?.forget();
        if let Some(writer) = self.put(job(answer)) {
            let mut work = Box::pin(writer.run());
            // What can be done without waiting is done here: to wake a task and be woken by it takes longer. What has to wait
            // goes on in a task, whether or not whoever asked is still interested.
            if (&mut work).now_or_never().is_none() {
                tokio::spawn(work);
            }
        }
        answered.await.map_err(|_| self.known().err().unwrap_or(Error::Closed))?
    }

    /// Puts something into the queue. Where nobody does what waits there, whoever gets the writer has to.
    fn put(self: &Arc<Self>, job: Job) -> Option<Writer> {
        let mut work = self.work();
        work.waiting.push_back(job);
        let is_idle = !std::mem::replace(&mut work.is_under_way, true);
        is_idle.then(|| Writer(self.clone()))
    }

    pub(crate) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes from the queue what can be done together; nothing where there is nothing left to do.
    pub(crate) fn take(&self, most: usize) -> Vec<Job> {
        let mut work = self.work();
        let jobs: Vec<_> = {
            let many = work.waiting.len().min(most);
            work.waiting.drain(..many).collect()
        };
        work.is_under_way = !jobs.is_empty();
        drop(work);
        self.free(&jobs);
        jobs
    }

    /// Frees the room that `jobs` had in the queue; what nobody asked for had none.
    pub(crate) fn free(&self, jobs: &[Job]) {
        self.room.add_permits(jobs.iter().filter(|job| !matches!(job, Job::NoteUse)).count());
    }

    /// The state as it is in the store now, also where somebody else wrote it. It counts as a use of the session.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Arc<State>, Error> {
        let before = self.known()?;
        let interval = expiry::interval(before.session.settings.ttl_seconds);
        if self.activity.is_due(self.settings.clock.now(), interval) {
            let now = self.store.now().await?;
            match self.store.touch(&self.id, expiry::lives_until(&before, now)).await {
                Ok(row) => {
                    let state = self.caught_up(&before, row).await?;
                    self.touch_anew(&before, &state, now).await;
                    return Ok(state);
                }
                // What can be read can be read while nothing can be written.
                Err(error) => tracing::warn!(session = %self.id, %error, "a use of the session could not be noted"),
            }
        }
        let row = self.store.row(&self.id).await?;
        self.caught_up(&before, row).await
    }

    /// Notes a use at `now` once more, where what was not known `before` lets the session live for another time.
    async fn touch_anew(&self, before: &State, state: &State, now: Timestamp) {
        let until = expiry::lives_until(state, now);
        if until != expiry::lives_until(before, now)
            && let Err(error) = self.store.touch(&self.id, until).await
        {
            tracing::warn!(session = %self.id, %error, "a use of the session could not be noted");
        }
    }

    /// The state as it is in the store now, for Callboard's own ends: it counts as no use.
    pub(crate) async fn refresh(self: &Arc<Self>) -> Result<Arc<State>, Error> {
        let before = self.known()?;
        let row = self.store.row(&self.id).await?;
        self.caught_up(&before, row).await
    }

    /// The state as of `row` or later, where `before` was published before the row was read.
    async fn caught_up(self: &Arc<Self>, before: &State, row: Option<Row>) -> Result<Arc<State>, Error> {
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
        self.published.get().map_err(|end| self.error(end))
    }

    /// The states that are published from now on. Whoever has them uses the session.
    pub(crate) fn published(self: &Arc<Self>) -> watch::Receiver<Published> {
        let published = self.published.listen();
        let mut work = self.work();
        if work.noting.is_none() {
            self.note_uses(&mut work, 0);
        }
        drop(work);
        published
    }

    /// Has the use by those who listen noted in another rhythm, now that the session lives for another time.
    pub(crate) fn note_uses_anew(self: &Arc<Self>) {
        let mut work = self.work();
        if let Some(number) = work.noting {
            self.note_uses(&mut work, number.wrapping_add(1));
        }
    }

    fn note_uses(self: &Arc<Self>, work: &mut Work, number: u64) {
        work.noting = Some(number);
        let ttl = self.known().map(|state| state.session.settings.ttl_seconds).unwrap_or_default();
        tokio::spawn(note_uses(Arc::downgrade(self), number, expiry::interval(ttl)));
    }

    /// Has the use by those who listen noted, where `number` is still to see to it.
    fn note_use(self: &Arc<Self>, number: u64) -> bool {
        let mut work = self.work();
        if work.noting != Some(number) {
            return false;
        }
        if !self.has_listeners() || self.known().is_err() {
            work.noting = None;
            return false;
        }
        drop(work);
        if let Some(writer) = self.put(Job::NoteUse) {
            tokio::spawn(writer.run());
        }
        true
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
        self.published.has_listeners()
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

/// Sees to it that the use by those who listen is noted now and then, as long as there are any.
async fn note_uses(live: Weak<Live>, number: u64, interval: std::time::Duration) {
    loop {
        tokio::time::sleep(interval).await;
        if !live.upgrade().is_some_and(|live| live.note_use(number)) {
            return;
        }
    }
}
