//! What is due in a run: a turn of one of the kinds of runs, or waiting.

use serde::{Deserialize, Serialize};

use crate::{
    conversation::ToolCall,
    id::{AgentName, SetName, ThreadId},
    run::{RunKind, director, team, turn::Turn},
};

/// What is due in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Due {
    /// A turn in the work of a team.
    Team(team::Duty),
    /// A turn in the work of a director.
    Director(director::Duty),
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
        /// The thread in which it called them; its own where it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<ThreadId>,
        /// The calls without a result that the caller of the run is to bring.
        calls: Vec<ToolCall>,
        /// The calls of Callboard's own tools without a result, in the order in which they are done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own: Vec<ToolCall>,
        /// What is due again once all have their results, where it is not simply the next directive or more work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<Box<team::Duty>>,
    },
}

impl RunKind {
    /// What is due at first. It is also due after the user has spoken, and if the run waited for an agent that has left.
    pub(super) fn first(self) -> Due {
        match self {
            Self::Team => team::Duty::Directive.into(),
            Self::Director => director::Duty::Build.into(),
        }
    }

    /// What is due when the user has answered `form`.
    pub(super) fn after_form(self, form: &SetName) -> Due {
        match self {
            Self::Team => team::Duty::Answered { form: form.clone() }.into(),
            Self::Director => self.first(),
        }
    }

    /// What is due when all calls of `agent` have their results; `thread` is where it called, if not in its own thread.
    pub(super) fn after_tools(self, agent: &AgentName, thread: Option<&ThreadId>) -> Due {
        match (self, thread) {
            // A worker calls in its own thread, the manager in `main`.
            (Self::Team, None) => team::Duty::Work { agent: agent.clone() }.into(),
            (Self::Team, Some(_)) | (Self::Director, _) => self.first(),
        }
    }

    /// The turn with which such a run begins.
    pub fn first_turn(self) -> Option<Turn> {
        self.first().turn()
    }
}

impl Due {
    /// The turn that is due in the work of a team; `None` in other work, and if the run waits.
    pub(super) fn of_team(&self) -> Option<&team::Duty> {
        if let Self::Team(duty) = self { Some(duty) } else { None }
    }

    /// The same with a change of the turn that is due in the work of a team, now or once tools have their results.
    pub(super) fn with(&self, change: impl FnOnce(&mut team::Duty)) -> Self {
        let mut due = self.clone();
        match &mut due {
            Self::Team(duty) => change(duty),
            Self::Wait(Wait::Tools { then: Some(duty), .. }) => change(duty),
            Self::Director(_) | Self::Wait(_) => {}
        }
        due
    }

    /// The turn that is due; `None` if the run waits.
    pub fn turn(&self) -> Option<Turn> {
        match self {
            Self::Team(duty) => Some(duty.turn()),
            Self::Director(duty) => Some(duty.turn()),
            Self::Wait(_) => None,
        }
    }

    /// Whether it contains words of the turn by which it became due, or of a message.
    pub(super) fn has_words(&self) -> bool {
        matches!(self, Self::Team(team::Duty::Repair { .. } | team::Duty::Form { .. } | team::Duty::Check { .. }))
    }

    /// Whom the run waits for, if it does.
    pub fn wait(&self) -> Option<&Wait> {
        if let Self::Wait(wait) = self { Some(wait) } else { None }
    }

    /// Whether it depends on this agent: on what it did, or is to do.
    pub(super) fn waits_for(&self, name: &AgentName) -> bool {
        match self.wait() {
            Some(Wait::Tools { agent, .. }) => agent == name,
            Some(Wait::User { .. }) => false,
            None => self.of_team().is_some_and(|duty| duty.waits_for(name)),
        }
    }
}

impl Wait {
    /// The same, where `duty` is due again once all calls have their results.
    pub(super) fn before(mut self, duty: &team::Duty) -> Self {
        if let Self::Tools { then, .. } = &mut self {
            *then = (*duty != team::Duty::Directive).then(|| Box::new(duty.clone()));
        }
        self
    }

    /// The thread in which `agent` called the tools whose results are awaited.
    pub(super) fn thread_of(agent: &AgentName, thread: Option<&ThreadId>) -> ThreadId {
        thread.cloned().unwrap_or_else(|| ThreadId::of_agent(agent))
    }
}

impl From<Wait> for Due {
    fn from(wait: Wait) -> Self {
        Self::Wait(wait)
    }
}

impl From<team::Duty> for Due {
    fn from(duty: team::Duty) -> Self {
        Self::Team(duty)
    }
}

impl From<director::Duty> for Due {
    fn from(duty: director::Duty) -> Self {
        Self::Director(duty)
    }
}
