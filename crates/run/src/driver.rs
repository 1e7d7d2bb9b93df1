//! The driver: does what is due in a run until nothing is due.

use std::{sync::Arc, time::Duration};

use callboard_core::{
    entry::Actor,
    id::RunId,
    run::{self, ClaimRun, PauseRun, Run, Status, next::Next},
};
use callboard_engine::{Outside, Session};
use callboard_model::ChatModel;

use crate::Error;

/// Drives runs of one session.
#[derive(Clone)]
pub struct Driver {
    pub(crate) session: Session,
    pub(crate) models: Arc<dyn ChatModel>,
    pub(crate) settings: Settings,
    pub(crate) outside: Outside,
}

/// The settings of a driver.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name under which it takes runs over, unique among drivers.
    pub node: Arc<str>,
    /// The model for agents without one.
    pub model: Option<String>,
    /// The timeout of one answer.
    pub turn_timeout: Duration,
}

impl Driver {
    /// Creates a driver that uses `models`.
    pub fn new(session: Session, models: Arc<dyn ChatModel>, settings: Settings) -> Self {
        Self { session, models, settings, outside: Outside::default() }
    }

    /// The same, whose agents may use what is outside.
    #[must_use]
    pub fn with(self, outside: Outside) -> Self {
        Self { outside, ..self }
    }

    /// Takes `run` over and drives it until it waits for somebody, is paused, or has ended. Returns its status. A turn that was
    /// requested but not answered is requested again; an answered turn never is.
    pub async fn drive(&self, run: &RunId) -> Result<Status, Error> {
        let status = self.session.run(run).await?.status();
        if status != Status::Running {
            return Ok(status);
        }
        let epoch = self.claim(run).await?;
        loop {
            let state = self.session.state().await?;
            let Ok(at) = state.runs.get(run) else {
                // The run has ended, and another one was started since.
                return Ok(self.session.run(run).await?.status());
            };
            if at.epoch != epoch {
                return Err(Error::TakenOver);
            }
            let stands = match run::next::next(&state, at) {
                Ok(Next::Ask(ask)) => self.turn(&state, at, *ask).await,
                Ok(Next::Call(calls)) => self.call_tools(at, calls).await,
                Ok(Next::Pause(reason)) => self.pause(run, reason).await,
                Ok(Next::AwaitUser | Next::AwaitTool | Next::Done) => return Ok(at.status()),
                // For instance, the agent whose turn it is has left the team.
                Err(refusal) => self.pause(run, format!("the run cannot go on: {refusal}")).await,
            };
            match stands {
                Ok(Status::Running) => {}
                // Another driver has resumed it meanwhile, and drives it.
                Ok(status) => return Ok(status),
                Err(Error::Ended) => return Ok(self.session.run(run).await?.status()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether another driver has taken the run over since the epoch `since`.
    pub fn is_anothers(&self, run: &Run, since: u64) -> bool {
        run.epoch > since && run.node.as_ref() != Some(&self.settings.node)
    }

    async fn claim(&self, run: &RunId) -> Result<u64, Error> {
        let command = ClaimRun { run: run.clone(), node: self.settings.node.clone() };
        Ok(self.session.execute(Actor::System, command).await?.answer)
    }

    /// Pauses the run with a reason that users can read. Returns its status.
    pub async fn pause(&self, run: &RunId, reason: String) -> Result<Status, Error> {
        Ok(self.session.execute(Actor::System, PauseRun { run: run.clone(), reason }).await?.answer)
    }
}
