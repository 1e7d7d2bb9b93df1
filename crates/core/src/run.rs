//! Runs: a team at work on a task of the user's.
//!
//! A run is a chain of turns. In each, one agent's model is asked: the request is in the journal before the question,
//! and the answer, with all that follows from it, lands in one append. What is due next is part of the journal, so that
//! whoever picks a run up, after a crash too, goes on where it was.

mod answer;
mod next;
mod task;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

pub(crate) use self::answer::{answer, criteria_of, fail};
pub use self::{
    next::{Ask, Next, next},
    task::{check_schema, task},
};
use crate::{
    audience::Audience,
    command::{Deciding, Receipt, Undecided},
    conversation::{self, Message, NewMessage, Role, ThreadUpdated, ToolCall},
    count::{Counting, Tokens},
    entry::{Actor, Hash, Header},
    error::{Error, Fault},
    fact::{Fact, Seen},
    id::{AgentName, MessageId, RunId, Seq, SetName, ThreadId},
    rights,
    session::Share,
    state::State,
    time::Timestamp,
    view::View,
};

/// A run, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What kind of run it is.
    pub kind: Kind,
    /// Whether it is held or has ended; `None` while it is neither.
    pub halt: Option<Halt>,
    /// What is due.
    pub due: Due,
    /// How far it goes before it is paused.
    pub limits: Limits,
    /// What it has used since it was started or resumed, which is what the limits speak of.
    pub used: Used,
    /// What it has used altogether.
    pub used_in_all: Used,
    /// How many turns were requested.
    pub turns: u64,
    /// The turn that was requested and is not answered yet.
    pub pending: Option<Pending>,
    /// How often in a row nothing came of asking.
    pub idle: u32,
    /// Who drives it.
    pub node: Option<Arc<str>>,
    /// How often it was taken over. What comes under an older epoch is refused.
    pub epoch: u64,
    /// When it was started.
    pub started_at: Timestamp,
}

/// A turn that was requested and is not answered yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// The number of the turn in its run, from 1.
    pub turn: u64,
    /// The entry that requested it.
    pub requested: Seq,
    /// When it was requested.
    pub at: Timestamp,
}

/// What kind of run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A manager directs workers.
    Team,
}

/// Why a run does not go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Halt {
    /// What it is.
    pub status: Status,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It goes on by itself.
    Running,
    /// It waits for the user's answer.
    AwaitingUser,
    /// It waits for the results of tools.
    AwaitingTool,
    /// It is held and can be resumed.
    Paused,
    /// Its task is done.
    Completed,
    /// It could not be done.
    Failed,
    /// It was ended before it was done.
    Cancelled,
}

/// What is due in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Due {
    /// The manager is to give a directive.
    Directive,
    /// The manager is to give a directive again, since the last one had faults.
    Repair {
        /// What it said.
        said: Arc<str>,
        /// What was wrong with it.
        faults: Vec<Fault>,
    },
    /// The manager is to say what a form asks for.
    Form {
        /// What the user is asked.
        request: Arc<str>,
    },
    /// A worker is to do what the last message in its thread asks.
    Work {
        /// The worker.
        agent: AgentName,
    },
    /// The manager is to say whether an answer is what was expected.
    Check {
        /// The worker's thread.
        thread: ThreadId,
        /// The message that said what was expected.
        criteria_of: MessageId,
        /// What was expected.
        criteria: Arc<str>,
        /// The answer.
        message_id: MessageId,
        /// The worker.
        agent: AgentName,
    },
    /// The user is to answer.
    User {
        /// The form to fill in, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<SetName>,
    },
    /// The results of tool calls are to be brought.
    Tools {
        /// The worker that called them.
        agent: AgentName,
        /// The calls without a result.
        calls: Vec<ToolCall>,
    },
}

/// How far a run goes before it is paused; what is absent is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// At most this many turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// At most this many tokens, prompts and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// At most this many seconds of waiting for models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Turns that were answered, or failed.
    pub turns: u64,
    /// Tokens of prompts, as the models counted them.
    pub prompt_tokens: u64,
    /// Tokens of answers, as the models counted them.
    pub completion_tokens: u64,
    /// Milliseconds of waiting for models.
    pub milliseconds: u64,
}

/// What a model counted for one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}

impl Run {
    /// Where the run is.
    pub fn status(&self) -> Status {
        match (&self.halt, &self.due) {
            (Some(halt), _) => halt.status,
            (None, Due::User { .. }) => Status::AwaitingUser,
            (None, Due::Tools { .. }) => Status::AwaitingTool,
            (None, _) => Status::Running,
        }
    }

    /// Whether it has ended for good.
    pub fn has_ended(&self) -> bool {
        matches!(self.status(), Status::Completed | Status::Failed | Status::Cancelled)
    }

