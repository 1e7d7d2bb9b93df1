//! The writer of a session. There is at most one at a time. It does the jobs in order, and only it changes the published
//! state.

use std::{ops::Deref, sync::Arc};

use callboard_core::{
    entry::{Entry, Head},
    rewriting::is_changing,
    state::State,
};

use crate::{
    error::Error,
    journal::{PAGE, follows, read},
    live::{
        job::{EndReason, Job},
        session::Live,
    },
    upkeep::snapshot,
};

/// The most commands that are decided together.
const BATCH: usize = 256;

/// Does the jobs of a session as long as there are any.
pub(crate) struct Writer(pub(crate) Arc<Live>);

impl Deref for Writer {
    type Target = Arc<Live>;

    fn deref(&self) -> &Arc<Live> {
        &self.0
    }
}

impl Writer {
    /// Does the jobs in order until the queue is empty.
    pub(crate) async fn run(mut self) {
        let mut end = EndOnDrop(Some(self.0.clone()));
        loop {
            let jobs = self.0.take(BATCH);
            if jobs.is_empty() {
                end.is_in_order();
                return;
            }
            // Once the session has ended, jobs are dropped unanswered, which tells their callers.
            if self.known().is_ok() {
                self.take(jobs).await;
            }
        }
    }

    async fn take(&mut self, jobs: Vec<Job>) {
        let (mut commands, mut catch_ups, mut closes) = (Vec::new(), Vec::new(), Vec::new());
        for job in jobs {
            match job {
                Job::Execute(job) => commands.push(job),
                Job::CatchUp(answer) => catch_ups.push(answer),
                Job::Close(answer) => closes.push(answer),
            }
        }
        // Reads need not wait for writes: they get the state that is durable now.
        if !catch_ups.is_empty() {
            let caught_up = self.catch_up().await;
            catch_ups.into_iter().for_each(|answer| drop(answer.send(caught_up.clone())));
        }
        let mut commands = commands.into_iter().peekable();
        while let Some(first) = commands.next() {
            // One that erases is decided by itself: the commands behind it need the state that is folded anew.
            let mut together = vec![first];
            while let Some(next) = commands.next_if(|next| !next.erases() && !together.iter().any(|one| one.erases())) {
                together.push(next);
            }
            self.execute(together).await;
        }
        if !closes.is_empty() {
            self.end(EndReason::Closed);
            self.finish_snapshot().await;
            closes.into_iter().for_each(|answer| drop(answer.send(Ok(()))));
        }
    }

    /// Publishes durable entries and the state after them.
    pub(crate) fn publish(&self, entries: Vec<Entry>, state: State) {
        // The entries come first, so that readers of the state find them.
        self.recent.push(entries);
        let state = Arc::new(state);
        let before = self.published.replace(Ok(state.clone()));
        let ttl = |state: &State| state.session.settings.ttl_seconds;
        if before.is_ok_and(|before| ttl(&before) != ttl(&state)) {
            self.note_uses_anew();
        }
        self.write_snapshot(&state);
    }

    /// Publishes that the session has ended.
    pub(crate) fn end(&self, end: EndReason) {
        drop(self.published.replace(Err(end)));
    }

    /// Reads what others appended. If the journal was replaced by another one, the session ends.
    pub(crate) async fn catch_up(&mut self) -> Result<(), Error> {
        let known = self.known()?;
        let Some(row) = self.store.row(&self.id).await? else {
            self.end(EndReason::Gone);
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
            tracing::warn!(session = %self.id, "the journal was replaced: the session has to be opened again");
            self.end(EndReason::Gone);
            return Err(self.gone());
        }
        if fresh.iter().any(is_changing) {
            let loaded = snapshot::load(&*self.store, &self.id, row.head.seq).await?;
            let Some(anew) = loaded.filter(|anew| anew.state.head == row.head) else {
                self.end(EndReason::Gone);
                return Err(self.gone());
            };
            self.forget_all();
            self.jobs().snapshot = anew.snapshot;
            self.publish(fresh, anew.state);
        } else if !fresh.is_empty() {
            self.publish(fresh, state);
        }
        Ok(())
    }

    /// After older entries were changed here: forgets all that was made of them, and folds the state anew.
    pub(crate) async fn fold_anew(&mut self) {
        self.forget_all();
        if let Err(error) = self.catch_up().await {
            self.jobs().appending = None;
            // It is done. Whoever needs the state next catches up again.
            tracing::warn!(session = %self.id, %error, "the state could not be folded anew after older entries were changed yet");
        }
    }

    /// Starts to write a snapshot of `state` if the last one is old. One snapshot is written at a time.
    fn write_snapshot(&self, state: &Arc<State>) {
        let Head { seq, .. } = state.head;
        let mut queue = self.jobs();
        let is_busy = queue.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if is_busy || seq.0.saturating_sub(queue.snapshot.0) < self.settings.snapshot_every.max(1) {
            return;
        }
        queue.snapshot = seq;
        let writing = snapshot::write(self.store.clone(), self.id.clone(), state.clone());
        queue.writing = Some(tokio::spawn(self.settings.supervisor.once("snapshot", writing)));
    }

    async fn finish_snapshot(&self) {
        let writing = self.jobs().writing.take();
        if let Some(writing) = writing {
            // A missing snapshot only costs time: the journal has everything.
            let _ = writing.await;
        }
    }
}

/// Ends the session if its writer is dropped in the middle of its work, so that nobody waits for ever.
struct EndOnDrop(Option<Arc<Live>>);

impl EndOnDrop {
    fn is_in_order(&mut self) {
        self.0 = None;
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let Some(live) = self.0.take() else { return };
        if live.known().is_ok() {
            drop(live.published.replace(Err(EndReason::Closed)));
        }
        let mut queue = live.jobs();
        queue.is_under_way = false;
        let waited: Vec<_> = queue.waiting.drain(..).collect();
        drop(queue);
        live.room.add_permits(waited.len());
    }
}
