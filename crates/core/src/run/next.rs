//! What comes next in a run. This is a pure function of the state, so a run continues after a crash as it always does.

use std::sync::Arc;

use crate::{
    agent::Tool,
    browser::scout::{DEPLOY_SCOUT, SCOUTS_AT_ONCE},
    conversation::ToolCall,
    error::Error,
    id::{AgentName, Seq},
    run::{Due, Run, Turn, tools::main_is_managers},
    state::State,
    step::offer::offer,
    tool::{OwnTool, browser::opens_page, bundled, offered},
};

/// What comes next in a run.
#[derive(Clone, Debug)]
pub enum Next {
    /// An agent's model is to be asked.
    Ask(Box<Ask>),
    /// These of Callboard's own tools are to be done, at the same time: one, or several scouts.
    Call(Vec<Call>),
    /// The results of tools are to be brought.
    AwaitTool,
    /// The user is to answer.
    AwaitUser,
    /// It is to be paused for this reason: it has reached a limit, or makes no progress.
    Pause(String),
    /// Nothing: it is paused, or has ended.
    Done,
}

/// The turn to take.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Whose model is asked.
    pub agent: AgentName,
    /// How it is asked.
    pub turn: Turn,
    /// What it is asked for.
    pub due: Due,
    /// The number of the turn, if it was requested before and has no answer.
    pub requested: Option<super::Pending>,
}

/// The call of an own tool to execute.
#[derive(Clone, Debug)]
pub struct Call {
    /// The agent that calls.
    pub agent: AgentName,
    /// What it calls.
    pub call: ToolCall,
    /// The entry that says that it was started, where its outcome is unknown.
    pub started: Option<Seq>,
}

impl Call {
    /// Whether `tool` may be executed: if it was started before, only if it is idempotent.
    pub fn may_be_done(&self, tool: &OwnTool) -> bool {
        self.started.is_none() || tool.idempotent
    }
}

/// The first of these calls, which is next; or all scouts that are called before anything else, at most so many as work at once.
fn at_once(own: &[ToolCall]) -> &[ToolCall] {
    let scouts = own.iter().take(SCOUTS_AT_ONCE).take_while(|call| call.name == DEPLOY_SCOUT).count();
    own.get(..scouts.max(1)).unwrap_or_default()
}

/// So many turns in a row may have no result before the run is paused.
const MAX_IDLE: u32 = 3;

/// Says what comes next in `run`.
pub fn next(state: &State, run: &Run) -> Result<Next, Error> {
    if run.halt.is_some() {
        return Ok(Next::Done);
    }
    let asked = match run.asked(state) {
        Ok(asked) => asked.and_then(|(agent, due)| Some((agent, due.turn()?, due))),
        Err(error) => return Ok(Next::Pause(format!("{error}, and resume the run"))),
    };
    let Some((agent, mut turn, due)) = asked else { return Ok(waiting(run)) };
    if run.pending.is_none()
        && let Some(reason) = limit(run)
    {
        return Ok(Next::Pause(reason));
    }
    if run.pending.is_none()
        && turn.uses_tools
        && turn.output.is_none()
        && let Err(dead_end) = tools(state, &agent, &turn)
    {
        return Ok(Next::Pause(format!("{agent} cannot be asked: {dead_end}; then resume the run")));
    }
    turn.uses_tools &= turn.output.is_none() || main_is_managers(state);
    Ok(Next::Ask(Box::new(Ask { agent, turn, due, requested: run.pending.clone() })))
}

/// What comes next in a run that waits for somebody.
fn waiting(run: &Run) -> Next {
    let Due::Tools { agent, own, .. } = &run.due else { return Next::AwaitUser };
    let calls = at_once(own);
    if calls.is_empty() {
        return Next::AwaitTool;
    }
    if calls.iter().any(|call| opens_page(&call.name) || call.name == DEPLOY_SCOUT)
        && let Some(reason) = pages(run)
    {
        return Next::Pause(reason);
    }
    let call = |call: &ToolCall| Call {
        agent: agent.clone(),
        started: run.tools_started.get(&call.id).copied(),
        call: call.clone(),
    };
    Next::Call(calls.iter().map(call).collect())
}

/// Refuses to ask an agent that lacks the tool which is due, since every call of it would be refused.
fn tools(state: &State, agent: &AgentName, turn: &Turn) -> Result<(), Error> {
    let tools = state.threads.tools_of(state.team.agent(agent)?, &turn.thread);
    let besides = bundled(turn.bundle).iter().copied().map(Arc::from).collect();
    offer(state, offered(tools, &besides).iter().map(Tool::bare_name)).map(|_| ())
}

/// Why the run is to be paused, if it is.
fn limit(run: &Run) -> Option<String> {
    let tokens = run.used.prompt_tokens.saturating_add(run.used.completion_tokens);
    over(run.used.turns, run.limits.turns, "turns")
        .or_else(|| over(tokens, run.limits.tokens, "tokens"))
        .or_else(|| over(run.used.milliseconds / 1000, run.limits.seconds, "seconds"))
        .or_else(|| pages(run))
        .or_else(|| {
            let stuck = run.idle >= MAX_IDLE;
            stuck.then(|| {
                format!("nothing came of the last {} turns; say something in main and resume the run", run.idle)
            })
        })
}

/// Why the run is to be paused before it opens another page, if it is.
fn pages(run: &Run) -> Option<String> {
    over(run.used.pages, run.limits.pages, "pages")
}

fn over(used: u64, limit: Option<u64>, what: &str) -> Option<String> {
    let limit = limit.filter(|limit| used >= *limit)?;
    Some(format!("the limit of {limit} {what} is reached; resume the run to go on"))
}