    /// Goes on with `due`, where it waited.
    fn go_on(&mut self, due: Due) {
        (self.due, self.idle) = (due, 0);
    }
}

/// The runs of a session, by the entry that started them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runs(RedBlackTreeMapSync<RunId, Arc<Run>>);

impl Runs {
    /// The run with this id.
    pub fn get(&self, id: &RunId) -> Result<&Run, Error> {
        self.0.get(id).map(|run| &**run).ok_or_else(|| Error::not_found("run", id))
    }

    /// All runs.
    pub fn iter(&self) -> impl Iterator<Item = &Run> {
        self.0.values().map(|run| &**run)
    }

    /// The run that has not ended, if there is one.
    pub fn unfinished(&self) -> Option<&Run> {
        self.iter().find(|run| !run.has_ended())
    }

    fn change(&mut self, id: &RunId, change: impl FnOnce(&mut Run)) {
        if let Some(mut run) = self.0.get(id).cloned() {
            change(Arc::make_mut(&mut run));
            self.0.insert_mut(id.clone(), run);
        }
    }

    /// Takes in a message: the user's in `main` answers a run that waits for the user, a tool's result one that waits
    /// for it.
    pub(crate) fn hear(&mut self, message: &Message, header: &Header) {
        let Some(run) = self.unfinished() else { return };
        let by_user = header.by == Actor::User && message.agent.is_none() && message.role == Role::User;
        let go_on = match &run.due {
            Due::User { .. } if by_user && message.thread_id == ThreadId::main() => Due::Directive,
            Due::Tools { agent, calls } if message.thread_id == ThreadId::of_agent(agent) => {
                let open = |call: &&ToolCall| message.tool_call_id.as_ref() != Some(&call.id);
                let calls: Vec<_> = calls.iter().filter(open).cloned().collect();
                if calls.is_empty() {
                    Due::Work { agent: agent.clone() }
                } else {
                    Due::Tools { agent: agent.clone(), calls }
                }
            }
            _ => return,
        };
        let id = run.id.clone();
        self.change(&id, |run| run.go_on(go_on));
    }

    /// Takes in that a form was answered: a run that waits for it goes on.
    pub(crate) fn hear_form(&mut self, name: &SetName) {
        let waits = |run: &&Run| matches!(&run.due, Due::User { form: Some(form) } if form == name);
        if let Some(id) = self.unfinished().filter(waits).map(|run| run.id.clone()) {
            self.change(&id, |run| run.go_on(Due::Directive));
        }
    }
}

/// A run that is to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// What kind of run.
    pub kind: Kind,
    /// The user's task.
    pub input: Arc<str>,
    /// How far it goes; the session's limits, where it is absent.
    pub limits: Option<Limits>,
}

/// What is noted before a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The model that is asked.
    pub model: String,
    /// The prompt that it gets.
    pub prompt: PromptRecord,
}

/// What is kept of a prompt, so that it can be rendered again and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The last entry that it was made from.
    pub at: Seq,
    /// Its layout.
    pub layout: String,
    /// The version of its layout.
    pub layout_version: u32,
    /// The vocabulary that it was counted in.
    pub vocabulary: String,
    /// How far the count can be trusted.
    pub counting: Counting,
    /// What it had to fit in.
    pub budget: Tokens,
    /// Its size.
    pub tokens: Tokens,
    /// The hash of its rendered form.
    pub sha256: Hash,
    /// The entries that it shows, as ranges with both ends.
    pub shows: Vec<(Seq, Seq)>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReply {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The turn.
    pub turn: u64,
    /// What it said.
    pub text: Arc<str>,
    /// What it calls.
    pub tool_calls: Vec<ToolCall>,
    /// What it used.
    pub usage: Usage,
    /// Whether it was cut off at the length it may have.
    pub cut_off: bool,
}

/// That a model gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnFailure {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The turn.
    pub turn: u64,
    /// Why.
    pub error: String,
}

/// A run was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    run: RunId,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    limits: Limits,
}

/// A run was taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    run: RunId,
    node: Arc<str>,
    epoch: u64,
}

/// A run was held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paused {
    run: RunId,
    reason: String,
}

/// A held run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    run: RunId,
}

/// A run ended: it is `completed`, `failed` or `cancelled`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    run: RunId,
    #[serde(flatten)]
    halt: Halt,
}

/// A model is about to be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRequested {
    /// The run.
    pub run: RunId,
    /// The number of the turn in its run, from 1.
    pub turn: u64,
    /// Whose model it is.
    pub agent: AgentName,
    /// What it is asked for.
    pub due: Due,
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt: PromptRecord,
}

