//! Runs, also those that have left the state: their own entries say how they ended.

use std::sync::Arc;

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    fact::Fact,
    id::{RunId, Seq},
    past_runs::PastRuns,
    run::{Run, facts},
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, Query};

use crate::{error::Error, journal::Pages, session::Session, sizes::sizes};

/// How many runs are listed at most, so that a list costs the same however many there were.
const LISTED: usize = 100;

impl Session {
    /// A run as it stands now, whether or not it has ended.
    pub async fn run(&self, id: &RunId) -> Result<Arc<Run>, Error> {
        let state = self.state().await?;
        self.run_of(&state, id).await
    }

    /// Looks at a run through the eyes of `viewer`.
    pub async fn view_run<T>(
        &self,
        viewer: &Viewer,
        id: &RunId,
        look: impl FnOnce(View<'_>, &Run) -> T,
    ) -> Result<T, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let run = self.run_of(&state, id).await?;
        Ok(look(view, &run))
    }

    /// Looks at each of the newest runs through the eyes of `viewer`, the newest first: at 100 of them at most.
    pub async fn view_runs<T>(&self, viewer: &Viewer, look: impl Fn(View<'_>, &Run) -> T) -> Result<Vec<T>, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let runs = self.newest_runs(&state).await?;
        Ok(runs.iter().map(|run| look(view, run)).collect())
    }

    async fn run_of(&self, state: &State, id: &RunId) -> Result<Arc<Run>, Error> {
        if let Some(run) = state.runs.newest().filter(|run| run.id == *id) {
            return Ok(run.clone());
        }
        let past = self.read_past(Seq::ZERO, state.head.seq, vec![facts::subject(id)]).await?;
        self.live.confirm(state).await?;
        past.finish().pop().ok_or_else(|| Refusal::not_found("run", id).into())
    }

    async fn newest_runs(&self, state: &State) -> Result<Vec<Arc<Run>>, Error> {
        let Some(newest) = state.runs.newest() else { return Ok(Vec::new()) };
        let started = self.newest_starts(state).await?;
        let (Some(first), Some(last)) = (started.last(), started.first()) else { return Err(self.live.gone()) };
        let (before, through) = (first.header.seq.previous(), last.header.seq.previous());
        // A run starts only when the one before has ended: up to the last start, there are the entries of all others.
        let past = self.read_past(before, through, Vec::new()).await?;
        self.live.confirm(state).await?;
        let mut runs = past.finish();
        runs.push(newest.clone());
        runs.reverse();
        Ok(runs)
    }

    /// The entries that started the newest runs, the newest first.
    async fn newest_starts(&self, state: &State) -> Result<Vec<Entry>, Error> {
        let all = Query::all(Seq(1)..state.head.seq.next(), Order::Backward, LISTED);
        let query = Query { types: vec![facts::Started::TYPE.into()], ..all };
        Ok(self.live.store.read(self.id(), query).await?)
    }

    /// What the journal says of runs after `after` up to `through`.
    async fn read_past(&self, after: Seq, through: Seq, subjects: Vec<Arc<str>>) -> Result<PastRuns, Error> {
        let mut past = PastRuns::default();
        let pages = Pages::of(&*self.live.store, self.id(), after, through, PastRuns::types());
        let mut pages = pages.about(subjects);
        while let Some(page) = pages.next().await? {
            page.iter().try_for_each(|entry| past.take(entry))?;
        }
        Ok(past)
    }
}
