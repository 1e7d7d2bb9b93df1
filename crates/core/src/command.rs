//! Commands: every change there is, and how one is decided.

pub use crate::{
    answer::Answer,
    decision::{Asked, Known, Receipt, Undecided},
};

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    access_token::{self, NewAccessToken},
    audience::Audience,
    context_set::{self, PutSet},
    conversation::{self, NewMessage},
    decision::DecisionBuilder,
    directive,
    entry::{Actor, Entry},
    error::Error,
    file::{self, ContextFile},
    form,
    id::{RunId, SetName, ThreadId},
    idempotency::{self, Request, facts::Answered},
    run::{self, NewRun, TurnFailure, TurnReply, TurnRequest},
    session::{self, NewSession, SessionPatch},
    state::State,
    step::{self, StepsChange},
    text::Values,
};

/// A change that somebody asks for. It is checked against the state and answered, item by item where it has items.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Make the session.
    CreateSession(NewSession),
    /// Change its settings or its team.
    UpdateSession(SessionPatch),
    /// Create or change a context set.
    PutSet(PutSet),
    /// Delete a context set.
    DeleteSet(SetName),
    /// Answer a form.
    SubmitForm(SetName, Map<String, Value>),
    /// Apply a manager's directive: its structured output, or a text in the fallback's grammar.
    Direct(Value),
    /// Say who sees a thread.
    PutThread(ThreadId, Audience),
    /// Add messages to a thread, all or none.
    AddMessages(ThreadId, Vec<NewMessage>),
    /// Start a run.
    StartRun(NewRun),
    /// Take a run over: from now on only this node's turns count.
    ClaimRun {
        /// The run.
        run: RunId,
        /// Who takes it over.
        node: Arc<str>,
    },
    /// Note that a model is about to be asked.
    RequestTurn(TurnRequest),
    /// Take in what a model answered, and all that follows from it.
    AnswerTurn(TurnReply),
    /// Take in that a model gave no answer.
    FailTurn(TurnFailure),
    /// Hold a run.
    PauseRun(RunId, String),
    /// Let a held run go on.
    ResumeRun(RunId),
    /// End a run.
    CancelRun(RunId),
    /// Bring the results of tool calls that a run waits for: call id and result.
    ToolResults(RunId, Vec<(String, String)>),
    /// Go on among the steps.
    Steps(StepsChange),
    /// Note which context files there are: all of them.
    ObserveFiles(Vec<ContextFile>),
    /// Make a token.
    CreateToken(NewAccessToken),
    /// Revoke a token.
    RevokeToken(Arc<str>),
    /// Several of these, all or none.
    All(Vec<Command>),
    /// Any of these, for a request that carries a key.
    Keyed(Request, Box<Command>),
}

impl Command {
    /// The texts that deciding it counts, so that whoever asks can count long ones before, where nothing waits for it.
    pub fn texts(&self) -> Vec<Arc<str>> {
        match self {
            Self::PutSet(put) => vec![put.content.clone()],
            Self::AddMessages(_, messages) => messages.iter().flat_map(NewMessage::counted).collect(),
            Self::AnswerTurn(reply) => vec![reply.text.clone()],
            Self::Direct(Value::Object(fields)) => {
                let sets = fields.get("contextSetUpdate").and_then(|update| update.get("contextSets")?.as_array());
                let contexts = sets.into_iter().flatten().filter_map(|set| set.get("context")?.as_str());
                contexts.map(Arc::from).collect()
            }
            Self::Keyed(_, command) => command.texts(),
            Self::All(commands) => commands.iter().flat_map(Self::texts).collect(),
            _ => Vec::new(),
        }
    }
}

/// The entries that a command leads to, to be appended whole or not at all.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The entries, numbered on from the state's head. None where nothing changes.
    pub entries: Vec<Entry>,
    /// The long texts that they speak of.
    pub values: Values,
    /// The answer, once they are appended.
    pub answer: Answer,
    /// The state after them.
    pub state: State,
}

