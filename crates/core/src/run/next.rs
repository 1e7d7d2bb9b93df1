//! What comes next in a run: a pure question, so that going on after a crash is the ordinary way of going on.

use crate::{
    agent::Team,
    error::{ConflictKind, Error},
    id::{AgentName, ThreadId},
    run::{Due, Run},
    state::State,
    step::offer::offer,
};

/// What comes next in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// An agent's model is to be asked.
    Ask(Ask),
    /// The results of tools are to be brought.
    AwaitTool,
    /// The user is to answer.
    AwaitUser,
    /// It is to be paused, since it is at a limit or gets nowhere: the reason.
    Pause(String),
    /// Nothing: it is held, or has ended.
    Done,
}

/// A turn that is to be taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Whose model is asked.
    pub agent: AgentName,
    /// In which thread the agent speaks.
    pub thread: ThreadId,
    /// What it is asked for.
    pub due: Due,
    /// The number of the turn, where it was requested before and has no answer.
    pub requested: Option<super::Pending>,
}

/// How often in a row nothing may come of asking.
const MAX_IDLE: u32 = 3;

/// Says what comes next in `run`.
pub fn next(state: &State, run: &Run) -> Result<Next, Error> {
    if run.halt.is_some() {
        return Ok(Next::Done);
    }
    let agent = match agent(&state.team, &run.due) {
        Ok(Some(agent)) => agent,
        Ok(None) => return Ok(if matches!(run.due, Due::User { .. }) { Next::AwaitUser } else { Next::AwaitTool }),
        Err(error) => return Ok(Next::Pause(format!("{error}, and resume the run"))),
    };
    if run.pending.is_none()
        && let Some(reason) = limit(run)
    {
        return Ok(Next::Pause(reason));
    }
    if run.pending.is_none()
        && let Err(dead_end) = tools(state, &run.due)
    {
        return Ok(Next::Pause(format!("{agent} cannot be asked: {dead_end}; then resume the run")));
    }
    let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &state.threads);
    Ok(Next::Ask(Ask { agent, thread: due.thread(), due, requested: run.pending.clone() }))
}

/// Whose model is to be asked; `None` where it is not a model's turn.
pub(super) fn agent(team: &Team, due: &Due) -> Result<Option<AgentName>, Error> {
    let manager = || team.manager().map(|agent| agent.name.clone());
    Ok(match due {
        Due::Directive | Due::Answered { .. } | Due::Repair { .. } | Due::Form { .. } | Due::Check { .. } => {
            Some(manager().ok_or_else(no_manager)?)
        }
        Due::Work { agent } => Some(team.agent(agent)?.name.clone()),
        Due::User { .. } | Due::Tools { .. } => None,
    })
}

/// Refuses to ask a worker that does not have the tool which is due: whatever it called would be refused.
fn tools(state: &State, due: &Due) -> Result<(), Error> {
    if let Due::Work { agent } = due {
        offer(state, state.team.agent(agent)?.tools.iter().map(|tool| tool.name.as_str()))?;
    }
    Ok(())
}

/// That a run of a team needs somebody who directs it.
pub(super) fn no_manager() -> Error {
    Error::Conflict {
        kind: ConflictKind::NoManager,
        what: "the team has no manager".to_owned(),
        hint: "give one agent the role manager",
    }
}

/// Why the run is to be paused, if it is.
fn limit(run: &Run) -> Option<String> {
    let tokens = run.used.prompt_tokens.saturating_add(run.used.completion_tokens);
    let over = |used: u64, limit: Option<u64>, what: &str| {
        let limit = limit.filter(|limit| used >= *limit)?;
        Some(format!("the limit of {limit} {what} is reached; resume the run to go on"))
    };
    over(run.used.turns, run.limits.turns, "turns")
        .or_else(|| over(tokens, run.limits.tokens, "tokens"))
        .or_else(|| over(run.used.milliseconds / 1000, run.limits.seconds, "seconds"))
        .or_else(|| {
            let stuck = run.idle >= MAX_IDLE;
            stuck.then(|| {
                format!("nothing came of the last {} turns; say something in main and resume the run", run.idle)
            })
        })
}
