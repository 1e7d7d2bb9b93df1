//! The driver: asks whose turn it is until nobody's is.

use std::{sync::Arc, time::Duration};

use callboard_core::{
    entry::Actor,
    id::RunId,
    run::{self, ClaimRun, Epoch, PauseRun, Run, Status, next::Next},
};
use callboard_engine::Session;
use callboard_model::ChatModel;

use crate::Error;

/// Drives runs of one session.
#[derive(Clone)]
pub struct Driver {
    pub(crate) session: Session,
    pub(crate) models: Arc<dyn ChatModel>,
    pub(crate) settings: Settings,
}

/// What a driver is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name under which runs are taken over, unlike that of any other driver.
    pub node: Arc<str>,
    /// The model of agents that name none.
    pub model: Option<String>,
    /// How long a model may take for one answer.
    pub turn_timeout: Duration,
}

impl Driver {
    /// A driver that asks `models`.
    pub fn new(session: Session, models: Arc<dyn ChatModel>, settings: Settings) -> Self {
        Self { session, models, settings }
    }

    /// Takes `run` over and drives it until it waits for somebody, is held, or has ended; says which. A turn that was
    /// requested and not answered is asked again; one that was answered never is.
    pub async fn drive(&self, run: &RunId) -> Result<Status, Error> {
        let status = self.session.run(run).await?.status();
        if status != Status::Running {
            return Ok(status);
        }
        let epoch = self.claim(run).await?;
        loop {
            let state = self.session.state().await?;
            let Ok(at) = state.runs.get(run) else {
                // It has ended, and another one was started since.
                return Ok(self.session.run(run).await?.status());
            };
            if at.epoch != epoch {
                return Err(Error::TakenOver);
            }
            let stands = match run::next::next(&state, at) {
                Ok(Next::Ask(ask)) => self.turn(&state, at, *ask).await,
                Ok(Next::Call(call)) => self.call_tool(at, call).await,
                Ok(Next::Pause(reason)) => self.pause(run, reason).await,
                Ok(Next::AwaitUser | Next::AwaitTool | Next::Done) => return Ok(at.status()),
                // Whose turn it is has left the team, for instance.
                Err(refusal) => self.pause(run, format!("the run cannot go on: {refusal}")).await,
            };
            match stands {
                Ok(Status::Running) => {}
                // Whoever has let it go on by now drives it.
                Ok(status) => return Ok(status),
                Err(Error::Ended) => return Ok(self.session.run(run).await?.status()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether somebody else has taken the run over since it was at the epoch `since`.
    pub fn is_anothers(&self, run: &Run, since: u64) -> bool {
        run.epoch > since && run.node.as_ref() != Some(&self.settings.node)
    }

    async fn claim(&self, run: &RunId) -> Result<u64, Error> {
        let command = ClaimRun { run: run.clone(), node: self.settings.node.clone() };
        let Epoch(epoch) = self.session.execute(Actor::System, command).await?.answer;
        Ok(epoch)
    }

    /// Holds the run, with the reason for all to read. Says how it stands then.
    pub async fn pause(&self, run: &RunId, reason: String) -> Result<Status, Error> {
        Ok(self.session.execute(Actor::System, PauseRun { run: run.clone(), reason }).await?.answer)
    }
}
