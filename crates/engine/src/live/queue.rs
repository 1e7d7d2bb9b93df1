//! The queue of a live session: callers put jobs into it, and a caller that finds the session idle becomes the writer.

use std::sync::{Arc, Weak};

use callboard_core::{state::State, time::Timestamp};
use callboard_store::Row;
use futures::FutureExt as _;
use tokio::sync::{oneshot, watch};

use crate::{
    error::Error,
    live::{
        job::{Job, Published},
        session::{Jobs, Live},
        writer::Writer,
    },
    upkeep::expiry,
};

impl Live {
    /// Waits for its turn in the queue of the session.
    pub(crate) async fn ask<T>(
        self: &Arc<Self>,
        job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        // The semaphore is never closed.
        self.room.acquire().await.map_err(|_| Error::Closed)?.forget();
        if self.put(job(answer)) {
            let mut work = Box::pin(Writer(self.clone()).run());
            // Work that need not wait is done here, since waking a task and being woken by it takes longer. Work that has to
            // wait continues in a task, even if the caller stops waiting.
            if (&mut work).now_or_never().is_none() {
                tokio::spawn(self.settings.supervisor.once("session writer", work));
            }
        }
        answered.await.map_err(|_| self.known().err().unwrap_or(Error::Closed))?
    }

    /// Puts a job into the queue. If no writer is active, the caller has to run one.
    fn put(&self, job: Job) -> bool {
        let mut queue = self.jobs();
        queue.waiting.push_back(job);
        !std::mem::replace(&mut queue.is_under_way, true)
    }

    /// The current state in the store, whoever wrote it. This counts as a use of the session.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Arc<State>, Error> {
        Ok(self.current_with_row().await?.0)
    }

    /// The current state in the store, and the row of the session.
    pub(crate) async fn current_with_row(self: &Arc<Self>) -> Result<(Arc<State>, Row), Error> {
        let before = self.known()?;
        let interval = expiry::interval(before.session.settings.ttl_seconds);
        if self.activity.is_due(self.settings.clock.now(), interval) {
            let now = self.store.now().await?;
            match self.store.touch(&self.id, expiry::lives_until(&before, now)).await {
                Ok(row) => {
                    let state = self.caught_up(&before, row).await?;
                    self.touch_anew(&before, &state, now).await;
                    return Ok((state, row.ok_or_else(|| self.gone())?));
                }
                // Reading works even if the store cannot be written to.
                Err(error) => tracing::warn!(session = %self.id, %error, "a use of the session could not be noted"),
            }
        }
        let row = self.store.row(&self.id).await?;
        let state = self.caught_up(&before, row).await?;
        Ok((state, row.ok_or_else(|| self.gone())?))
    }

    /// Records the use at `now` again if the new state has another time to live.
    async fn touch_anew(&self, before: &State, state: &State, now: Timestamp) {
        let until = expiry::lives_until(state, now);
        if until != expiry::lives_until(before, now)
            && let Err(error) = self.store.touch(&self.id, until).await
        {
            tracing::warn!(session = %self.id, %error, "a use of the session could not be noted");
        }
    }

    /// The current state in the store. This does not count as a use, since Callboard itself asks.
    pub(crate) async fn refresh(self: &Arc<Self>) -> Result<Arc<State>, Error> {
        let before = self.known()?;
        let row = self.store.row(&self.id).await?;
        self.caught_up(&before, row).await
    }

    /// Reads what others appended, for listeners. Returns whether all of it is published. What is being appended here is not
    /// read again, since its writer publishes it soon.
    pub(crate) async fn follow(self: &Arc<Self>) -> Result<bool, Error> {
        let before = self.known()?;
        let row = self.store.row(&self.id).await?;
        let is_own = |row: Row| self.jobs().appending.as_deref() == Some(&row.head);
        if row.is_some_and(is_own) {
            return Ok(self.has_published_own());
        }
        self.caught_up(&before, row).await.map(|_| true)
    }

    /// Whether the last append from here is published.
    pub(crate) fn has_published_own(&self) -> bool {
        let appending = self.jobs().appending.as_ref().map(|head| head.seq);
        appending.is_some_and(|seq| self.known().is_ok_and(|known| seq <= known.head.seq))
    }

    /// The state as of `row` or later. `before` was published before the row was read.
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

    /// The states that are published from now on. Holding the receiver counts as using the session.
    pub(crate) fn published(self: &Arc<Self>) -> watch::Receiver<Published> {
        let published = self.published.listen();
        let mut queue = self.jobs();
        if queue.noting.is_none() {
            self.note_uses(&mut queue, 0);
        }
        drop(queue);
        published
    }

    /// Starts again to record the use by listeners, because the time to live has changed.
    pub(crate) fn note_uses_anew(self: &Arc<Self>) {
        let mut queue = self.jobs();
        if let Some(number) = queue.noting {
            self.note_uses(&mut queue, number.wrapping_add(1));
        }
    }

    fn note_uses(self: &Arc<Self>, queue: &mut Jobs, number: u64) {
        queue.noting = Some(number);
        let ttl = self.known().map(|state| state.session.settings.ttl_seconds).unwrap_or_default();
        let noting = note_uses(Arc::downgrade(self), number, expiry::interval(ttl));
        tokio::spawn(self.settings.supervisor.once("use of sessions", noting));
    }

    /// Whether the use by listeners is to be recorded, and this is still the job of the task `number`.
    fn has_to_note(&self, number: u64) -> bool {
        let mut queue = self.jobs();
        let is_noting = queue.noting == Some(number);
        let is_used = self.published.has_listeners() && self.known().is_ok();
        if is_noting && !is_used {
            queue.noting = None;
        }
        is_noting && is_used
    }
}

/// Records the use by listeners every `interval`, as long as there are any.
async fn note_uses(live: Weak<Live>, number: u64, interval: std::time::Duration) {
    loop {
        tokio::time::sleep(interval).await;
        let Some(live) = live.upgrade().filter(|live| live.has_to_note(number)) else { return };
        // Whether the session has gone, the next look tells.
        if let Err(error @ Error::Store { .. }) = live.current().await {
            tracing::warn!(session = %live.id, %error, "a use of the session could not be noted");
        }
    }
}
