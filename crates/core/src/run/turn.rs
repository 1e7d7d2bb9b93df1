//! Turns: what is needed to ask a model, and what each kind of run declares about its turns.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::Team,
    error::{ConflictKind, Error},
    id::{AgentName, SetName, ThreadId},
    prompt::LayoutName,
};

/// A turn that is due, with everything that is needed to ask a model.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The agent whose model is asked.
    pub who: Who,
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

/// Whose model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The manager at that time.
    Manager,
    /// This agent.
    Agent(AgentName),
}

/// The schema of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// The JSON Schema for the current team.
    pub schema: fn(&Team) -> Value,
}

/// What a kind of run declares about each turn that can be due in it.
pub(crate) trait IsDuty {
    /// The turn.
    fn turn(&self) -> Turn;

    /// Whether it depends on this agent: on what it did, or is to do.
    fn waits_for(&self, agent: &AgentName) -> bool;

    /// The thread whose words it contains, if any.
    fn words_of(&self) -> Option<ThreadId>;

    /// Removes these words.
    fn hide_words(&mut self);

    /// Changes it for another agent, which did not say the words in it.
    fn ask_another(&mut self);

    /// Removes what its author said, and its faults unless the viewer is the author.
    fn keep_outcome(&mut self, is_author: bool);
}

/// The rules of a kind of run.
pub(crate) trait Rules {
    /// The turns that can be due in it.
    type Duty;

    /// What is due at first. It is also due after the user has spoken, and if the run waited for an agent that has left.
    fn first(&self) -> Self::Duty;

    /// What is due when the user has answered `form`.
    fn after_form(&self, form: &SetName) -> Self::Duty;

    /// What is due when all calls of `agent` have their results; `thread` is where it called, if not in its own thread.
    fn after_tools(&self, agent: &AgentName, thread: Option<&ThreadId>) -> Self::Duty;
}

impl Turn {
    /// The agent in the current team whose model is asked.
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

/// The placeholder for removed words.
pub(super) fn hidden() -> Arc<str> {
    "".into()
}
