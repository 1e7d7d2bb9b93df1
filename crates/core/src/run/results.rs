//! Recording the results of tools.

use std::sync::Arc;

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::{self, MessageReceipt, ToolCall},
    error::{ConflictKind, Error, Fault},
    id::{AgentName, RunId, ThreadId},
    input::InputVisitor,
    rights,
    run::answer::{driven, unended},
    run::facts::{ToolFinished, ToolStarted},
    run::tools::result,
    run::{FinishTool, Run, StartTool, Status, ToolResults, Wait},
};

/// Records that one of Callboard's own tools is about to be executed. The answer is the status of the run: if it is paused,
/// nothing is recorded.
impl Command for StartTool {
    type Answer = Status;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        rights::system(decision, "begin a call of a tool")?;
        let run = driven(decision, &self.run, self.epoch)?;
        if run.halt.is_some() {
            return Ok(run.status());
        }
        let (agent, call) = open(run, &self.tool_call_id)?;
        decision.record(ToolStarted { run: self.run.clone(), agent, tool: call.name, tool_call_id: call.id });
        Ok(Status::Running)
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records the result of one of Callboard's own tools. The answer is the status of the run.
impl Command for FinishTool {
    type Answer = Status;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        rights::system(decision, "bring the result of a tool")?;
        let (agent, call) = open(driven(decision, &self.run, self.epoch)?, &self.tool_call_id)?;
        let thread = ThreadId::of_agent(&agent);
        decision.record(ToolFinished { run: self.run.clone(), agent, tool: call.name, tool_call_id: call.id });
        conversation::decide::say(decision, &thread, &[result(&self.tool_call_id, self.result.clone())])?;
        Ok(decision.state.runs.get(&self.run)?.status())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.result);
    }

    fn texts(&self) -> Vec<Arc<str>> {
        vec![self.result.clone()]
    }
}

/// Records the results of tool calls that a run waits for.
impl Command for ToolResults {
    type Answer = Vec<MessageReceipt>;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Vec<MessageReceipt>, Undecided> {
        tool_results(decision, &self.run, &self.results)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.results.iter_mut().for_each(|(_, result)| visitor.text(result));
    }
}

fn tool_results(
    decision: &mut DecisionBuilder<'_>,
    run: &RunId,
    results: &[(String, String)],
) -> Result<Vec<MessageReceipt>, Undecided> {
    rights::in_charge(decision, "bring the results of tools")?;
    let due = unended(decision, run)?.due.clone();
    let Some(Wait::Tools { agent, calls, .. }) = due.wait() else {
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
    let messages: Vec<_> = results.iter().map(|(id, text)| result(id, text.as_str())).collect();
    conversation::decide::say(decision, &ThreadId::of_agent(agent), &messages)
}

/// The call of one of Callboard's own tools that waits for its result, and whose it is.
fn open(run: &Run, id: &str) -> Result<(AgentName, ToolCall), Error> {
    let found = match run.due.wait() {
        Some(Wait::Tools { agent, own, .. }) => {
            own.iter().find(|call| call.id == id).map(|call| (agent.clone(), call.clone()))
        }
        _ => None,
    };
    found.ok_or_else(|| not_awaited(&run.id))
}

fn not_awaited(run: &RunId) -> Error {
    Error::Conflict {
        kind: ConflictKind::NoToolAwaited,
        what: format!("the run {run} waits for no tool"),
        hint: "look at the run's status",
    }
}
