//! What is due in a run. All that must be known of a turn to ask a model for it is said in one place, [`Turn`]; which
//! turns there are, each kind of run says in a module of its own.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    agent::Team,
    conversation::ToolCall,
    error::Error,
    id::{AgentName, SetName, ThreadId},
    run::{Kind, team},
};

/// What is due in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Due {
    /// A turn in the work of a team.
    Team(team::Duty),
    /// Nothing: it waits for somebody.
    Wait(Wait),
}

/// Whom a run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wait {
    /// The user is to answer.
    User {
        /// The form to fill in, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<SetName>,
    },
    /// The results of tool calls are to be brought.
    Tools {
        /// The agent that called them.
        agent: AgentName,
        /// The calls without a result that the caller of the run is to bring.
        calls: Vec<ToolCall>,
        /// The calls of Callboard's own tools without a result, in the order in which they are done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own: Vec<ToolCall>,
    },
}

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

    /// The same without those words.
    fn without_words(&self) -> Due;

    /// The same as an agent is asked for it that did not say what it holds.
    fn asked_of_another(&self) -> Due;

    /// The same without what its author said, of which it shows the faults to the author alone.
    fn outcome(&self, is_author: bool) -> Due;
}

/// What a kind of run makes of what happens.
pub(crate) trait Rules {
    /// Refuses to start a run where it could not be done.
    fn check_start(&self, team: &Team) -> Result<(), Error>;

    /// What is due at first, and where nobody knows better: when the user has spoken, or an agent that was waited for has
    /// left.
    fn first(&self) -> Due;

    /// What is due when the user has answered `form`.
    fn after_form(&self, form: &SetName) -> Due;

    /// What is due when all calls of `agent` have their results.
    fn after_tools(&self, agent: &AgentName) -> Due;
}

impl Kind {
    /// What such a run makes of what happens.
    pub(crate) fn rules(self) -> &'static dyn Rules {
        match self {
            Self::Team => &team::Rules,
        }
    }
}

impl Due {
    /// What its kind of run says of it; `None` where it is nobody's turn.
    pub(super) fn duty(&self) -> Option<&dyn IsDuty> {
        match self {
            Self::Team(duty) => Some(duty),
            Self::Wait(_) => None,
        }
    }

    /// How the model is asked whose turn it is; `None` where it is nobody's.
    pub fn turn(&self) -> Option<Turn> {
        self.duty().map(IsDuty::turn)
    }

    /// Whom the run waits for, if it does.
    pub fn wait(&self) -> Option<&Wait> {
        if let Self::Wait(wait) = self { Some(wait) } else { None }
    }

    /// Whether it is about something that this agent did or is to do.
    pub(super) fn waits_for(&self, name: &AgentName) -> bool {
        match self.wait() {
            Some(Wait::Tools { agent, .. }) => agent == name,
            Some(Wait::User { .. }) => false,
            None => self.duty().is_some_and(|duty| duty.waits_for(name)),
        }
    }
}

impl Turn {
    /// The agent whose model is asked, in the team as it is.
    pub fn agent(&self, team: &Team) -> Result<AgentName, Error> {
        match &self.who {
            Who::Manager => team.manager().map(|agent| agent.name.clone()).ok_or_else(team::no_manager),
            Who::Agent(name) => team.agent(name).map(|agent| agent.name.clone()),
        }
    }
}

impl From<Wait> for Due {
    fn from(wait: Wait) -> Self {
        Self::Wait(wait)
    }
}

/// Words that are left out.
pub(super) fn hidden() -> Arc<str> {
    "".into()
}
