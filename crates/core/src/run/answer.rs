//! What follows from a model's answer, whatever kind of run it is: all of it lands in one append.

use crate::{
    conversation::{self, NewMessage, Role, ToolCall},
    decision::{DecisionBuilder, Undecided},
    entry::Actor,
    error::{ConflictKind, Error},
    id::{AgentName, RunId, ThreadId},
    json, rights,
    run::decide::driven,
    run::facts::{Ended, Paused, TurnAnswered, TurnFailed},
    run::sight::no_answer,
    run::{Due, Halt, Status, TurnFailure, TurnReply, Wait},
    step,
    text::Text,
};

/// Takes in that a model gave no answer: the run is held, and can be resumed.
pub(crate) fn fail(decision: &mut DecisionBuilder<'_>, failure: &TurnFailure) -> Result<(), Error> {
    rights::system(decision, "bring a failure")?;
    let (agent, _) = pending(decision, &failure.run, failure.epoch, failure.turn)?;
    failed(decision, failure, agent);
    Ok(())
}

fn failed(decision: &mut DecisionBuilder<'_>, failure: &TurnFailure, agent: AgentName) {
    let TurnFailure { run, turn, error, .. } = failure.clone();
    let held = decision.state.runs.get(&run).is_ok_and(|run| run.halt.is_some());
    let reason = format!("{}: {error}", no_answer(&agent));
    decision.record(TurnFailed { run: run.clone(), turn, agent: agent.clone(), error });
    if !held {
        decision.record(Paused { run, reason, agent: Some(agent) });
    }
}

/// Takes in what a model answered. Whatever it is, the run can go on.
pub(crate) fn answer(decision: &mut DecisionBuilder<'_>, reply: &TurnReply) -> Result<(), Undecided> {
    rights::system(decision, "bring an answer")?;
    let (agent, due) = pending(decision, &reply.run, reply.epoch, reply.turn)?;
    if reply.text.trim().is_empty() && reply.tool_calls.is_empty() {
        let TurnReply { run, epoch, turn, .. } = reply.clone();
        failed(decision, &TurnFailure { run, epoch, turn, error: "the model said nothing".to_owned() }, agent);
        return Ok(());
    }
    let driver = std::mem::replace(&mut decision.by, Actor::Agent(agent.clone()));
    let duty = due.duty().ok_or_else(|| not_pending(&reply.run, reply.turn))?;
    let outcome = duty.answer(decision, reply)?;
    let said = match outcome.is_message {
        true => None,
        false => Some(Text::keep(&reply.text, "the answer", &mut decision.values)?),
    };
    let TurnReply { run, turn, usage, cut_off, .. } = reply.clone();
    decision.by = driver;
    decision.record(TurnAnswered {
        run: run.clone(),
        turn,
        agent,
        said,
        usage,
        cut_off,
        due: outcome.due,
        idle: outcome.idle,
    });
    if outcome.completed {
        decision.record(Ended { run, halt: Halt { status: Status::Completed, reason: None } });
    }
    Ok(())
}

/// Whose turn it is that waits for an answer, and what it was asked for.
fn pending(decision: &DecisionBuilder<'_>, run: &RunId, epoch: u64, turn: u64) -> Result<(AgentName, Due), Error> {
    let run = driven(decision, run, epoch)?;
    let agent = run.due.turn().map(|turn| turn.agent(&decision.state.team)).transpose()?;
    match (&run.pending, agent) {
        (Some(pending), Some(agent)) if pending.turn == turn => {
            let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &decision.state.threads);
            Ok((agent, due))
        }
        _ => Err(not_pending(&run.id, turn)),
    }
}

fn not_pending(run: &RunId, turn: u64) -> Error {
    Error::Conflict {
        kind: ConflictKind::TurnNotPending,
        what: format!("turn {turn} of the run {run} waits for no answer"),
        hint: "it was answered before, or never requested",
    }
}

/// What an answer leads to.
pub(crate) struct Outcome {
    pub(super) due: Due,
    /// Whether what was said became a message, so that it need not be kept twice.
    pub(super) is_message: bool,
    /// Whether nothing came of it.
    pub(super) idle: bool,
    /// Whether the work is done.
    pub(super) completed: bool,
}

impl Outcome {
    pub(super) fn due(due: impl Into<Due>) -> Self {
        Self { due: due.into(), is_message: false, idle: false, completed: false }
    }
}

/// Notes the calls of tools that the steps allow, each as a use of its tool; the others get their refusal as result. Says
/// for which results the run has to wait, if for any.
pub(super) fn call_tools(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    agent: &AgentName,
    calls: Vec<ToolCall>,
) -> Result<Option<Wait>, Undecided> {
    if decision.state.session.settings.steps.is_empty() {
        return Ok(Some(Wait::Tools { agent: agent.clone(), calls }));
    }
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        match step::decide::call(decision, &call.name.as_str().into()) {
            Ok(()) => allowed.push(call),
            Err(reason) => refused.push(NewMessage {
                tool_call_id: Some(call.id),
                ..NewMessage::text(Role::Tool, format!("[not done: {reason}]"))
            }),
        }
    }
    conversation::decide::say(decision, thread, &refused)?;
    Ok((!allowed.is_empty()).then(|| Wait::Tools { agent: agent.clone(), calls: allowed }))
}

/// The call, with arguments that can be read back: those that are nested too deep are kept as the text that they are.
pub(super) fn readable(call: &ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        deep if !json::is_shallow(deep) => deep.to_string().into(),
        arguments => arguments.clone(),
    };
    ToolCall { arguments, ..call.clone() }
}
