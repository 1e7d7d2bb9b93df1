//! What follows from the answer of a director.

use super::Duty;
use crate::{
    conversation,
    decision::{DecisionBuilder, Undecided},
    id::{AgentName, ThreadId},
    run::outcome::{ReplyOutcome, called, entries_of, said},
    run::tools::{self, Called, Caller},
    run::{Due, TurnReply},
    tool::DIRECTOR_TOOLS,
};

/// Records the director's answer. Calls of tools come first; without any the run has come to its end.
pub(in crate::run) fn answer(
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
