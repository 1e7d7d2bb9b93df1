//! Runs: a team at work on a task of the user's.
//!
//! A run is a chain of turns. In each turn the model of one agent is asked. The request is in the journal before the model is
//! asked, and the answer is appended together with everything that follows from it. What is due next is in the journal, so a
//! driver can resume a run at any time, also after a crash.

mod answer;
mod decide;
mod due;
pub mod facts;
pub mod next;
mod outcome;
pub mod own;
mod results;
mod sight;
mod task;
mod team;
mod tools;
pub mod turn;
pub mod turn_facts;
pub mod view;

pub use self::{
    due::Due,
    sight::Origin,
    turn::{Output, Turn},
};

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Team,
    calibration::Report,
    conversation::{Message, NewMessage, Role, ToolCall, ToolResult, call_secrets::TakenSecrets},
    count::{BYTES, Counting, Factor, Tokens, Usage},
    entry::{Actor, Hash, Header},
    error::Error,
    id::{AgentName, RunId, Seq, SetName, ThreadId},
    limits::Limits,
    prompt::observed::Observations,
    time::Timestamp,
};

/// A run in the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What kind of run it is.
    pub kind: RunKind,
    /// Why it does not continue; `None` unless it is paused or has ended.
    pub halt: Option<Halt>,
    /// The turn in which the reason for the pause was said, if it was said in one.
    pub halt_origin: Option<Origin>,
    /// What is due.
    pub due: Due,
    /// The turn whose words it contains.
    pub due_origin: Option<Origin>,
    /// Its limits, at which it is paused.
    pub limits: Limits,
    /// What it has used since it was started or resumed. The limits apply to this.
    pub used: Used,
    /// What it has used altogether.
    pub used_in_all: Used,
    /// How many turns were requested.
    pub turns: u64,
    /// The turn that was requested and is not answered yet.
    pub pending: Option<Pending>,
    /// The calls of Callboard's own tools that were started and have no result, each with the entry that says so.
    pub tools_started: BTreeMap<String, Seq>,
    /// How many turns in a row had no result.
    pub idle: u32,
    /// Who drives it.
    pub node: Option<Arc<str>>,
    /// How often it was taken over. Changes with an older epoch are refused.
    pub epoch: u64,
    /// When it was started.
    pub started_at: Timestamp,
}

/// A turn that was requested and is not answered yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Whose model is asked.
    pub agent: AgentName,
    /// The number of the turn in its run, from 1.
    pub turn: u64,
    /// The entry that requested it.
    pub requested: Seq,
    /// When it was requested, or when the run was last taken over.
    pub at: Timestamp,
}

/// What kind of run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunKind))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A manager directs workers.
    Team,
    /// The manager alone builds a workflow with the user, with Callboard's own tools.
    Director,
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
    /// It is paused and can be resumed.
    Paused,
    /// Its task is done.
    Completed,
    /// It could not be done.
    Failed,
    /// It was ended before it was done.
    Cancelled,
}

/// What a run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Used {
    /// Turns that were answered, or failed.
    pub turns: u64,
    /// Tokens of prompts, as the models counted them.
    pub prompt_tokens: u64,
    /// Tokens of answers, as the models counted them.
    pub completion_tokens: u64,
    /// Milliseconds of waiting for models.
    pub milliseconds: u64,
    /// Pages that tools were told to open.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub pages: u64,
}

impl Used {
    /// Adds what else was used.
    pub fn add(&mut self, more: Self) {
        self.turns = self.turns.saturating_add(more.turns);
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(more.completion_tokens);
        self.milliseconds = self.milliseconds.saturating_add(more.milliseconds);
        self.pages = self.pages.saturating_add(more.pages);
    }
}

impl Run {
    /// Where the run is.
    pub fn status(&self) -> Status {
        match (&self.halt, &self.due) {
            (Some(halt), _) => halt.status,
            (None, Due::User { .. }) => Status::AwaitingUser,
            (None, Due::Tools { own, .. }) if own.is_empty() => Status::AwaitingTool,
            (None, _) => Status::Running,
        }
    }

