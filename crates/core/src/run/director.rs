//! The work of a director: the manager builds a workflow with the user. It is asked with the layout `director`, calls
//! Callboard's own tools until it has nothing more to do, and then says so to the user. What the user says next begins another
//! run.

use serde::{Deserialize, Serialize};

use crate::{
    agent::DIRECTOR,
    conversation,
    decision::{DecisionBuilder, Undecided},
    id::{AgentName, ThreadId},
    prompt::LayoutName,
    run::outcome::{ReplyOutcome, called, entries_of, said},
    run::tools::{self, Called, Caller},
    run::turn::{Turn, Who},
    run::{Due, TurnReply},
    tool::DIRECTOR_TOOLS,
};

/// What is due in the work of a director.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Duty {
    /// The director is to go on.
    Build,
}

impl Duty {
    /// The turn.
    pub(super) fn turn(&self) -> Turn {
        match self {
            Self::Build => Turn {
                layout: Some(LayoutName::Director),
                bundle: Some(DIRECTOR),
                ..Turn::of(Who::Manager, ThreadId::main(), "to go on")
            },
        }
    }
}

/// Records the director's answer. Calls of tools come first; without any the run has come to its end.
pub(super) fn answer(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    director: &AgentName,
) -> Result<ReplyOutcome, Undecided> {
    let (main, said) = (ThreadId::main(), said(reply));
    let calls = called(&said);
    let copied_from = entries_of(&conversation::decide::say(decision, &main, &said)?);
    let spoken = |due: Due| ReplyOutcome { is_message: true, ..ReplyOutcome::due(due) };
    if calls.is_empty() {
        return Ok(ReplyOutcome { completed: true, ..spoken(Duty::Build.into()) });
    }
    let caller = Caller { agent: director, thread: Some(main), own_tools: Some(DIRECTOR_TOOLS.as_slice()) };
    let Called { wait, all_refused } = tools::call(decision, &caller, calls)?;
    Ok(ReplyOutcome { idle: all_refused, copied_from, ..spoken(wait.map_or_else(|| Duty::Build.into(), Due::from)) })
}