/// A model answered. What it said is here only where it did not become a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswered {
    /// The run.
    pub run: RunId,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<crate::text::Text>,
    /// What it used.
    pub usage: Usage,
    /// Whether it was cut off at the length it may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// What is due now.
    pub due: Due,
    /// Whether nothing came of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

/// A model gave no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// The run.
    pub run: RunId,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// Why.
    pub error: String,
}

/// Gives the facts of runs what they have in common: they are about the run, and for the user and the manager, or for
/// all where the session shares runs.
macro_rules! run_fact {
    ($type:ty, $name:literal, $apply:expr) => {
        impl Fact for $type {
            const TYPE: &'static str = $name;

            fn subject(&self) -> String {
                format!("run:{}", self.run)
            }

            fn audience(&self, before: &State) -> Audience {
                let shared = before.session.settings.share.contains(&Share::Runs);
                if shared { Audience::All } else { before.team.managers() }
            }

            fn apply(self, state: &mut State, header: &Header) {
                let apply: fn(Self, &mut State, &Header) = $apply;
                apply(self, state, header);
            }

            fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
                // A run that is shared shows its course to workers, not what was said in it.
                let worded = matches!(Self::TYPE, "turn.answered" | "turn.requested");
                let may = view.is_in_charge() || (view.state.session.settings.share.contains(&Share::Runs) && !worded);
                if may && view.was_meant(header) { Seen::fact(&self) } else { None }
            }
        }
    };
}

run_fact!(Started, "run.started", |started, state, header| {
    let run = Run {
        id: started.run.clone(),
        kind: started.kind,
        halt: None,
        due: Due::Directive,
        limits: started.limits,
        used: Used::default(),
        used_in_all: Used::default(),
        turns: 0,
        pending: None,
        idle: 0,
        node: None,
        epoch: 0,
        started_at: header.at,
    };
    state.runs.0.insert_mut(started.run, Arc::new(run));
});

run_fact!(Claimed, "run.claimed", |claimed, state, _| {
    state.runs.change(&claimed.run, |run| (run.node, run.epoch) = (Some(claimed.node), claimed.epoch));
});

run_fact!(Paused, "run.paused", |paused, state, _| {
    let halt = Halt { status: Status::Paused, reason: Some(paused.reason) };
    state.runs.change(&paused.run, |run| run.halt = Some(halt));
});

run_fact!(Resumed, "run.resumed", |resumed, state, _| {
    state.runs.change(&resumed.run, |run| (run.halt, run.used, run.idle) = (None, Used::default(), 0));
});

run_fact!(Ended, "run.ended", |ended, state, _| {
    state.runs.change(&ended.run, |run| (run.halt, run.pending) = (Some(ended.halt), None));
});

run_fact!(TurnRequested, "turn.requested", |requested, state, header| {
    let pending = Pending { turn: requested.turn, requested: header.seq, at: header.at };
    state.runs.change(&requested.run, |run| (run.turns, run.pending) = (requested.turn, Some(pending)));
});

run_fact!(TurnAnswered, "turn.answered", |answered, state, header| {
    state.runs.change(&answered.run, |run| {
        run.count(answered.usage, header.at);
        run.idle = match answered.due {
            _ if answered.idle => run.idle.saturating_add(1),
            // Whether anything comes of it is seen when it is given again.
            Due::Repair { .. } => run.idle,
            _ => 0,
        };
        run.due = answered.due;
    });
});

run_fact!(TurnFailed, "turn.failed", |failed, state, header| {
    state.runs.change(&failed.run, |run| run.count(Usage::default(), header.at));
});

impl Run {
    /// Takes in that the pending turn is over.
    fn count(&mut self, usage: Usage, at: Timestamp) {
        let began = self.pending.take().map_or(at, |pending| pending.at);
        let milliseconds = u64::try_from(at.as_millis().saturating_sub(began.as_millis())).unwrap_or(0);
        for used in [&mut self.used, &mut self.used_in_all] {
            used.turns = used.turns.saturating_add(1);
            used.prompt_tokens = used.prompt_tokens.saturating_add(usage.prompt_tokens);
            used.completion_tokens = used.completion_tokens.saturating_add(usage.completion_tokens);
            used.milliseconds = used.milliseconds.saturating_add(milliseconds);
        }
    }
}