    /// Whether it has ended for good.
    pub fn has_ended(&self) -> bool {
        matches!(self.status(), Status::Completed | Status::Failed | Status::Cancelled)
    }
}

/// The runs in the state of a session. When a run starts, the one before has ended and leaves the state. It stays in the
/// journal, see [`PastRuns`](crate::past_runs::PastRuns).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// The run that was started last, whether or not it has ended.
    pub(crate) newest: Option<Arc<Run>>,
    /// The entry that last requested a turn of each agent, in any run.
    requested: RedBlackTreeMapSync<AgentName, Seq>,
    /// What each agent was last asked with, in a run or outside of one.
    #[serde(default, skip_serializing_if = "RedBlackTreeMapSync::is_empty")]
    asked: RedBlackTreeMapSync<AgentName, Asked>,
    /// With which models agents were asked in each thread: the newest changes of each agent, the newest last.
    #[serde(default, skip_serializing_if = "RedBlackTreeMapSync::is_empty")]
    models: RedBlackTreeMapSync<ThreadId, Vec<ModelSince>>,
    /// The newest turn of each agent outside of runs, where it waits for its answer.
    #[serde(default, skip_serializing_if = "RedBlackTreeMapSync::is_empty")]
    open: RedBlackTreeMapSync<AgentName, Seq>,
    /// The turns outside of runs that wait for the answer to a server that asks the model, each with that server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asking: Vec<(Seq, Arc<str>)>,
    /// What all turns used, by the model; that of models that nobody named under the name "".
    #[serde(default, skip_serializing_if = "RedBlackTreeMapSync::is_empty")]
    used: RedBlackTreeMapSync<Arc<str>, Usage>,
}

/// What an agent was asked with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Its model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The size of its prompt.
    pub tokens: Tokens,
}

/// Since when an agent says things in a thread with one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ModelSince {
    agent: AgentName,
    /// The model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Arc<str>>,
    since: Seq,
}

/// So many changes of an agent's model in a thread are kept.
const MODELS: usize = 16;

impl Runs {
    /// The run with this id, if no other was started since.
    pub fn get(&self, id: &RunId) -> Result<&Run, Error> {
        self.newest().filter(|run| run.id == *id).map(|run| &**run).ok_or_else(|| Error::not_found("run", id))
    }

    /// The run that was started last, whether or not it has ended.
    pub fn newest(&self) -> Option<&Arc<Run>> {
        self.newest.as_ref()
    }

    /// The run that has not ended, if there is one.
    pub fn unfinished(&self) -> Option<&Run> {
        self.newest().filter(|run| !run.has_ended()).map(|run| &**run)
    }

    /// The entry that last requested a turn of this agent, in any run.
    pub fn last_requested(&self, agent: &AgentName) -> Option<Seq> {
        self.requested.get(agent).copied()
    }

    /// The newest turn of this agent outside of runs, where it waits for its answer.
    pub(crate) fn open_turn(&self, agent: &AgentName) -> Option<Seq> {
        self.open.get(agent).copied()
    }

    /// The turns outside of runs that wait for the answer to a server that asks the model, each with that server.
    pub fn asking(&self) -> impl Iterator<Item = (Seq, &Arc<str>)> {
        self.asking.iter().map(|(turn, asker)| (*turn, asker))
    }

    /// The agent whose call in `thread` this is, where the unfinished run waits for its result.
    pub(crate) fn caller_of(&self, thread: &ThreadId, call: &str) -> Option<&AgentName> {
        let Due::Tools { agent, thread: called_in, calls, own, .. } = &self.unfinished()?.due else { return None };
        let is_awaited = calls.iter().chain(own).any(|awaited| awaited.id == call);
        (is_awaited && Due::called_in(agent, called_in.as_ref()) == *thread).then_some(agent)
    }

    /// Notes that a turn outside of runs has its answer, or will have none.
    fn close(&mut self, agent: &AgentName, turn: u64) {
        self.asking.retain(|(asked, _)| asked.0 != turn);
        if self.open_turn(agent) == Some(Seq(turn)) {
            self.open.remove_mut(agent);
        }
    }

