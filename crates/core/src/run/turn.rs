//! Turns: what is needed to ask a model.

use serde_json::Value;

use crate::{
    agent::Team,
    error::{ConflictKind, Error},
    id::{AgentName, ThreadId},
    prompt::LayoutName,
};

/// A turn that is due, with everything that is needed to ask a model.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The worker whose model is asked; the manager at that time where it is absent.
    pub worker: Option<AgentName>,
    /// The thread in which the agent speaks.
    pub thread: ThreadId,
    /// The task, if it is not simply the last message of the thread.
    pub task: Option<String>,
    /// The schema of the answer, if it is not free text.
    pub output: Option<Output>,
    /// The layout of the prompt; the session's where it is absent.
    pub layout: Option<LayoutName>,
    /// Whether the agent may call its tools.
    pub uses_tools: bool,
    /// The bundle of Callboard's own tools that it may call besides those.
    pub bundle: Option<&'static str>,
    /// The purpose of the turn in words for people, such as "to work".
    pub purpose: &'static str,
}

/// The schema of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// The JSON Schema for the current team.
    pub schema: fn(&Team) -> Value,
}

impl Turn {
    /// A turn in which an agent goes on from the last message of a thread, and may call its tools.
    pub(super) fn of(worker: Option<AgentName>, thread: ThreadId, purpose: &'static str) -> Self {
        Self { worker, thread, task: None, output: None, layout: None, uses_tools: true, bundle: None, purpose }
    }

    /// The agent in the current team whose model is asked.
    pub fn agent(&self, team: &Team) -> Result<AgentName, Error> {
        let agent = match &self.worker {
            None => team.manager().ok_or_else(no_manager)?,
            Some(name) => team.agent(name)?,
        };
        Ok(agent.name.clone())
    }
}

/// The refusal of a run without a manager.
pub(super) fn no_manager() -> Error {
    Error::conflict(ConflictKind::NoManager, "the team has no manager", "give one agent the role manager")
}
