//! What follows from a model's answer in every kind of run. All of it is in one append.

use std::sync::Arc;

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::{self, NewContent, NewMessage},
    entry::Actor,
    error::{ConflictKind, Error},
    fact::Fact,
    id::{AgentName, RunId, ThreadId},
    input::InputVisitor,
    rights::Right,
    run::facts::{self, Ended, Paused, Started},
    run::outcome::{ReplyOutcome, called, entries_of, said},
    run::sight::no_answer,
    run::tools::{self, main_is_managers},
    run::turn_facts::{TurnAnswered, TurnFailed},
    run::{Due, Halt, Run, Status, TurnFailure, TurnReply, team},
    text::Text,
};

/// Records the answer of a model. Whatever it says, the run can continue. The answer of the command is the status of the run.
impl Command for TurnReply {
    type Answer = Status;

    const RIGHT: Right = Right::system("bring an answer");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let (agent, due) = pending(decision, &self.run, self.epoch, self.turn)?;
        let says_nothing = self.text.trim().is_empty() && self.tool_calls.is_empty() && self.messages.is_empty();
        if says_nothing && !self.refused {
            return fail(decision, self.run.clone(), self.turn, agent, "the model said nothing".to_owned());
        }
        let driver = std::mem::replace(&mut decision.by, Actor::Agent(agent.clone()));
        let outcome = follow(decision, self, &agent, &due)?;
        let said = match outcome.is_message {
            true => None,
            false => Some(Text::keep(&self.text, "the answer", &mut decision.values)?),
        };
        let TurnReply { run, turn, usage, report, cut_off, .. } = self.clone();
        decision.by = driver;
        let mut copied_from = outcome.copied_from;
        if said.is_some() {
            // An answer that is kept whole says what came of it.
            copied_from.extend(decision.recorded_so_far());
            copied_from.sort_unstable();
            copied_from.dedup();
        }
        let answered = TurnAnswered {
            run: Some(run.clone()),
            turn,
            agent,
            said,
            usage: Some(usage),
            report,
            cut_off,
            due: Some(outcome.due),
            idle: outcome.idle,
            message: None,
        };
        decision.copying(copied_from, |decision| decision.record(answered));
        if outcome.completed {
            decision.record(Ended { run, halt: Halt { status: Status::Completed, reason: None } });
        }
        Ok(decision.state.runs.get(&self.run)?.status())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.answer(&mut self.text);
        for message in &mut self.messages {
            if let Some(NewContent::Text(text)) = &mut message.content {
                visitor.answer(text);
            }
        }
        let thoughts = self.messages.iter_mut().map(|message| &mut message.reasoning).chain([&mut self.reasoning]);
        thoughts.for_each(|blocks| conversation::reasoning::input(blocks, visitor));
        let calls = self.messages.iter_mut().flat_map(|message| &mut message.tool_calls).chain(&mut self.tool_calls);
        for call in calls {
            // A model's answer is not refused for what it calls things: it would be paid for once more.
            visitor.given_name(&mut call.id);
            visitor.given_name(&mut call.name);
            // Keys in the arguments take nothing out of them: the program that executes the call needs the values.
            call.input(visitor);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        std::iter::once(self.text.clone()).chain(self.messages.iter().flat_map(NewMessage::counted)).collect()
    }
}

/// Records that a model gave no answer. The answer is the status of the run.
impl Command for TurnFailure {
    type Answer = Status;

    const RIGHT: Right = Right::system("bring a failure");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let (agent, _) = pending(decision, &self.run, self.epoch, self.turn)?;
        fail(decision, self.run.clone(), self.turn, agent, self.error.clone())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.error);
    }
}