    /// What each agent was last asked with, in any run or outside of runs. It may have left the team since.
    pub fn asked(&self) -> impl Iterator<Item = (&AgentName, &Asked)> {
        self.asked.iter()
    }

    /// The model that said the message `seq` as this agent in a thread, where that is known.
    pub fn model_of(&self, agent: &AgentName, thread: &ThreadId, seq: Seq) -> Option<&str> {
        let mut of_agent = self.models.get(thread)?.iter().rev().filter(|one| one.agent == *agent);
        of_agent.find(|one| one.since <= seq)?.model.as_deref()
    }

    /// The entry before which [`model_of`](Self::model_of) may have forgotten models of this agent in a thread; `None` where it has
    /// not.
    pub fn models_forgotten_before(&self, agent: &AgentName, thread: &ThreadId) -> Option<Seq> {
        let mut of_agent = self.models.get(thread)?.iter().filter(|one| one.agent == *agent);
        let first = of_agent.next()?;
        (of_agent.count() + 1 == MODELS).then_some(first.since)
    }

    /// Notes with which model an agent says what it says in a thread from an entry on.
    fn note_model(&mut self, agent: &AgentName, thread: &ThreadId, model: Option<Arc<str>>, since: Seq) {
        let known = self.models.get(thread).map(Vec::as_slice).unwrap_or_default();
        let is_its = |one: &&ModelSince| one.agent == *agent;
        let before = known.iter().rev().find(is_its).and_then(|one| one.model.as_ref());
        if before == model.as_ref() {
            return;
        }
        let is_full = known.iter().filter(is_its).count() == MODELS;
        let oldest = known.iter().position(|one| is_its(&one)).filter(|_| is_full);
        let mut models = known.to_vec();
        if let Some(oldest) = oldest {
            models.remove(oldest);
        }
        models.push(ModelSince { agent: agent.clone(), model, since });
        self.models.insert_mut(thread.clone(), models);
    }

    /// Whether a turn of this agent may wait for its answer, in the newest run or outside of runs. Of several that servers ask at the
    /// same time the newest may be answered first.
    fn is_asking(&self, agent: &AgentName) -> bool {
        let pending = self.newest().and_then(|run| run.pending.as_ref());
        let is_pending = pending.is_some_and(|pending| pending.agent == *agent);
        is_pending || self.open_turn(agent).is_some() || !self.asking.is_empty()
    }

    /// What all turns used, by the model; `None` is a model that nobody named. An answer to an older turn than the last one of its
    /// agent counts for the model of that.
    pub fn used(&self) -> impl Iterator<Item = (Option<&str>, Usage)> {
        self.used.iter().map(|(model, usage)| (Some(&**model).filter(|model| !model.is_empty()), *usage))
    }

    /// Counts what a turn of an agent used.
    fn count(&mut self, agent: &AgentName, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let model = self.asked.get(agent).and_then(|asked| asked.model.clone()).unwrap_or_default();
        let mut used = self.used.get(&model).copied().unwrap_or_default();
        used.add(usage);
        self.used.insert_mut(model, used);
    }

    fn change(&mut self, id: &RunId, change: impl FnOnce(&mut Run)) {
        if let Some(run) = self.newest.as_mut().filter(|run| run.id == *id) {
            change(Arc::make_mut(run));
        }
    }

    /// Changes what is due in the unfinished run, if `next` returns something.
    fn change_due(&mut self, next: impl FnOnce(&Run) -> Option<Due>) {
        let due = self.unfinished().and_then(|run| Some((run.id.clone(), next(run)?)));
        if let Some((id, due)) = due {
            self.change(&id, |run| (run.due, run.idle) = (due, 0));
        }
    }

