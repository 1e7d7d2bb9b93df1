//! What is due in a run: a turn of one of the kinds of runs, or waiting.

use serde::{Deserialize, Serialize};

use crate::{
    conversation::ToolCall,
    id::{AgentName, SetName, ThreadId},
    run::{
        RunKind, director, team,
        turn::{IsDuty, Rules, Turn},
    },
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

/// The rules of any kind of run.
pub(crate) trait AnyRules {
    /// See [`Rules::first`].
    fn first(&self) -> Due;
    /// See [`Rules::after_form`].
    fn after_form(&self, form: &SetName) -> Due;
    /// See [`Rules::after_tools`].
    fn after_tools(&self, agent: &AgentName, thread: Option<&ThreadId>) -> Due;
}

impl<R: Rules<Duty: Into<Due>>> AnyRules for R {
    fn first(&self) -> Due {
        Rules::first(self).into()
    }

    fn after_form(&self, form: &SetName) -> Due {
        Rules::after_form(self, form).into()
    }

    fn after_tools(&self, agent: &AgentName, thread: Option<&ThreadId>) -> Due {
        Rules::after_tools(self, agent, thread).into()
    }
}

impl RunKind {
    /// The rules of such a run.
    pub(crate) fn rules(self) -> &'static dyn AnyRules {
        match self {
            Self::Team => &team::Rules,
            Self::Director => &director::Rules,
        }
    }
}

impl RunKind {
    /// The turn with which such a run begins.
    pub fn first_turn(self) -> Option<Turn> {
        self.rules().first().turn()
    }
}

impl Due {
    /// The turn that is due, with the type of its kind of run; `None` if the run waits.
    pub(super) fn duty(&self) -> Option<&dyn IsDuty> {
        match self {
            Self::Team(duty) => Some(duty),
            Self::Director(duty) => Some(duty),
            Self::Wait(_) => None,
        }
    }

    /// The same with a change of the turn that is due, now or once tools have their results.
    pub(super) fn with(&self, change: impl FnOnce(&mut dyn IsDuty)) -> Self {
        let mut due = self.clone();
        match &mut due {
            Self::Team(duty) => change(duty),
            Self::Director(duty) => change(duty),
            Self::Wait(Wait::Tools { then: Some(duty), .. }) => change(&mut **duty),
            Self::Wait(_) => {}
        }
        due
    }

    /// The turn that is due; `None` if the run waits.
    pub fn turn(&self) -> Option<Turn> {
        self.duty().map(IsDuty::turn)
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
            None => self.duty().is_some_and(|duty| duty.waits_for(name)),
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
