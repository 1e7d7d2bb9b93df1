//! The work of a director: the manager builds a workflow with the user. It is asked with the layout `director`, calls
//! Callboard's own tools until it has nothing more to do, and then says so to the user. What the user says next begins another
//! run.

use crate::{
    conversation,
    decision::{DecisionBuilder, Undecided},
    id::{AgentName, ThreadId},
    run::outcome::{ReplyOutcome, called, entries_of, said},
    run::tools,
    run::{Due, TurnReply},
};

/// Records the director's answer. Calls of tools come first; without any the run has come to its end.
pub(super) fn answer(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    director: &AgentName,
) -> Result<ReplyOutcome, Undecided> {
    let said = said(reply);
    let calls = called(&said);
    let copied_from = entries_of(&conversation::decide::say(decision, &ThreadId::main(), &said)?);
    if calls.is_empty() {
        return Ok(ReplyOutcome { is_message: true, completed: true, ..ReplyOutcome::due(Due::Build) });
    }
    Ok(ReplyOutcome { is_message: true, copied_from, ..tools::call(decision, director, Due::Build, calls)? })
}