    /// Handles a new message: one of the user in `main` answers a run that waits for the user; a tool's result answers a run
    /// that waits for it. Which model said what is no answer to a turn is not known.
    pub(crate) fn hear(&mut self, message: &Message, header: &Header) {
        let speaking = message.agent.as_ref().filter(|_| message.role == Role::Ai);
        if let Some(agent) = speaking.filter(|agent| !self.is_asking(agent)) {
            self.note_model(agent, &message.thread_id, None, header.seq);
        }
        let by_user = header.by == Actor::User && message.agent.is_none() && message.role == Role::User;
        self.change_due(|run| match &run.due {
            Due::User { .. } => (by_user && message.thread_id == ThreadId::main()).then(|| run.kind.first()),
            Due::Tools { agent, thread, calls, own, then } => {
                let open = |call: &&ToolCall| message.tool_call_id.as_ref() != Some(&call.id);
                let open = |calls: &[ToolCall]| calls.iter().filter(open).cloned().collect::<Vec<_>>();
                let (calls, own) = (open(calls), open(own));
                let next = || match calls.is_empty() && own.is_empty() {
                    true => then.as_deref().cloned().unwrap_or_else(|| run.kind.after_tools(agent, thread.as_ref())),
                    false => {
                        let (agent, thread, then) = (agent.clone(), thread.clone(), then.clone());
                        Due::Tools { agent, thread, calls, own, then }
                    }
                };
                (message.thread_id == Due::called_in(agent, thread.as_ref())).then(next)
            }
            _ => None,
        });
    }

    /// Handles that an agent has left the team: if the run waited for it, the manager is asked instead.
    pub(crate) fn hear_leave(&mut self, name: &AgentName) {
        let waits = |run: &&Run| run.due.waits_for(name);
        if let Some((id, due)) = self.unfinished().filter(waits).map(|run| (run.id.clone(), run.kind.first())) {
            self.change(&id, |run| (run.pending, run.due) = (None, due));
        }
    }

    /// Handles a change of the team: the answer of a former manager is not needed any more.
    pub(crate) fn hear_team(&mut self, team: &Team) {
        let is_asked = |run: &Run, pending: &Pending| {
            run.due.turn().is_some_and(|turn| turn.agent(team).is_ok_and(|agent| agent == pending.agent))
        };
        let stale = |run: &&Run| run.pending.as_ref().is_some_and(|pending| !is_asked(run, pending));
        if let Some(id) = self.unfinished().filter(stale).map(|run| run.id.clone()) {
            self.change(&id, |run| run.pending = None);
        }
    }

    /// Whether a run waits for the answer to this form.
    pub(crate) fn wait_for_form(&self, name: &SetName) -> bool {
        let due = self.unfinished().map(|run| &run.due);
        matches!(due, Some(Due::User { form: Some(form) }) if form == name)
    }

    /// Handles an answered form: a run that waits for it continues.
    pub(crate) fn hear_form(&mut self, name: &SetName) {
        if self.wait_for_form(name) {
            self.change_due(|run| Some(run.kind.after_form(name)));
        }
    }
}

/// A run to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(example = json!({
    "kind": "team", "input": "Write the release notes.", "limits": {"turns": 20},
})))]
pub struct NewRun {
    /// The kind of run: `team` lets the manager direct workers, `director` lets it build a workflow with the user itself.
    pub kind: RunKind,
    /// The task. It becomes a message of the user in the thread `main`.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub input: Arc<str>,
    /// Its limits. If absent: those of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// The command to take a run over: from now on only turns of this node count.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimRun {
    /// The run.
    pub run: RunId,
    /// Who takes it over.
    pub node: Arc<str>,
}

/// The command to pause a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseRun {
    /// The run.
    pub run: RunId,
    /// Why.
    pub reason: String,
}

/// The command to resume a paused run.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeRun(pub RunId);

/// The command to end a run before it is done.
#[derive(Clone, Debug, PartialEq)]
pub struct CancelRun(pub RunId);

/// Results of tool calls that a run waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResults {
    /// The run.
    pub run: RunId,
    /// The id of each call, with its result.
    pub results: Vec<(String, String)>,
    /// What was taken out of them, each with the number of the result.
    taken: Vec<(usize, TakenSecrets)>,
}

impl ToolResults {
    /// Brings the results of calls in `run`: the id of each, with what it gave.
    pub fn new(run: RunId, results: Vec<(String, String)>) -> Self {
        Self { run, results, taken: Vec::new() }
    }
}

