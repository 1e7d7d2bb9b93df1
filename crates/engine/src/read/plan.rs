//! Versions of the plan. The state has the newest; the others are read from the journal, each by the key that it claims.

use std::sync::Arc;

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    fact::Fact,
    id::Seq,
    plan::{HeldPlan, facts},
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, Query};

use crate::{error::Error, journal::PAGE, session::Session, sizes::sizes};

/// How many versions are read at once. Each holds a whole plan.
const AT_ONCE: usize = PAGE / 8;

impl Session {
    /// A version of the plan. One that is hidden from `viewer` answers like one that is not there.
    pub async fn plan_version(&self, viewer: &Viewer, version: u64) -> Result<Arc<HeldPlan>, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let absent = || Refusal::not_found("version of the plan", version);
        let newest = view.plan().map_err(|_| absent())?;
        if newest.version == version {
            return Ok(newest.clone());
        }
        let entry = match self.plan_entry(version).await? {
            Some(seq) => self.entry(seq).await?.filter(|entry| entry.header.seq <= state.head.seq),
            None => None,
        };
        self.live.confirm(&state).await?;
        let seen = entry.map(|entry| seen(&view, &entry)).transpose()?.flatten();
        Ok(seen.map(Arc::new).ok_or_else(absent)?)
    }

    /// The versions of the plan that `viewer` may see, the newest first, at most `limit`; those before `before` alone,
    /// where it is given.
    pub async fn plan_versions(
        &self,
        viewer: &Viewer,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<HeldPlan>, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let newest = view.plan()?;
        let mut found = Vec::new();
        let mut end = match before {
            None => {
                found.push(HeldPlan::clone(newest));
                newest.seq
            }
            Some(version) if version > newest.version => newest.seq.next(),
            Some(version) => self.plan_entry(version).await?.unwrap_or(Seq(1)),
        };
        while found.len() < limit && end > Seq(1) {
            let page = self.plan_entries(&state, end, AT_ONCE.min(limit - found.len())).await?;
            let Some(last) = page.last() else { break };
            end = last.header.seq;
            for entry in &page {
                found.extend(seen(&view, entry)?);
            }
        }
        self.live.confirm(&state).await?;
        found.truncate(limit);
        Ok(found)
    }

    /// The entry that claimed the number of a version.
    async fn plan_entry(&self, version: u64) -> Result<Option<Seq>, Error> {
        Ok(self.live.store.find(self.id(), &facts::key(version)).await?)
    }

    /// The newest entries of the plan before `end`.
    async fn plan_entries(&self, state: &State, end: Seq, limit: usize) -> Result<Vec<Entry>, Error> {
        let all = Query::all(Seq(1)..end.min(state.head.seq.next()), Order::Backward, limit);
        let query = Query { types: vec![facts::Updated::TYPE.into()], ..all };
        Ok(self.live.store.read(self.id(), query).await?)
    }
}

/// The version that an entry has, where the viewer may see it.
fn seen(view: &View<'_>, entry: &Entry) -> Result<Option<HeldPlan>, Refusal> {
    if view.agent().is_some() && view.project(entry)?.is_none() {
        return Ok(None);
    }
    let created_at = view.state.plan.as_ref().map_or(entry.header.at, |newest| newest.created_at);
    facts::version_of(entry, created_at).map(Some)
}
