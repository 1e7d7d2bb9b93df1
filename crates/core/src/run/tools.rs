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
    tool::{Decide, OwnTool, ToolExecution, in_arguments, own_among, own_tool, sets_variable},
};

/// Who calls tools, and which it may call.
pub(super) struct Caller<'a> {
    pub(super) agent: &'a AgentName,
    /// The thread in which it calls; its own where it is absent.
    pub(super) thread: Option<ThreadId>,
    /// Callboard's own tools that it may call besides those that it has.
    pub(super) own_tools: Option<&'static [&'static str]>,
    /// What is due once all calls have their results.
    pub(super) goes_on: Due,
}

/// Whether managers alone read what is said in `main`. What a manager looks up may be hidden from workers.
pub(super) fn main_is_managers(state: &State) -> bool {
    state.team.managers().covers(&audience_of(state, &ThreadId::main()))
}

/// Records the calls of an answer, and says what follows. A call that the steps do not allow gets its refusal as result. Every
/// other call counts as a use of its tool. Own tools that are commands are executed here, until one comes that is not: those
/// behind it are done when it is their turn.
pub(super) fn call(
    decision: &mut DecisionBuilder<'_>,
    caller: Caller<'_>,
    calls: Vec<ToolCall>,
) -> Result<ReplyOutcome, Undecided> {
    let thread = Due::called_in(caller.agent, caller.thread.as_ref());
    let has_steps = !decision.state.session.settings.steps.is_empty();
    let (mut theirs, mut own, mut results, mut all_refused) = (Vec::new(), Vec::new(), Vec::new(), true);
    let (calling, mut refused) = (decision.recorded_so_far(), BTreeSet::new());
    for call in calls {
        if has_steps && let Err(reason) = step::decide::call(decision, &call.name.as_str().into()) {
            refused.insert(results.len());
            results.push(result(&call.id, not_done(&reason)));
            continue;
        }
        match caller.finds(decision, &thread, &call) {
            Found::Nowhere(told) => {
                refused.insert(results.len());
                results.push(result(&call.id, told));
                continue;
            }
            Found::Theirs => theirs.push(call),
            Found::Own(tool) => match tool.execution {
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
    let Caller { agent, thread, goes_on, .. } = caller;
    let due = match theirs.is_empty() && own.is_empty() {
        true => goes_on,
        false => {
            // What follows from who called where is not noted.
            let then = Some(goes_on).filter(|due| !matches!(due, Due::Directive | Due::Work { .. } | Due::Build));
            Due::Tools { agent: agent.clone(), thread, calls: theirs, own, then: then.map(Box::new) }
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

/// Where a tool is that a model calls.
enum Found {
    /// It is one of Callboard's own.
    Own(&'static OwnTool),
    /// The caller of the run has it.
    Theirs,
    /// Nowhere, and what the model is told.
    Nowhere(String),
}

impl Caller<'_> {
    fn finds(&self, decision: &DecisionBuilder<'_>, thread: &ThreadId, call: &ToolCall) -> Found {
        let Ok(agent) = decision.state.team.agent(self.agent) else { return Found::Theirs };
        let tools = decision.state.threads.tools_of(agent, thread);
        let also = self.own_tools.unwrap_or_default();
        let besides = also.contains(&call.name.as_str()).then(|| own_tool(&call.name).ok()).flatten();
        match own_among(tools, &call.name).or(besides) {
            Some(own) => Found::Own(own),
            None if tools.iter().any(|tool| tool.name == call.name) => Found::Theirs,
            None => {
                let names: Vec<_> = also.iter().copied().chain(tools.iter().map(Tool::bare_name)).collect();
                let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                Found::Nowhere(format!("there is no tool {:?}; there are: {there}", call.name))
            }
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