/// The command to record that a model is about to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The model that is asked.
    pub model: String,
    /// Callboard's own tools that are offered besides those of the agent.
    pub tools: BTreeSet<Arc<str>>,
    /// The prompt that it gets.
    pub prompt: PromptRecord,
}

/// The record of a prompt, so that it can be rendered again and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The last entry that it was made from.
    pub at: Seq,
    /// Its layout.
    pub layout: String,
    /// The version of its layout.
    pub layout_version: u32,
    /// Its format. Exports of older versions leave out that it is `openai`.
    #[serde(default = "openai")]
    pub format: String,
    /// The vocabulary that it was counted in.
    pub vocabulary: String,
    /// What a token of the vocabulary came to for the model, where the vocabulary is not the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<Factor>,
    /// How far the count can be trusted.
    pub counting: Counting,
    /// Its budget.
    pub budget: Tokens,
    /// Its size.
    pub tokens: Tokens,
    /// The hash of its rendered form.
    pub sha256: Hash,
    /// The entries that it shows, as ranges with both ends.
    pub shows: Vec<(Seq, Seq)>,
    /// The names of tools in its calls that stand there for another name, each with that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub renamed_tools: BTreeMap<String, String>,
    /// Whether it has pictures or audio, whose size is allowed for and not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_media: bool,
    /// What it shows that was observed outside of the session.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub observed: Observations,
}

fn openai() -> String {
    "openai".to_owned()
}

/// The command to record the answer of a model.
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
    /// What it thought before, in blocks as its provider gave them.
    pub reasoning: Vec<Map<String, Value>>,
    /// What it calls.
    pub tool_calls: Vec<ToolCall>,
    /// What it said, thought and called as messages, in the place of the three: where it thought again after it had begun to speak.
    pub messages: Vec<NewMessage>,
    /// What it used.
    pub usage: Usage,
    /// What the usage teaches about the tokens of the model.
    pub report: Option<Report>,
    /// Whether it was cut off at the length it may have.
    pub cut_off: bool,
    /// Whether the model refused to answer; the text says why.
    pub refused: bool,
}

impl PromptRecord {
    /// What is learned where a provider says that `model` used so many tokens for this prompt. `None` where its tokens are
    /// counted in the model's own vocabulary, and where it has more than texts.
    pub fn report(&self, model: &str, used: u64) -> Option<Report> {
        if self.has_media {
            return None;
        }
        Report::of(model, self.tokens, self.factor?, self.vocabulary == BYTES, Tokens(used))
    }

    /// The same without the hash, where the entry `erased` changed older words after it was made: it may be one of those.
    pub(crate) fn recorded_after(self, erased: Seq) -> Self {
        let sha256 = if erased > self.at { Hash::default() } else { self.sha256 };
        Self { sha256, ..self }
    }
}

/// The command to record that one of Callboard's own tools is about to be executed.
#[derive(Clone, Debug, PartialEq)]
pub struct StartTool {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The call.
    pub tool_call_id: String,
}

/// The command to record the result of one of Callboard's own tools.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishTool {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The call.
    pub tool_call_id: String,
    /// The result for the model.
    pub result: ToolResult,
    /// What it used of models and pages.
    pub used: Used,
}

/// The command to do one of Callboard's own tools that is a command, when it is its turn in a batch, and to record its result
/// with it.
#[derive(Clone, Debug, PartialEq)]
pub struct DoTool {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The call.
    pub call: ToolCall,
}

/// The command to record that a model gave no answer.
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

impl Run {
    /// Counts the usage of the pending turn, which is over.
    fn count(&mut self, usage: Usage, at: Timestamp) {
        let began = self.pending.take().map_or(at, |pending| pending.at);
        let milliseconds = u64::try_from(at.as_millis().saturating_sub(began.as_millis())).unwrap_or(0);
        let Usage { prompt_tokens, completion_tokens } = usage;
        self.add(Used { turns: 1, prompt_tokens, completion_tokens, milliseconds, pages: 0 });
    }

    /// Counts what was used.
    fn add(&mut self, used: Used) {
        self.used.add(used);
        self.used_in_all.add(used);
    }
}

#[cfg(test)]
mod tests;
