//! What comes next in a run: a pure question, so that going on after a crash is the ordinary way of going on.

use crate::{
    agent::Tool,
    conversation::ToolCall,
    error::Error,
    id::AgentName,
    run::{Due, Run, Turn, Wait},
    state::State,
    step::offer::offer,
    tool::OwnTool,
};

/// What comes next in a run.
#[derive(Clone, Debug)]
pub enum Next {
    /// An agent's model is to be asked.
    Ask(Box<Ask>),
    /// One of Callboard's own tools is to be done.
    Call(Call),
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
#[derive(Clone, Debug)]
pub struct Ask {
    /// Whose model is asked.
    pub agent: AgentName,
    /// How it is asked.
    pub turn: Turn,
    /// What it is asked for.
    pub due: Due,
    /// The number of the turn, where it was requested before and has no answer.
    pub requested: Option<super::Pending>,
}

/// A call of one of Callboard's own tools that is to be done.
#[derive(Clone, Debug)]
pub struct Call {
    /// The agent that calls.
    pub agent: AgentName,
    /// What it calls.
    pub call: ToolCall,
    /// Whether somebody began with it before, and it is not known how far that went.
    pub was_started: bool,
}

impl Call {
    /// Whether `tool` may be done for it: one that somebody began before only where doing it twice does no harm.
    pub fn may_be_done(&self, tool: &OwnTool) -> bool {
        !self.was_started || tool.idempotent
    }
}

/// How often in a row nothing may come of asking.
const MAX_IDLE: u32 = 3;

/// Says what comes next in `run`.
pub fn next(state: &State, run: &Run) -> Result<Next, Error> {
    if run.halt.is_some() {
        return Ok(Next::Done);
    }
    let turn = match &run.due {
        Due::Wait(Wait::User { .. }) => return Ok(Next::AwaitUser),
        Due::Wait(Wait::Tools { agent, own, .. }) => {
            let Some(call) = own.first().cloned() else { return Ok(Next::AwaitTool) };
            let was_started = run.tool_started.as_ref() == Some(&call.id);
            return Ok(Next::Call(Call { agent: agent.clone(), call, was_started }));
        }
        due => due.turn(),
    };
    let Some(turn) = turn else { return Ok(Next::Done) };
    let agent = match turn.agent(&state.team) {
        Ok(agent) => agent,
        Err(error) => return Ok(Next::Pause(format!("{error}, and resume the run"))),
    };
    if run.pending.is_none()
        && let Some(reason) = limit(run)
    {
        return Ok(Next::Pause(reason));
    }
    if run.pending.is_none()
        && turn.uses_tools
        && let Err(dead_end) = tools(state, &agent)
    {
        return Ok(Next::Pause(format!("{agent} cannot be asked: {dead_end}; then resume the run")));
    }
    let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &state.threads);
    let turn = due.turn().unwrap_or(turn);
    Ok(Next::Ask(Box::new(Ask { agent, turn, due, requested: run.pending.clone() })))
}

/// Refuses to ask an agent that does not have the tool which is due: whatever it called would be refused.
fn tools(state: &State, agent: &AgentName) -> Result<(), Error> {
    offer(state, state.team.agent(agent)?.tools.iter().map(Tool::bare_name)).map(|_| ())
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
