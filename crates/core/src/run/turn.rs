//! Turns: all that must be known to ask a model, and what each kind of run says of its own turns.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::Team,
    error::{ConflictKind, Error},
    id::{AgentName, SetName, ThreadId},
};

/// A turn that is due: all that must be known of it to ask a model.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Whose model is asked.
    pub who: Who,
    /// The thread in which the agent speaks.
    pub thread: ThreadId,
    /// What the agent is told to do, where it is not simply the last message of its thread.
    pub task: Option<String>,
    /// The form of the answer, where it is not free text.
    pub output: Option<Output>,
    /// Whether the agent may call its tools.
    pub uses_tools: bool,
    /// What the agent is asked for, in words for people: it is asked "to work".
    pub purpose: &'static str,
}

/// Whose model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever is the manager then.
    Manager,
    /// This agent.
    Agent(AgentName),
}

/// The form of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// Its JSON Schema, for the team as it is.
    pub schema: fn(&Team) -> Value,
}

/// What a kind of run says of each turn that can be due in it.
pub(crate) trait IsDuty {
    /// How the model is asked.
    fn turn(&self) -> Turn;

    /// Whether it is about something that this agent did or is to do.
    fn waits_for(&self, agent: &AgentName) -> bool;

    /// The thread whose words it holds, if any.
    fn words_of(&self) -> Option<ThreadId>;

    /// Leaves those words out.
    fn hide_words(&mut self);

    /// Makes it what another agent is asked for, which did not say what it holds.
    fn ask_another(&mut self);

    /// Leaves out what its author said, and its faults unless the author itself looks.
    fn keep_outcome(&mut self, is_author: bool);
}

/// The rules of a kind of run.
pub(crate) trait Rules {
    /// The turns that can be due in it.
    type Duty;

    /// Refuses to start a run where it could not be done.
    fn check_start(&self, team: &Team) -> Result<(), Error>;

    /// What is due at first, and where nobody knows better: when the user has spoken, or an agent that was waited for has
    /// left.
    fn first(&self) -> Self::Duty;

    /// What is due when the user has answered `form`.
    fn after_form(&self, form: &SetName) -> Self::Duty;

    /// What is due when all calls of `agent` have their results.
    fn after_tools(&self, agent: &AgentName) -> Self::Duty;
}

impl Turn {
    /// The agent whose model is asked, in the team as it is.
    pub fn agent(&self, team: &Team) -> Result<AgentName, Error> {
        match &self.who {
            Who::Manager => team.manager().map(|agent| agent.name.clone()).ok_or_else(no_manager),
            Who::Agent(name) => team.agent(name).map(|agent| agent.name.clone()),
        }
    }
}

/// The refusal of a run without a manager.
pub(super) fn no_manager() -> Error {
    Error::Conflict {
        kind: ConflictKind::NoManager,
        what: "the team has no manager".to_owned(),
        hint: "give one agent the role manager",
    }
}

/// Words that are left out.
pub(super) fn hidden() -> Arc<str> {
    "".into()
}
