//! Runs.

use callboard_api as api;
use callboard_core::{
    command::{Command, KeptAnswer},
    id::RunId,
    run::{CancelRun, NewRun, PauseRun, ResumeRun, Run, ToolResults},
    view::View,
};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{BringResults, ReadRuns, StartRun, SteerRun},
};

async fn steer(
    caller: &Authorized<SteerRun>,
    options: WriteOptions,
    run: RunId,
    command: impl Command<Answer: KeptAnswer>,
) -> Result<Answer<api::Run>, CallError> {
    let receipt = caller.execute(options, command).await?;
    let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

impl Authorized<ReadRuns> {
    pub(crate) async fn list_runs(&self) -> Result<Answer<api::RunList>, CallError> {
        let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
        Ok(Answer::ok(api::RunList { runs: self.session.view_runs(&self.viewer(), look).await? }))
    }

    pub(crate) async fn read_run(&self, run: RunId) -> Result<Answer<api::Run>, CallError> {
        let look = |view: View<'_>, run: &Run| api::Run::seen(&view, run);
        Ok(Answer::ok(self.session.view_run(&self.viewer(), &run, look).await?))
    }
}

impl Authorized<StartRun> {
    pub(crate) async fn start_run(
        &self,
        body: api::NewRun,
        options: WriteOptions,
    ) -> Result<Answer<api::Run>, CallError> {
        let api::NewRun { kind, input, limits } = body;
        let receipt = self.execute(options, NewRun { kind, input, limits }).await?;
        let run = receipt.answer;
        let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        self.app.drivers.drive(self.session.clone(), run);
        Ok(Answer::ok(body).at(receipt.head))
    }
}

impl Authorized<SteerRun> {
    pub(crate) async fn pause_run(
        &self,
        run: RunId,
        body: api::Pause,
        options: WriteOptions,
    ) -> Result<Answer<api::Run>, CallError> {
        let reason = body.reason.unwrap_or_else(|| format!("{} asked for it", self.actor));
        if reason.chars().count() > 1000 {
            return Err(CallError::invalid("/reason", "use at most 1,000 characters"));
        }
        steer(self, options, run.clone(), PauseRun { run, reason }).await
    }

    pub(crate) async fn resume_run(&self, run: RunId, options: WriteOptions) -> Result<Answer<api::Run>, CallError> {
        let answer = steer(self, options, run.clone(), ResumeRun(run.clone())).await?;
        self.app.drivers.drive(self.session.clone(), run);
        Ok(answer)
    }

    pub(crate) async fn cancel_run(&self, run: RunId, options: WriteOptions) -> Result<Answer<api::Run>, CallError> {
        steer(self, options, run.clone(), CancelRun(run)).await
    }
}

impl Authorized<BringResults> {
    pub(crate) async fn bring_tool_results(
        &self,
        run: RunId,
        body: api::ToolResults,
        options: WriteOptions,
    ) -> Result<Answer<api::Run>, CallError> {
        let results = body.results.into_iter().map(|result| (result.tool_call_id, result.content)).collect();
        let receipt = self.execute(options, ToolResults { run: run.clone(), results }).await?;
        let look = |view: View<'_>| Ok(api::Run::seen(&view, view.state.runs.get(&run)?));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
}