/// Says which entries `command` leads to, if any, and how it is answered. Changes nothing.
pub fn decide(state: &State, command: &Command, asked: Asked<'_>) -> Result<Decision, Undecided> {
    let by = asked.by.clone();
    let mut decision = DecisionBuilder { state: state.clone(), by, asked, entries: Vec::new(), values: Values::new() };
    let answer = decision.decide(command)?;
    let DecisionBuilder { state, entries, values, .. } = decision;
    Ok(Decision { entries, values, answer, state })
}

impl DecisionBuilder<'_> {
    fn decide(&mut self, command: &Command) -> Result<Answer, Undecided> {
        if !matches!(command, Command::CreateSession(_)) && self.state.session.id.is_none() {
            return Err(Error::not_found("session", "here").into());
        }
        if let Actor::Agent(name) = &self.by {
            self.state.team.agent(name)?;
        }
        let done = |()| Answer::Done;
        Ok(match command {
            Command::CreateSession(new) => session::decide::create(self, new).map(done)?,
            Command::UpdateSession(patch) => session::decide::update(self, patch).map(done)?,
            Command::PutSet(put) => Answer::Directed(context_set::decide::put(self, put)?.into()),
            Command::DeleteSet(name) => context_set::decide::delete(self, name).map(done)?,
            Command::SubmitForm(name, answers) => form::decide::submit(self, name, answers).map(done)?,
            Command::Direct(input) => Answer::Directed(directive::decide::direct(self, input)?),
            Command::PutThread(thread, visible_to) => {
                conversation::decide::put_thread(self, thread, visible_to).map(done)?
            }
            Command::AddMessages(thread, messages) => {
                Answer::Messages(conversation::decide::add(self, thread, messages)?)
            }
            Command::StartRun(new) => Answer::Run(run::decide::start(self, new)?),
            Command::ClaimRun { run, node } => Answer::Claimed(run::decide::claim(self, run, node)?),
            Command::RequestTurn(request) => run::decide::request(self, request).map(done)?,
            Command::AnswerTurn(reply) => {
                run::answer::answer(self, reply)?;
                self.stands(&reply.run)?
            }
            Command::FailTurn(failure) => {
                run::answer::fail(self, failure)?;
                self.stands(&failure.run)?
            }
            Command::PauseRun(run, reason) => {
                run::decide::pause(self, run, reason)?;
                self.stands(run)?
            }
            Command::ResumeRun(run) => run::decide::resume(self, run).map(done)?,
            Command::CancelRun(run) => run::decide::cancel(self, run).map(done)?,
            Command::ToolResults(run, results) => Answer::Messages(run::decide::tool_results(self, run, results)?),
            Command::Steps(change) => step::decide::change(self, change).map(done)?,
            Command::ObserveFiles(seen) => file::decide::observe(self, seen).map(done)?,
            Command::CreateToken(new) => Answer::Token(access_token::decide::create(self, new)?),
            Command::RevokeToken(id) => access_token::decide::revoke(self, id).map(done)?,
            Command::All(commands) => {
                commands.iter().try_for_each(|command| self.decide(command).map(drop))?;
                Answer::Done
            }
            Command::Keyed(request, command) => self.decide_once(request, command)?,
        })
    }

    /// How a run stands after what was done.
    fn stands(&self, run: &RunId) -> Result<Answer, Error> {
        Ok(Answer::Stands(self.state.runs.get(run)?.status()))
    }

    /// Decides a request that carries a key: it is answered again where it was answered before.
    fn decide_once(&mut self, request: &Request, command: &Command) -> Result<Answer, Undecided> {
        let by = self.asked.by.clone();
        if let Some(seq) = self.asked.known.keys.get(request.claim(&by).as_str()) {
            let there = self.entry(*seq)?.ok_or_else(|| Error::not_found("entry", seq))?;
            return Ok(idempotency::facts::again(request, &there)?);
        }
        let answer = self.decide(command)?;
        let Request { key, fingerprint } = request.clone();
        self.record(Answered { by, key, fingerprint, answer: answer.clone() });
        Ok(answer)
    }
}
