//! The state of a team's steps.

use callboard_api as api;
use callboard_core::{
    command::{Command, KeptAnswer},
    error::Error as Refusal,
    run::Usage,
    session::SessionPatch,
    step::{
        Place, StepsChange,
        offer::{Offer, offer},
    },
    view::View,
};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{GoThroughSteps, ReadSteps},
};

/// Makes a change, and gives the state after it.
async fn change(
    caller: &Authorized<GoThroughSteps>,
    options: WriteOptions,
    change: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Orchestration>, CallError> {
    let receipt = caller.execute(options, change).await?;
    let look = |view: View<'_>| api::Orchestration::seen(&view, view.state.last_at);
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

impl Authorized<ReadSteps> {
    pub(crate) async fn read_orchestration(&self) -> Result<Answer<api::Orchestration>, CallError> {
        let last_accessed = self.session.info().await?.last_activity;
        let body = self.session.view(&self.viewer(), |view| api::Orchestration::seen(&view, last_accessed)).await?;
        Ok(Answer::ok(body))
    }

    pub(crate) async fn allowed_tools(&self, body: api::Tools) -> Result<Answer<Offer>, CallError> {
        let tools = body.tools;
        for (at, tool) in tools.iter().enumerate() {
            self.session.check_name(&format!("/tools/{at}"), tool).await?;
        }
        let viewer = self.viewer();
        let offered = self.session.view(&viewer, |view| {
            if view.state.session.settings.steps.is_empty() {
                return Err(Refusal::NoSteps);
            }
            offer(view.state, tools.iter().map(String::as_str))
        });
        Ok(Answer::ok(offered.await?))
    }
}

impl Authorized<GoThroughSteps> {
    pub(crate) async fn update_orchestration(
        &self,
        body: api::OrchestrationPatch,
        options: WriteOptions,
    ) -> Result<Answer<api::Orchestration>, CallError> {
        let api::OrchestrationPatch { active_step, sequence_index, ttl_seconds } = body;
        let place = StepsChange::Set(Place { active_step, sequence_index });
        let lifetime = SessionPatch { ttl_seconds, ..SessionPatch::default() };
        change(self, options, (place, lifetime)).await
    }

    pub(crate) async fn use_tool(
        &self,
        body: api::UsedTool,
        options: WriteOptions,
    ) -> Result<Answer<api::Orchestration>, CallError> {
        change(self, options, StepsChange::UseTool(body.tool)).await
    }

    pub(crate) async fn advance_sequence(
        &self,
        options: WriteOptions,
    ) -> Result<Answer<api::Orchestration>, CallError> {
        change(self, options, StepsChange::Advance).await
    }

    pub(crate) async fn reset_orchestration(
        &self,
        options: WriteOptions,
    ) -> Result<Answer<api::Orchestration>, CallError> {
        change(self, options, StepsChange::Reset).await
    }

    pub(crate) async fn report_usage(
        &self,
        body: api::ReportedUsage,
        options: WriteOptions,
    ) -> Result<Answer<api::Orchestration>, CallError> {
        let api::ReportedUsage { prompt_tokens, completion_tokens } = body;
        change(self, options, StepsChange::Report(Usage { prompt_tokens, completion_tokens })).await
    }
}
