//! Calls of tools: who executes each, and its result for the model.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

use crate::{
    agent::Tool,
    command::{DecisionBuilder, Undecided},
    conversation::{self, NewMessage, Role, ToolCall, ToolResult, facts::audience_of},
    id::{AgentName, ThreadId},
    run::{Due, outcome::ReplyOutcome},
    state::State,
    step,
    tool::{Decide, OwnTool, ToolExecution, bundled, in_arguments, own_among, own_tool, sets_variable},
};

/// Whether managers alone read what is said in `main`. What a manager looks up may be hidden from workers.
pub(super) fn main_is_managers(state: &State) -> bool {
    state.team.managers().covers(&audience_of(state, &ThreadId::main()))
}

/// Records the calls of an answer, and says what follows; `goes_on` is what is due once all have their results. A call that the
/// steps do not allow gets its refusal as result. Every other call counts as a use of its tool. Own tools that are commands are
/// executed here, until one comes that is not: those behind it are done when it is their turn.
pub(super) fn call(
    decision: &mut DecisionBuilder<'_>,
    agent: &AgentName,
    goes_on: Due,
    calls: Vec<ToolCall>,
) -> Result<ReplyOutcome, Undecided> {
    // It calls where it speaks.
    let own_thread = ThreadId::of_agent(agent);
    let (thread, bundle) = goes_on.turn().map_or((own_thread.clone(), None), |turn| (turn.thread, turn.bundle));
    let has_steps = !decision.state.session.settings.steps.is_empty();
    let (mut theirs, mut own, mut results, mut all_refused) = (Vec::new(), Vec::new(), Vec::new(), true);
    let (calling, mut refused) = (decision.recorded_so_far(), BTreeSet::new());
    for call in calls {
        let allowed = match has_steps {
            true => step::decide::call(decision, &call.name.as_str().into()).map_err(|reason| not_done(&reason)),
            false => Ok(()),
        };
        match allowed.and_then(|()| find(decision, agent, &thread, bundled(bundle), &call)) {
            Err(told) => {
                refused.insert(results.len());
                results.push(result(&call.id, told));
                continue;
            }
            Ok(None) => theirs.push(call),
            Ok(Some(tool)) => match tool.execution {
                ToolExecution::Command(decide) if own.is_empty() || brings_secret(tool, &call) => {
                    let told = execute(decision, decide, &call.arguments)?;
                    refused.extend(told.is_err().then_some(results.len()));
                    results.push(told.unwrap_or_else(ToolResult::from).message(&call.id));
                }
                ToolExecution::Command(_) | ToolExecution::Read(_) => own.push(call),
            },
        }
        all_refused = false;
    }
    // A result may say again what its tool was called with, and a refusal anything that its answer says.
    let answered = decision.recorded_so_far();
    for (at, result) in results.iter_mut().enumerate() {
        result.copied_from.extend(if refused.contains(&at) { &answered } else { &calling });
    }
    conversation::decide::say(decision, &thread, &results)?;
    let due = match theirs.is_empty() && own.is_empty() {
        true => goes_on,
        false => {
            // What follows from who called where is not noted.
            let then = Some(goes_on).filter(|due| !matches!(due, Due::Directive | Due::Work { .. } | Due::Build));
            let (thread, then) = (Some(thread).filter(|thread| *thread != own_thread), then.map(Box::new));
            Due::Tools { agent: agent.clone(), thread, calls: theirs, own, then }
        }
    };
    Ok(ReplyOutcome { idle: all_refused, ..ReplyOutcome::due(due) })
}

/// Executes a command for a model, and says what it is told of it: its result, or its refusal.
pub(super) fn execute(
    decision: &mut DecisionBuilder<'_>,
    decide: Decide,
    arguments: &Value,
) -> Result<Result<ToolResult, String>, Undecided> {
    let told = decision.attempt(|decision| decide(decision, arguments).map_err(in_arguments));
    let copied_from = std::mem::take(&mut decision.quoted);
    match told {
        Ok(told) => Ok(Ok(ToolResult { copied_from, ..told.into() })),
        Err(Undecided::Refused(refusal)) => Ok(Err(not_done(&refusal.to_string()))),
        Err(missing) => Err(missing),
    }
}

/// The tool that a model calls, where it is one of Callboard's own; none where the caller of the run has it. The refusal is what
/// the model is told where there is none. Those in `also` may be called besides those that it has.
fn find(
    decision: &DecisionBuilder<'_>,
    agent: &AgentName,
    thread: &ThreadId,
    also: &[&str],
    call: &ToolCall,
) -> Result<Option<&'static OwnTool>, String> {
    let Ok(agent) = decision.state.team.agent(agent) else { return Ok(None) };
    let tools = decision.state.threads.tools_of(agent, thread);
    let besides = also.contains(&call.name.as_str()).then(|| own_tool(&call.name).ok()).flatten();
    match own_among(tools, &call.name).or(besides) {
        Some(own) => Ok(Some(own)),
        None if tools.iter().any(|tool| tool.name == call.name) => Ok(None),
        None => {
            let names: Vec<_> = also.iter().copied().chain(tools.iter().map(Tool::bare_name)).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(format!("there is no tool {:?}; there are: {there}", call.name))
        }
    }
}

/// Whether a call brings a secret, which was sealed for this very decision: it cannot be done later.
fn brings_secret(tool: &OwnTool, call: &ToolCall) -> bool {
    sets_variable(tool.name) && call.arguments_text().contains("[hidden")
}

/// The message with the result of a call.
pub(super) fn result(call: &str, told: impl Into<Arc<str>>) -> NewMessage {
    NewMessage { tool_call_id: Some(call.to_owned()), ..NewMessage::text(Role::Tool, told) }
}

/// The result of a refused call.
fn not_done(reason: &str) -> String {
    format!("[not done: {reason}]")
}
