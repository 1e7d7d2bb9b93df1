//! The plan and its versions.

use std::sync::Arc;

use callboard_api as api;
use callboard_core::plan::{Held, PatchTask, PutPlan, diff::diff};

use super::{
    Answer, Authorized, CallError, WriteOptions, cursor,
    rights::{ChangePlan, ReadPlan},
};

/// How many versions are listed where the caller does not say.
const LISTED: usize = 100;

impl Authorized<ReadPlan> {
    /// Read the plan
    pub(crate) async fn read_plan(&self, query: api::AtQuery) -> Result<Answer<api::Plan>, CallError> {
        let look = |view: callboard_core::view::View<'_>| {
            Ok((api::Plan::of(view.plan()?, &view.state.session.workflow_id), view.state.head.seq))
        };
        let (plan, head) = self.look_at(query.at, look).await?;
        Ok(Answer::ok(plan).at(head))
    }

    /// List the versions of the plan
    pub(crate) async fn list_plan_versions(
        &self,
        query: api::PlanVersionsQuery,
    ) -> Result<Answer<api::PlanVersionList>, CallError> {
        let before = query.cursor.as_deref().map(cursor::number).transpose()?;
        let limit = query.limit.unwrap_or(LISTED);
        let held = self.session.plan_versions(&self.viewer(), before, limit.saturating_add(1)).await?;
        let mut versions: Vec<_> =
            held.iter().map(|held| (held.version.to_string(), api::PlanVersion::of(held))).collect();
        let next_cursor = cursor::cut(&mut versions, limit, |(version, _)| version);
        let versions = versions.into_iter().map(|(_, version)| version).collect();
        Ok(Answer::ok(api::PlanVersionList { versions, next_cursor }))
    }

    /// Read a version of the plan
    pub(crate) async fn read_plan_version(&self, version: u64) -> Result<Answer<api::Plan>, CallError> {
        let held = self.session.plan_version(&self.viewer(), version).await?;
        let state = self.session.known()?;
        Ok(Answer::ok(api::Plan::of(&held, &state.session.workflow_id)))
    }

    /// Compare two versions of the plan
    pub(crate) async fn compare_plans(&self, query: api::PlanDiffQuery) -> Result<Answer<api::PlanDiff>, CallError> {
        let to = match query.to {
            Some(version) => self.session.plan_version(&self.viewer(), version).await?,
            None => self.session.view(&self.viewer(), |view| Ok(view.plan()?.clone())).await?,
        };
        let from = query.from.unwrap_or_else(|| to.version.saturating_sub(1));
        let before: Option<Arc<Held>> = match from {
            0 => None,
            version => Some(self.session.plan_version(&self.viewer(), version).await?),
        };
        let changes = diff(before.as_ref().map(|before| &*before.plan), &to.plan);
        Ok(Answer::ok(api::PlanDiff { from, to: to.version, changes }))
    }
}

impl Authorized<ChangePlan> {
    /// Replace the plan
    pub(crate) async fn put_plan(
        &self,
        body: api::PutPlan,
        options: WriteOptions,
    ) -> Result<Answer<api::PlanChanged>, CallError> {
        let api::PutPlan { plan, reason, expected_version } = body;
        let receipt = self.execute(options, PutPlan { plan, reason, expected_version }).await?;
        Ok(Answer::ok(api::PlanChanged { version: receipt.answer.0 }).at(receipt.head))
    }

    /// Change a task of the plan
    pub(crate) async fn patch_plan_task(
        &self,
        task_id: u64,
        body: api::PlanTaskPatch,
        options: WriteOptions,
    ) -> Result<Answer<api::PlanChanged>, CallError> {
        let api::PlanTaskPatch { status, notes, reason } = body;
        let receipt = self.execute(options, PatchTask { task_id, status, notes, reason }).await?;
        Ok(Answer::ok(api::PlanChanged { version: receipt.answer.0 }).at(receipt.head))
    }
}
