//! What is due in a run: the turn of an agent, or waiting for somebody.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    agent::DIRECTOR,
    conversation::ToolCall,
    directive::schema,
    error::Fault,
    id::{AgentName, MessageId, SetName, ThreadId},
    prompt::LayoutName,
    run::{
        RunKind, task,
        turn::{Output, Turn},
    },
};

/// What is due in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Due {
    /// The manager of a team is to give a directive.
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
    /// A director is to go on.
    Build,
    /// Nothing: the user is to answer.
    User {
        /// The form to fill in, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<SetName>,
    },
    /// Nothing: the results of tool calls are to be brought.
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
        then: Option<Box<Due>>,
    },
}

impl RunKind {
    /// What is due at first. It is also due after the user has spoken, and if the run waited for an agent that has left.
    pub(super) fn first(self) -> Due {
        match self {
            Self::Team => Due::Directive,
            Self::Director => Due::Build,
        }
    }

    /// What is due when the user has answered `form`.
    pub(super) fn after_form(self, form: &SetName) -> Due {
        match self {
            Self::Team => Due::Answered { form: form.clone() },
            Self::Director => self.first(),
        }
    }

    /// What is due when all calls of `agent` have their results; `thread` is where it called, if not in its own thread.
    pub(super) fn after_tools(self, agent: &AgentName, thread: Option<&ThreadId>) -> Due {
        match (self, thread) {
            // A worker calls in its own thread, the manager in `main`.
            (Self::Team, None) => Due::Work { agent: agent.clone() },
            (Self::Team, Some(_)) | (Self::Director, _) => self.first(),
        }
    }

    /// The turn with which such a run begins.
    pub fn first_turn(self) -> Option<Turn> {
        self.first().turn()
    }
}

impl Due {
    /// The turn that is due; `None` if the run waits.
    pub fn turn(&self) -> Option<Turn> {
        let of_manager = |purpose| Turn::of(None, ThreadId::main(), purpose);
        let directs = |purpose, task| Turn {
            task,
            output: Some(Output { name: "directive", schema: schema::schema }),
            ..of_manager(purpose)
        };
        Some(match self {
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
            Self::Work { agent } => Turn::of(Some(agent.clone()), ThreadId::of_agent(agent), "to work"),
            Self::Build => {
                Turn { layout: Some(LayoutName::Director), bundle: Some(DIRECTOR), ..of_manager("to go on") }
            }
            Self::User { .. } | Self::Tools { .. } => return None,
        })
    }

    /// Whether it contains words of the turn by which it became due, or of a message.
    pub(super) fn has_words(&self) -> bool {
        matches!(self, Self::Repair { .. } | Self::Form { .. } | Self::Check { .. })
    }

    /// Whether it depends on this agent: on what it did, or is to do.
    pub(super) fn waits_for(&self, name: &AgentName) -> bool {
        matches!(self, Self::Work { agent } | Self::Check { agent, .. } | Self::Tools { agent, .. } if agent == name)
    }

    /// The thread in which `agent` called the tools whose results are awaited.
    pub(super) fn called_in(agent: &AgentName, thread: Option<&ThreadId>) -> ThreadId {
        thread.cloned().unwrap_or_else(|| ThreadId::of_agent(agent))
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