/// Starts a run: its input becomes the user's message in `main`.
pub(crate) fn start(deciding: &mut Deciding<'_>, new: &NewRun) -> Result<RunId, Undecided> {
    rights::in_charge(deciding, "start a run")?;
    if deciding.state.team.manager().is_none() {
        return Err(Error::invalid("/kind", "a team run needs a manager: give one agent the role manager").into());
    }
    if new.input.trim().is_empty() {
        return Err(Error::invalid("/input", "say what the team is to do").into());
    }
    if let Some(run) = deciding.state.runs.unfinished() {
        return Err(Error::Conflict {
            code: "run_unfinished",
            what: format!("the run {} has not ended", run.id),
            hint: "wait for it, or cancel it",
        }
        .into());
    }
    let main = ThreadId::main();
    if deciding.state.threads.get(&main).is_none() {
        deciding.record(ThreadUpdated { name: main.clone(), visible_to: deciding.state.team.managers() });
    }
    let run = RunId::of_seq(deciding.next_seq());
    let limits = new.limits.clone().unwrap_or_else(|| deciding.state.session.settings.limits.clone());
    deciding.record(Started { run: run.clone(), kind: new.kind, limits });
    conversation::add(deciding, &main, &[NewMessage::text(Role::User, new.input.clone())])?;
    Ok(run)
}

/// Takes a run over and says under which epoch.
pub(crate) fn claim(deciding: &mut Deciding<'_>, run: &RunId, node: &Arc<str>) -> Result<u64, Error> {
    rights::system(deciding, "take a run over")?;
    let epoch = unended(deciding, run)?.epoch.saturating_add(1);
    deciding.record(Claimed { run: run.clone(), node: node.clone(), epoch });
    Ok(epoch)
}

/// Notes that the agent whose turn is due is about to be asked.
pub(crate) fn request(deciding: &mut Deciding<'_>, request: &TurnRequest) -> Result<(), Error> {
    rights::system(deciding, "request a turn")?;
    let run = driven(deciding, &request.run, request.epoch)?.clone();
    let agent = next::agent(&deciding.state, &run.due)?;
    let (Some(agent), None, None) = (agent, &run.pending, &run.halt) else {
        return Err(Error::Conflict {
            code: "turn_not_due",
            what: format!("no turn of the run {} is due", run.id),
            hint: "look at the run's status",
        });
    };
    let TurnRequest { model, prompt, .. } = request.clone();
    let turn = run.turns.saturating_add(1);
    deciding.record(TurnRequested { run: run.id, turn, agent, due: run.due, model, prompt });
    Ok(())
}

/// Holds a run.
pub(crate) fn pause(deciding: &mut Deciding<'_>, run: &RunId, reason: &str) -> Result<(), Error> {
    rights::in_charge(deciding, "pause a run")?;
    if unended(deciding, run)?.halt.is_none() {
        deciding.record(Paused { run: run.clone(), reason: reason.to_owned() });
    }
    Ok(())
}

/// Lets a held run go on.
pub(crate) fn resume(deciding: &mut Deciding<'_>, run: &RunId) -> Result<(), Error> {
    rights::in_charge(deciding, "resume a run")?;
    if unended(deciding, run)?.halt.is_some() {
        deciding.record(Resumed { run: run.clone() });
    }
    Ok(())
}

/// Ends a run before it is done.
pub(crate) fn cancel(deciding: &mut Deciding<'_>, run: &RunId) -> Result<(), Error> {
    rights::in_charge(deciding, "cancel a run")?;
    unended(deciding, run)?;
    deciding.record(Ended { run: run.clone(), halt: Halt { status: Status::Cancelled, reason: None } });
    Ok(())
}

/// Brings the results of tool calls that a run waits for.
pub(crate) fn tool_results(
    deciding: &mut Deciding<'_>,
    run: &RunId,
    results: &[(String, String)],
) -> Result<Vec<Receipt>, Undecided> {
    rights::in_charge(deciding, "bring the results of tools")?;
    let due = unended(deciding, run)?.due.clone();
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
        return Err(Error::Invalid(faults).into());
    }
    let message = |(id, text): &(String, String)| NewMessage {
        tool_call_id: Some(id.clone()),
        ..NewMessage::text(Role::Tool, text.as_str())
    };
    let messages: Vec<_> = results.iter().map(message).collect();
    conversation::add(deciding, &ThreadId::of_agent(&agent), &messages)
}

/// The run, if it has not ended.
fn unended<'a>(deciding: &'a Deciding<'_>, run: &RunId) -> Result<&'a Run, Error> {
    let run = deciding.state.runs.get(run)?;
    if !run.has_ended() {
        return Ok(run);
    }
    Err(Error::Conflict { code: "run_ended", what: format!("the run {} has ended", run.id), hint: "start another one" })
}

/// The run, if it has not ended and nobody else has taken it over since `epoch`.
fn driven<'a>(deciding: &'a Deciding<'_>, run: &RunId, epoch: u64) -> Result<&'a Run, Error> {
    let run = unended(deciding, run)?;
    if run.epoch == epoch {
        return Ok(run);
    }
    Err(Error::Conflict {
        code: "run_taken_over",
        what: format!("the run {} was taken over by {}", run.id, run.node.as_deref().unwrap_or("another node")),
        hint: "leave it to that one",
    })
}
