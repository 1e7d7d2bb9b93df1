//! Recording the results of tools.

use std::sync::Arc;

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::call_secrets::{CONTENT, CallJson, Part, RESULT},
    conversation::{self, MessageReceipt, NewMessage, ToolCall, ToolResult},
    entry::Actor,
    erasure::Erased,
    error::{ConflictKind, Error, Fault},
    fact::Fact,
    id::{AgentName, RunId, Seq, ThreadId},
    input::InputVisitor,
    rights::Right,
    run::answer::{driven, unended},
    run::facts::{ToolFinished, ToolStarted},
    run::tools::{execute, result},
    run::{DoTool, Due, FinishTool, Run, StartTool, Status, ToolResults, Used},
    tool::{ToolExecution, own_tool},
};

/// Records that one of Callboard's own tools is about to be executed. The answer is the status of the run: if it is paused,
/// nothing is recorded.
impl Command for StartTool {
    type Answer = Status;

    const RIGHT: Right = Right::system("begin a call of a tool");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let run = driven(decision, &self.run, self.epoch)?;
        if run.halt.is_some() {
            return Ok(run.status());
        }
        let Open { agent, call, .. } = open(run, &self.tool_call_id)?;
        decision.record(ToolStarted { run: self.run.clone(), agent, tool: call.name, tool_call_id: call.id });
        Ok(Status::Running)
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records the result of one of Callboard's own tools. The answer is the status of the run.
impl Command for FinishTool {
    type Answer = Status;

    const RIGHT: Right = Right::system("bring the result of a tool");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let run = driven(decision, &self.run, self.epoch)?;
        let open = open(run, &self.tool_call_id)?;
        let started = run.tools_started.get(&self.tool_call_id).copied().unwrap_or(Seq::ZERO);
        let calling = run.due_origin.as_ref().map(|origin| origin.seq);
        if was_erased(decision, self.result.copied_from.iter().copied().chain(calling), started)? {
            return finish(decision, &self.run, open, self.used, &ERASED_MEANWHILE.into());
        }
        finish(decision, &self.run, open, self.used, &self.result)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.result.text);
        self.result.media.iter_mut().for_each(|part| visitor.fields(part));
    }

    fn texts(&self) -> Vec<Arc<str>> {
        self.result.message(&self.tool_call_id).counted()
    }
}

/// What a model is told where a tool read what was erased before its result could be recorded.
const ERASED_MEANWHILE: &str = "[not shown: some of it was erased meanwhile]";

/// Whether words of these entries were erased after the entry `since`.
fn was_erased(
    decision: &DecisionBuilder<'_>,
    entries: impl Iterator<Item = Seq>,
    since: Seq,
) -> Result<bool, Undecided> {
    if decision.state.erased <= since {
        return Ok(false);
    }
    for seq in entries {
        let erasure = decision.entry(seq)?.and_then(|entry| entry.erasure());
        let Some(erasure) = erasure.filter(|erasure| erasure.by > since) else { continue };
        // Where only a secret was hidden in it, that is hidden in what is recorded, too.
        if decision.entry(erasure.by)?.is_some_and(|by| *by.header.kind == *Erased::TYPE) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does one of Callboard's own tools that is a command, in the name of the agent that called it. The answer is the status of
/// the run: if it is paused, nothing is done.
impl Command for DoTool {
    type Answer = Status;

    const RIGHT: Right = Right::system("do a call of a tool");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let run = driven(decision, &self.run, self.epoch)?;
        if run.halt.is_some() {
            return Ok(run.status());
        }
        let open = open(run, &self.call.id)?;
        let ToolExecution::Command(decide) = own_tool(&open.call.name)?.execution else {
            return Err(Error::invalid("/call/name", format!("{} is not a command", open.call.name)).into());
        };
        let driver = std::mem::replace(&mut decision.by, Actor::Agent(open.agent.clone()));
        let told = execute(decision, decide, &self.call.arguments)?;
        decision.by = driver;
        finish(decision, &self.run, open, Used::default(), &told.unwrap_or_else(ToolResult::from))
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.call.input(visitor);
    }
}

/// Records the result of a call. Returns the status of the run.
fn finish(
    decision: &mut DecisionBuilder<'_>,
    run: &RunId,
    open: Open,
    used: Used,
    told: &ToolResult,
) -> Result<Status, Undecided> {
    let Open { agent, thread, call } = open;
    let mut told = told.message(&call.id);
    // It may say again what it was called with, which the turn that called it waits for.
    told.copied_from.extend(decision.state.runs.get(run)?.due_origin.as_ref().map(|origin| origin.seq));
    let (run, tool, tool_call_id) = (run.clone(), call.name, call.id);
    decision.record(ToolFinished { run: run.clone(), agent, tool, tool_call_id, used });
    conversation::decide::say(decision, &thread, &[told])?;
    Ok(decision.state.runs.get(&run)?.status())
}

/// Records the results of tool calls that a run waits for.
impl Command for ToolResults {
    type Answer = Vec<MessageReceipt>;

    const RIGHT: Right = Right::manager("send the results of tools");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Vec<MessageReceipt>, Undecided> {
        let Self { run, results, taken } = self;
        let due = unended(decision, run)?.due.clone();
        let Due::Tools { agent, thread, calls, .. } = &due else {
            return Err(not_awaited(run).into());
        };
        let unknown = results.iter().enumerate().filter(|(_, (id, _))| calls.iter().all(|call| call.id != *id));
        let faults = unknown.map(|(at, (id, _))| Fault {
            pointer: format!("/results/{at}/tool_call_id"),
            problem: format!("no call {id:?} waits for a result"),
        });
        let faults: Vec<_> = faults.collect();
        if !faults.is_empty() {
            return Err(Error::Contradiction { kind: ConflictKind::NoToolCall, faults }.into());
        }
        let message = |(at, (id, text)): (usize, &(String, String))| {
            let own = taken.iter().filter(|(of, _)| *of == at).map(|(_, taken)| taken.clone());
            NewMessage { secrets: own.collect(), ..result(id, text.as_str()) }
        };
        let messages: Vec<_> = results.iter().enumerate().map(message).collect();
        conversation::decide::say(decision, &Due::called_in(agent, thread.as_ref()), &messages)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        for (at, (id, result)) in self.results.iter_mut().enumerate() {
            let part = Part::new(id, RESULT, CallJson::Text(result));
            self.taken.extend(part.take(CONTENT, visitor).map(|taken| (at, taken)));
            visitor.text(result);
        }
    }
}

/// A call of one of Callboard's own tools that waits for its result.
struct Open {
    agent: AgentName,
    /// The thread in which it was called.
    thread: ThreadId,
    call: ToolCall,
}

fn open(run: &Run, id: &str) -> Result<Open, Error> {
    let found = match &run.due {
        Due::Tools { agent, thread, own, .. } => own.iter().find(|call| call.id == id).map(|call| Open {
            agent: agent.clone(),
            thread: Due::called_in(agent, thread.as_ref()),
            call: call.clone(),
        }),
        _ => None,
    };
    found.ok_or_else(|| not_awaited(&run.id))
}

fn not_awaited(run: &RunId) -> Error {
    let what = format!("the run {run} waits for no tool");
    Error::conflict(ConflictKind::NoToolAwaited, what, "look at the run's status")
}
