//! Starting, taking over, holding and ending runs.

use std::sync::Arc;

use crate::{
    audience::Audience,
    conversation::facts::ThreadUpdated,
    conversation::{self, NewMessage, Role},
    decision::{DecisionBuilder, Receipt, Undecided},
    error::{Error, Fault},
    id::{RunId, ThreadId},
    rights,
    run::facts::{Claimed, Ended, Paused, Resumed, Started, TurnRequested},
    run::{Due, Halt, NewRun, Run, Status, TurnRequest, next},
};

/// Starts a run: its input becomes the user's message in `main`.
pub(crate) fn start(decision: &mut DecisionBuilder<'_>, new: &NewRun) -> Result<RunId, Undecided> {
    rights::in_charge(decision, "start a run")?;
    if decision.state.team.manager().is_none() {
        return Err(next::no_manager().into());
    }
    if new.input.trim().is_empty() {
        return Err(Error::invalid("/input", "say what the team is to do").into());
    }
    if let Some(run) = decision.state.runs.unfinished() {
        return Err(Error::Conflict {
            code: "run_unfinished",
            what: format!("the run {} has not ended", run.id),
            hint: "wait for it, or cancel it",
        }
        .into());
    }
    let main = ThreadId::main();
    if let Some(thread) = decision.state.threads.get(&main) {
        check_covers(&thread.sight.audience, &decision.state.team.managers())?;
    } else {
        decision.record(ThreadUpdated { name: main.clone(), visible_to: decision.state.team.managers() });
    }
    let run = RunId::of_seq(decision.next_seq());
    let limits = new.limits.clone().unwrap_or_else(|| decision.state.session.settings.limits.clone());
    decision.record(Started { run: run.clone(), kind: new.kind, limits });
    conversation::decide::say(decision, &main, &[NewMessage::text(Role::User, new.input.clone())])?;
    Ok(run)
}

/// Refuses a thread `main` that the manager of a run does not see.
fn check_covers(main: &Audience, managers: &Audience) -> Result<(), Error> {
    if main.covers(managers) {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "main_hidden",
        what: format!("the thread main is visible to {main}, and the manager is not among them"),
        hint: "make it visible to the manager first",
    })
}

/// Takes a run over and says under which epoch.
pub(crate) fn claim(decision: &mut DecisionBuilder<'_>, run: &RunId, node: &Arc<str>) -> Result<u64, Error> {
    rights::system(decision, "take a run over")?;
    let epoch = unended(decision, run)?.epoch.saturating_add(1);
    decision.record(Claimed { run: run.clone(), node: node.clone(), epoch });
    Ok(epoch)
}

/// Notes that the agent whose turn is due is about to be asked.
pub(crate) fn request(decision: &mut DecisionBuilder<'_>, request: &TurnRequest) -> Result<(), Error> {
    rights::system(decision, "request a turn")?;
    let run = driven(decision, &request.run, request.epoch)?.clone();
    let agent = next::agent(&decision.state.team, &run.due)?;
    let (Some(agent), None, None) = (agent, &run.pending, &run.halt) else {
        return Err(Error::Conflict {
            code: "turn_not_due",
            what: format!("no turn of the run {} is due", run.id),
            hint: "look at the run's status",
        });
    };
    let TurnRequest { model, prompt, .. } = request.clone();
    let turn = run.turns.saturating_add(1);
    let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &decision.state.threads);
    decision.record(TurnRequested { run: run.id, turn, agent, due, model, prompt });
    Ok(())
}

/// Holds a run.
pub(crate) fn pause(decision: &mut DecisionBuilder<'_>, run: &RunId, reason: &str) -> Result<(), Error> {
    rights::in_charge(decision, "pause a run")?;
    if unended(decision, run)?.halt.is_none() {
        decision.record(Paused { run: run.clone(), reason: reason.to_owned(), agent: None });
    }
    Ok(())
}

/// Lets a held run go on.
pub(crate) fn resume(decision: &mut DecisionBuilder<'_>, run: &RunId) -> Result<(), Error> {
    rights::in_charge(decision, "resume a run")?;
    if unended(decision, run)?.halt.is_some() {
        decision.record(Resumed { run: run.clone() });
    }
    Ok(())
}

/// Ends a run before it is done.
pub(crate) fn cancel(decision: &mut DecisionBuilder<'_>, run: &RunId) -> Result<(), Error> {
    rights::in_charge(decision, "cancel a run")?;
    unended(decision, run)?;
    decision.record(Ended { run: run.clone(), halt: Halt { status: Status::Cancelled, reason: None } });
    Ok(())
}

/// Brings the results of tool calls that a run waits for.
pub(crate) fn tool_results(
    decision: &mut DecisionBuilder<'_>,
    run: &RunId,
    results: &[(String, String)],
) -> Result<Vec<Receipt>, Undecided> {
    rights::in_charge(decision, "bring the results of tools")?;
    let due = unended(decision, run)?.due.clone();
    let Due::Tools { agent, calls } = due else {
        return Err(Error::Conflict {
            code: "no_tool_awaited",
            what: format!("the run {run} waits for no tool"),
            hint: "look at the run's status",
        }
        .into());
    };
    let unknown = results.iter().enumerate().filter(|(_, (id, _))| calls.iter().all(|call| call.id != *id));
    let faults = unknown.map(|(at, (id, _))| Fault {
        pointer: format!("/results/{at}/tool_call_id"),
        problem: format!("no call {id:?} waits for a result"),
    });
    let faults: Vec<_> = faults.collect();
    if !faults.is_empty() {
        return Err(Error::Contradiction { code: "no_tool_call", faults }.into());
    }
    let message = |(id, text): &(String, String)| NewMessage {
        tool_call_id: Some(id.clone()),
        ..NewMessage::text(Role::Tool, text.as_str())
    };
    let messages: Vec<_> = results.iter().map(message).collect();
    conversation::decide::say(decision, &ThreadId::of_agent(&agent), &messages)
}

/// The run, if it has not ended.
fn unended<'a>(decision: &'a DecisionBuilder<'_>, run: &RunId) -> Result<&'a Run, Error> {
    let run = decision.state.runs.get(run)?;
    if !run.has_ended() {
        return Ok(run);
    }
    Err(Error::Conflict { code: "run_ended", what: format!("the run {} has ended", run.id), hint: "start another one" })
}

/// The run, if it has not ended and nobody else has taken it over since `epoch`.
pub(super) fn driven<'a>(decision: &'a DecisionBuilder<'_>, run: &RunId, epoch: u64) -> Result<&'a Run, Error> {
    let run = unended(decision, run)?;
    if run.epoch == epoch {
        return Ok(run);
    }
    Err(Error::Conflict {
        code: "run_taken_over",
        what: format!("the run {} was taken over by {}", run.id, run.node.as_deref().unwrap_or("another node")),
        hint: "leave it to that one",
    })
}
