//! Calls of tools: who executes each, and its result for the model.

use std::sync::Arc;

use crate::{
    command::{DecisionBuilder, Undecided},
    conversation::{self, NewMessage, Role, ToolCall},
    id::{AgentName, ThreadId},
    run::Wait,
    step,
    tool::{Execution, OwnTool},
};

/// The result of recording the calls of an answer.
pub(super) struct Called {
    /// The results that the run waits for, if any.
    pub(super) wait: Option<Wait>,
    /// Whether all calls were refused.
    pub(super) all_refused: bool,
}

/// Records the calls of an answer. A call that the steps do not allow gets its refusal as result. Every other call counts as a
/// use of its tool. Own tools that are commands are executed here.
pub(super) fn call(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    agent: &AgentName,
    calls: Vec<ToolCall>,
) -> Result<Called, Undecided> {
    let has_steps = !decision.state.session.settings.steps.is_empty();
    let (mut theirs, mut own, mut results, mut all_refused) = (Vec::new(), Vec::new(), Vec::new(), true);
    for call in calls {
        if has_steps && let Err(reason) = step::decide::call(decision, &call.name.as_str().into()) {
            results.push(result(&call.id, not_done(&reason)));
            continue;
        }
        all_refused = false;
        match own_tool(decision, agent, &call).map(|tool| tool.execution) {
            None => theirs.push(call),
            Some(Execution::Read(_)) => own.push(call),
            Some(Execution::Command(decide)) => {
                let told = match decision.attempt(|decision| decide(decision, &call.arguments)) {
                    Err(Undecided::Refused(refusal)) => not_done(&refusal.to_string()),
                    told => told?,
                };
                results.push(result(&call.id, told));
            }
        }
    }
    conversation::decide::say(decision, thread, &results)?;
    let waits = !theirs.is_empty() || !own.is_empty();
    let wait = waits.then(|| Wait::Tools { agent: agent.clone(), calls: theirs, own });
    Ok(Called { wait, all_refused })
}

fn own_tool(decision: &DecisionBuilder<'_>, agent: &AgentName, call: &ToolCall) -> Option<&'static OwnTool> {
    decision.state.team.agent(agent).ok()?.own_tool(&call.name)
}

/// The message with the result of a call.
pub(super) fn result(call: &str, told: impl Into<Arc<str>>) -> NewMessage {
    NewMessage { tool_call_id: Some(call.to_owned()), ..NewMessage::text(Role::Tool, told) }
}

/// The result of a refused call.
fn not_done(reason: &str) -> String {
    format!("[not done: {reason}]")
}
