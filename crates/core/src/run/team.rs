//! The work of a team: a manager directs workers, describes forms, and checks answers against its criteria.

pub(super) mod answer;
mod task;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    directive::schema,
    error::Fault,
    id::{AgentName, MessageId, SetName, ThreadId},
    run::turn::{Output, Turn, Who, hidden},
};

/// What is due in the work of a team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Duty {
    /// The manager is to give a directive.
    Directive,
    /// The manager is to give a directive, now that the user has answered its form.
    Answered {
        /// The form.
        form: SetName,
    },
    /// The manager is to give a directive again, since the last one had faults.
    Repair {
        /// What it said.
        said: Arc<str>,
        /// What was wrong with it.
        faults: Vec<Fault>,
    },
    /// The manager is to say what a form asks for.
    Form {
        /// What the user is asked.
        request: Arc<str>,
    },
    /// A worker is to do what the last message in its thread asks.
    Work {
        /// The worker.
        agent: AgentName,
    },
    /// The manager is to say whether an answer is what was expected.
    Check {
        /// The worker's thread.
        thread: ThreadId,
        /// The message that said what was expected.
        criteria_of: MessageId,
        /// What was expected.
        criteria: Arc<str>,
        /// The answer.
        message_id: MessageId,
        /// The worker.
        agent: AgentName,
    },
}

impl Duty {
    /// The turn.
    pub(super) fn turn(&self) -> Turn {
        let directs = |purpose, task| Turn {
            task,
            output: Some(Output { name: "directive", schema: schema::schema }),
            ..Turn::of(Who::Manager, ThreadId::main(), purpose)
        };
        match self {
            Self::Directive => directs("to direct the team", None),
            Self::Answered { form } => directs("to direct the team", Some(task::answered(form))),
            Self::Repair { said, faults } => directs("to mend its directive", Some(task::repair(said, faults))),
            Self::Form { request } => Turn {
                output: Some(Output { name: "form", schema: |_| schema::form() }),
                uses_tools: false,
                ..directs("to say what the form asks for", Some(task::form(request)))
            },
            Self::Check { agent, criteria, .. } => Turn {
                output: Some(Output { name: "verdict", schema: |_| verdict_schema() }),
                uses_tools: false,
                ..directs("to check the answer", Some(task::check(agent, criteria)))
            },
            Self::Work { agent } => Turn::of(Who::Agent(agent.clone()), ThreadId::of_agent(agent), "to work"),
        }
    }

    /// Whether it depends on this agent: on what it did, or is to do.
    pub(super) fn waits_for(&self, name: &AgentName) -> bool {
        matches!(self, Self::Work { agent } | Self::Check { agent, .. } if agent == name)
    }

    /// The thread whose words it contains, if any.
    pub(super) fn words_of(&self) -> Option<ThreadId> {
        match self {
            Self::Form { .. } => Some(ThreadId::main()),
            Self::Check { thread, .. } => Some(thread.clone()),
            Self::Directive | Self::Answered { .. } | Self::Repair { .. } | Self::Work { .. } => None,
        }
    }

    /// Removes these words.
    pub(super) fn hide_words(&mut self) {
        if let Self::Form { request: words } | Self::Check { criteria: words, .. } = self {
            *words = hidden();
        }
    }

    /// Changes it for another agent, which did not say the words in it.
    pub(super) fn ask_another(&mut self) {
        if matches!(self, Self::Repair { .. }) {
            *self = Self::Directive;
        }
    }

    /// Removes what its author said, and its faults unless the viewer is the author.
    pub(super) fn keep_outcome(&mut self, is_author: bool) {
        if let Self::Repair { said, faults } = self {
            *said = hidden();
            faults.retain(|_| is_author);
        }
    }
}

/// The JSON Schema of a verdict on an answer.
fn verdict_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"valid": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["valid", "reason"],
    })
}
