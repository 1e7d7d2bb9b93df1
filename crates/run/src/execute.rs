//! Executing workflows: node by node until the end, a failure or a limit.
//!
//! The rules say [what is next](callboard_core::workflow::execution::walk) and what a node does; this does it. Which node was
//! started and what it gave is recorded as it happens. The rest is in memory: an execution whose executor is gone is interrupted.

mod ask;
mod course;
mod node;

use std::{sync::Arc, time::Duration};

use callboard_core::{
    command::Command,
    error::{ConflictKind, Error as Refusal},
    id::{ExecutionId, NodeId},
    workflow::execution::{ExecutionStatus, FinishExecution},
};
use callboard_engine::{Browsers, Error as Engine, Session};
use callboard_model::ChatModel;

use self::{course::Course, node::worked};
use crate::{Error, Settings, turn::insist};

/// Executes the workflow of one session.
#[derive(Clone)]
pub struct Executor {
    session: Session,
    models: Arc<dyn ChatModel>,
    settings: Settings,
    browsers: Option<Arc<dyn Browsers>>,
}

/// That an execution failed, or was interrupted, for this reason.
fn ended(id: &ExecutionId, status: ExecutionStatus, reason: String, failed: Option<NodeId>) -> FinishExecution {
    FinishExecution { execution: id.clone(), status, reason: Some(reason.into()), failed, skipped: Vec::new() }
}

impl Executor {
    /// Creates an executor that uses `models` and `browsers`. Of the settings it takes the default model.
    pub fn new(
        session: Session,
        models: Arc<dyn ChatModel>,
        settings: Settings,
        browsers: Option<Arc<dyn Browsers>>,
    ) -> Self {
        Self { session, models, settings, browsers }
    }

    /// Executes the workflow as the execution `id` says, and records how it ended. It returns as soon as the execution has ended,
    /// whoever ended it. One that was begun before is not continued, but interrupted.
    pub async fn execute(&self, id: &ExecutionId) -> Result<(), Error> {
        let state = self.session.state().await?;
        let execution = state.workflow.execution(id).ok_or_else(|| Refusal::not_found("execution", id));
        let execution = execution.map_err(Engine::from)?;
        if execution.node_runs > 0 {
            return self.interrupt(id).await;
        }
        let over = self.session.when(|state| {
            let is_running = state.workflow.execution(id).is_some_and(|execution| execution.is_running());
            (!is_running).then_some(())
        });
        let seconds = execution.limits.seconds;
        let course = Course::new(self, &state.workflow, execution).run();
        let ended = tokio::select! {
            biased;
            _ = over => return Ok(()),
            ended = tokio::time::timeout(Duration::from_secs(seconds), course) => ended,
        };
        let failed = |reason| self::ended(id, ExecutionStatus::Failed, reason, None);
        match ended.unwrap_or_else(|_| Ok(failed(format!("it took more than {seconds} seconds, its limit")))) {
            Ok(ended) => self.finish(ended).await,
            Err(Error::Ended) => Ok(()),
            // The store may work again by now.
            Err(error) => self.finish(failed(format!("it could not go on: {error}"))).await,
        }
    }

    /// Records that nobody executes the workflow any more.
    pub async fn interrupt(&self, id: &ExecutionId) -> Result<(), Error> {
        let reason = "whoever executed it is gone: nodes that were under way may have done what they do";
        self.finish(ended(id, ExecutionStatus::Interrupted, reason.to_owned(), None)).await
    }

    async fn finish(&self, ended: FinishExecution) -> Result<(), Error> {
        match self.record(ended).await {
            Ok(Ok(())) | Err(Error::Ended) => Ok(()),
            Ok(Err(refusal)) => Err(Engine::from(refusal).into()),
            Err(error) => Err(error),
        }
    }

    /// Records something. The inner error is why it is refused.
    async fn record(&self, command: impl Command<Answer = ()>) -> Result<Result<(), Refusal>, Error> {
        match insist(&self.session, command).await {
            Err(Engine::Refused(Refusal::Conflict { kind: ConflictKind::ExecutionEnded, .. })) => Err(Error::Ended),
            recorded => worked(recorded),
        }
    }
}
