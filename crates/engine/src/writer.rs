//! The task of a live session: it takes what is asked in order, and alone changes what is published.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
};
use callboard_store::Store;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    Error, Settings,
    expiry::{self, Activity},
    job::{End, Execute, Job, Published},
    journal::{PAGE, follows, read},
    recent::Recent,
    snapshot,
};

/// How many commands are decided together at most.
const BATCH: usize = 256;

/// The task of a session.
pub(crate) struct Writer {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: Settings,
    pub(crate) published: watch::Sender<Published>,
    pub(crate) recent: Arc<Recent>,
    pub(crate) activity: Arc<Activity>,
    /// The entry that the newest snapshot is of, as far as this task knows.
    pub(crate) snapshot: Seq,
    /// The snapshot that is being written.
    pub(crate) writing: Option<JoinHandle<()>>,
}

/// Jobs that were taken from the queue together, by what they ask for.
#[derive(Default)]
struct Taken {
    commands: Vec<Execute>,
    catch_ups: Vec<oneshot::Sender<Result<(), Error>>>,
    closes: Vec<oneshot::Sender<Result<(), Error>>>,
}

impl Writer {
    /// Takes what is asked in order, until nobody is left who could ask, or the session has ended.
    pub(crate) async fn run(mut self, mut waiting: mpsc::Receiver<Job>) {
        let mut jobs = Vec::new();
        let mut interval = self.interval();
        let mut noting = std::pin::pin!(tokio::time::sleep(interval));
        while self.published.borrow().is_ok() {
            tokio::select! {
                biased;
                () = &mut noting => {
                    Box::pin(self.note_use()).await;
                    noting.as_mut().reset(Instant::now() + interval);
                }
                taken = waiting.recv_many(&mut jobs, BATCH) => match taken {
                    0 => break,
                    // Boxed, since most sessions are idle: so the task takes no room for what it does not do.
                    _ => Box::pin(self.take(&mut jobs)).await,
                },
            }
            if interval != self.interval() {
                interval = self.interval();
                noting.as_mut().reset(Instant::now() + interval);
            }
        }
        self.finish_snapshot().await;
    }

    async fn take(&mut self, jobs: &mut Vec<Job>) {
        let mut taken = Taken::default();
        for job in jobs.drain(..) {
            match job {
                Job::Execute(job) => taken.commands.push(*job),
                Job::CatchUp(answer) => taken.catch_ups.push(answer),
                Job::Close(answer) => taken.closes.push(answer),
            }
        }
        // Who reads need not wait for those who write: what they asked for is what is durable now.
        if !taken.catch_ups.is_empty() {
            let caught_up = self.catch_up().await;
            taken.catch_ups.into_iter().for_each(|answer| drop(answer.send(caught_up.clone())));
        }
        if !taken.commands.is_empty() {
            self.execute(taken.commands).await;
        }
        if !taken.closes.is_empty() {
            self.end(End::Closed);
            self.finish_snapshot().await;
            taken.closes.into_iter().for_each(|answer| drop(answer.send(Ok(()))));
        }
    }

    /// How often the use by streams is noted.
    fn interval(&self) -> std::time::Duration {
        let ttl = self.state().map(|state| state.session.settings.ttl_seconds).unwrap_or_default();
        expiry::interval(ttl)
    }

    /// Notes that the session is in use where somebody waits for what happens in it: a stream, or the driver of a run.
    async fn note_use(&mut self) {
        let Ok(state) = self.state() else { return };
        if self.published.receiver_count() == 0 || !self.activity.is_due(self.settings.clock.now(), self.interval()) {
            return;
        }
        let touched = match self.store.now().await {
            Ok(now) => self.store.touch(&self.id, expiry::lives_until(&state, now)).await,
            Err(error) => Err(error),
        };
        match touched {
            Ok(Some(_)) => {}
            Ok(None) => self.end(End::Gone),
            Err(error) => tracing::warn!(session = %self.id, %error, "a use of the session could not be noted"),
        }
    }

    /// The state that the next command is decided on.
    pub(crate) fn state(&self) -> Result<Arc<State>, Error> {
        self.published.borrow().clone().map_err(|end| match end {
            End::Gone => self.gone(),
            End::Closed => Error::Closed,
        })
    }

    pub(crate) fn gone(&self) -> Error {
        Error::NoSession { session: self.id.clone() }
    }

    /// Publishes what has become durable.
    pub(crate) fn publish(&mut self, entries: Vec<Entry>, state: State) {
        // The entries first: who sees the state finds them.
        self.recent.push(entries);
        let state = Arc::new(state);
        drop(self.published.send_replace(Ok(state.clone())));
        self.write_snapshot(&state);
    }

    /// Publishes that there is nothing more to come.
    pub(crate) fn end(&mut self, end: End) {
        drop(self.published.send_replace(Err(end)));
    }

    /// Reads what others appended. Where the journal is not the one that was read before, the session has ended.
    pub(crate) async fn catch_up(&mut self) -> Result<(), Error> {
        let known = self.state()?;
        let Some(row) = self.store.row(&self.id).await? else {
            self.end(End::Gone);
            return Err(self.gone());
        };
        let mut state = State::clone(&known);
        let mut fresh = Vec::new();
        while state.head.seq < row.head.seq {
            let page = read(&*self.store, &self.id, state.head.seq, row.head.seq, PAGE).await?;
            if !page.first().is_some_and(|first| follows(state.head, first)) {
                break;
            }
            for entry in page {
                state.apply(&entry)?;
                fresh.push(entry);
            }
        }
        if state.head != row.head {
            tracing::warn!(session = %self.id, "the journal was replaced: the session has to be opened anew");
            self.end(End::Gone);
            return Err(self.gone());
        }
        if !fresh.is_empty() {
            self.publish(fresh, state);
        }
        Ok(())
    }

    /// Writes a snapshot of `state` where the last one is long ago, without waiting for it. One is written at a time.
    fn write_snapshot(&mut self, state: &Arc<State>) {
        let Head { seq, .. } = state.head;
        let is_busy = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if is_busy || seq.0.saturating_sub(self.snapshot.0) < self.settings.snapshot_every.max(1) {
            return;
        }
        self.snapshot = seq;
        self.writing = Some(tokio::spawn(snapshot::write(self.store.clone(), self.id.clone(), state.clone())));
    }

    async fn finish_snapshot(&mut self) {
        if let Some(writing) = self.writing.take() {
            // It only saves time: the journal has everything.
            let _ = writing.await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // However the task ends: nobody waits for what it will never publish.
        self.published.send_if_modified(|published| {
            let lives = published.is_ok();
            if lives {
                *published = Err(End::Closed);
            }
            lives
        });
    }
}