/// Records that a model gave no answer. The run is paused, and can be resumed.
fn fail(
    decision: &mut DecisionBuilder<'_>,
    run: RunId,
    turn: u64,
    agent: AgentName,
    error: String,
) -> Result<Status, Undecided> {
    let held = decision.state.runs.get(&run)?.halt.is_some();
    let reason = format!("{}: {error}", no_answer(&agent));
    let said = vec![decision.next_seq()];
    decision.record(TurnFailed { run: Some(run.clone()), turn, agent: agent.clone(), error, usage: None });
    if !held {
        let paused = Paused { run: run.clone(), reason, agent: Some(agent) };
        decision.copying(said, |decision| decision.record(paused));
    }
    Ok(decision.state.runs.get(&run)?.status())
}

/// What follows from the answer of `agent` to what was due.
fn follow(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    agent: &AgentName,
    due: &Due,
) -> Result<ReplyOutcome, Undecided> {
    let calls = !reply.tool_calls.is_empty() || !reply.messages.is_empty();
    let calls = calls && main_is_managers(&decision.state);
    match due {
        Due::Directive | Due::Answered { .. } | Due::Repair { .. } if calls => team::call(decision, reply, agent, due),
        Due::Directive | Due::Answered { .. } => team::direct(decision, reply, false),
        Due::Repair { .. } => team::direct(decision, reply, true),
        Due::Form { request } => team::fill_form(decision, reply, request),
        Due::Work { agent } => team::work(decision, reply, agent),
        Due::Check { thread, criteria_of, message_id, .. } => {
            team::check(decision, reply, thread, criteria_of, message_id);
            Ok(ReplyOutcome::due(Due::Directive))
        }
        Due::Build => build(decision, reply, agent),
        Due::User { .. } | Due::Tools { .. } => Err(not_pending(&reply.run, reply.turn).into()),
    }
}

/// Records the answer of a director: a manager that builds a workflow with the user, without workers. It calls Callboard's own
/// tools until it has nothing more to do, and then says so to the user, which ends the run. What the user says next begins
/// another one.
fn build(
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

/// The agent whose turn waits for an answer, and what is due.
fn pending(decision: &DecisionBuilder<'_>, run: &RunId, epoch: u64, turn: u64) -> Result<(AgentName, Due), Undecided> {
    let run = driven(decision, run, epoch)?;
    match (&run.pending, run.asked(&decision.state)?) {
        (Some(pending), Some(asked)) if pending.turn == turn => Ok(asked),
        _ => Err(not_pending(&run.id, turn).into()),
    }
}

fn not_pending(run: &RunId, turn: u64) -> Error {
    let what = format!("turn {turn} of the run {run} waits for no answer");
    Error::conflict(ConflictKind::TurnNotPending, what, "it was answered before, or never requested")
}

/// The run, if it has not ended and no other driver has taken it over since `epoch`.
pub(super) fn driven<'a>(decision: &'a DecisionBuilder<'_>, run: &RunId, epoch: u64) -> Result<&'a Run, Undecided> {
    let run = unended(decision, run)?;
    if run.epoch == epoch {
        return Ok(run);
    }
    let what = format!("the run {} was taken over by {}", run.id, run.node.as_deref().unwrap_or("another node"));
    Err(Error::conflict(ConflictKind::RunTakenOver, what, "leave it to that one").into())
}

/// The run, if it has not ended.
pub(super) fn unended<'a>(decision: &'a DecisionBuilder<'_>, id: &RunId) -> Result<&'a Run, Undecided> {
    match decision.state.runs.get(id) {
        Ok(run) if !run.has_ended() => Ok(run),
        Err(unknown) if !was_started(decision, id)? => Err(unknown.into()),
        Ok(_) | Err(_) => {
            let what = format!("the run {id} has ended");
            Err(Error::conflict(ConflictKind::RunEnded, what, "start another one").into())
        }
    }
}

/// Whether there is such a run in the journal: a run is named after the entry that started it.
fn was_started(decision: &DecisionBuilder<'_>, id: &RunId) -> Result<bool, Undecided> {
    let Some(seq) = id.seq().filter(|seq| *seq < decision.next_seq()) else { return Ok(false) };
    let entry = decision.entry(seq)?;
    Ok(entry.is_some_and(|entry| *entry.header.kind == *Started::TYPE && entry.header.subject == facts::subject(id)))
}
