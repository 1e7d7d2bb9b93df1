//! Commands: every change there is, and how one is decided.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    audience::Audience,
    context_set::{self, PutSet},
    conversation::{self, NewMessage},
    count::TokenCounter,
    directive::{self, Directed},
    entry::{Actor, Entry, Header},
    error::Error,
    fact::{self, Fact},
    form,
    id::{AgentName, MessageId, RunId, Seq, SetName, ThreadId},
    request::{self, Request},
    run::{self, NewRun, TurnFailure, TurnReply, TurnRequest},
    session::{self, NewSession, SessionPatch},
    state::State,
    text::Values,
    time::Timestamp,
    token::{self, NewToken},
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
    /// Make a token.
    CreateToken(NewToken),
    /// Revoke a token.
    RevokeToken(Arc<str>),
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
            _ => Vec::new(),
        }
    }
}

/// What a command is answered with.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done; there is no more to say.
    Done,
    /// How each update of context sets came out, and what else a directive led to.
    Directed(Directed),
    /// The messages that were added, or had been before.
    Messages(Vec<Receipt>),
    /// The run that was started.
    Run(RunId),
    /// The epoch under which a run was taken over.
    Claimed(u64),
    /// The token that was made.
    Token(Arc<str>),
    /// What the same request was answered with before.
    Again {
        /// The answer.
        answer: Box<Answer>,
        /// The head of the session after it.
        head: Seq,
    },
}

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Receipt {
    /// Its id.
    pub message_id: MessageId,
    /// The entry that added it.
    pub seq: Seq,
}

/// What a command is decided with, besides the state.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Who asks.
    pub by: &'a Actor,
    /// What time it is.
    pub at: Timestamp,
    /// Counts texts for sizes; always in the same vocabulary, `o200k_base`.
    pub count: &'a dyn TokenCounter,
    /// What was looked up after an earlier try.
    pub known: &'a Known,
}

/// Entries that a decision asked for, or that stood in its way.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Entries by their number; `None` where there is no such entry.
    pub entries: BTreeMap<Seq, Option<Entry>>,
    /// Keys that were found taken, and by which of `entries`.
    pub keys: BTreeMap<Arc<str>, Seq>,
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

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Undecided {
    /// The command is refused.
    #[error(transparent)]
    Refused(#[from] Error),
    /// An entry has to be looked up first: decide again with it in [`Known`].
    #[error("entry {0} has to be looked up first")]
    Need(Seq),
}

/// Says which entries `command` leads to, if any, and how it is answered. Changes nothing.
pub fn decide(state: &State, command: &Command, asked: Asked<'_>) -> Result<Decision, Undecided> {
    let by = asked.by.clone();
    let mut deciding = Deciding { state: state.clone(), by, asked, entries: Vec::new(), values: Values::new() };
    let answer = deciding.decide(command)?;
    let Deciding { state, entries, values, .. } = deciding;
    Ok(Decision { entries, values, answer, state })
}

/// A decision in the making: the state as it will be, and what makes it so.
pub(crate) struct Deciding<'a> {
    pub(crate) state: State,
    /// Who causes what is recorded now: who asks, or the agent whose answer is taken in.
    pub(crate) by: Actor,
    pub(crate) asked: Asked<'a>,
    pub(crate) values: Values,
    entries: Vec<Entry>,
}

impl Deciding<'_> {
    pub(crate) fn decide(&mut self, command: &Command) -> Result<Answer, Undecided> {
        if !matches!(command, Command::CreateSession(_)) && self.state.session.id.is_none() {
            return Err(Error::not_found("session", "here").into());
        }
        if let Actor::Agent(name) = &self.by {
            self.state.team.agent(name)?;
        }
        let done = |()| Answer::Done;
        Ok(match command {
            Command::CreateSession(new) => session::create(self, new).map(done)?,
            Command::UpdateSession(patch) => session::update(self, patch).map(done)?,
            Command::PutSet(put) => Answer::Directed(context_set::put(self, put)?.into()),
            Command::DeleteSet(name) => context_set::delete(self, name).map(done)?,
            Command::SubmitForm(name, answers) => form::submit(self, name, answers).map(done)?,
            Command::Direct(input) => Answer::Directed(directive::direct(self, input)?),
            Command::PutThread(thread, visible_to) => conversation::put_thread(self, thread, visible_to).map(done)?,
            Command::AddMessages(thread, messages) => Answer::Messages(conversation::add(self, thread, messages)?),
            Command::StartRun(new) => Answer::Run(run::start(self, new)?),
            Command::ClaimRun { run, node } => Answer::Claimed(run::claim(self, run, node)?),
            Command::RequestTurn(request) => run::request(self, request).map(done)?,
            Command::AnswerTurn(reply) => run::answer(self, reply).map(done)?,
            Command::FailTurn(failure) => run::fail(self, failure).map(done)?,
            Command::PauseRun(run, reason) => run::pause(self, run, reason).map(done)?,
            Command::ResumeRun(run) => run::resume(self, run).map(done)?,
            Command::CancelRun(run) => run::cancel(self, run).map(done)?,
            Command::ToolResults(run, results) => Answer::Messages(run::tool_results(self, run, results)?),
            Command::CreateToken(new) => Answer::Token(token::create(self, new)?),
            Command::RevokeToken(id) => token::revoke(self, id).map(done)?,
            Command::Keyed(request, command) => request::decide(self, request, command)?,
        })
    }

    /// Takes a fact in: it becomes the next entry.
    pub(crate) fn record<F: Fact>(&mut self, fact: F) {
        let draft = fact::draft(&fact, &self.state);
        let entry = Entry::seal(self.state.head, self.asked.at, self.by.clone(), draft);
        fact.apply(&mut self.state, &entry.header);
        self.state.head = entry.head();
        self.state.last_at = self.asked.at;
        self.entries.push(entry);
    }

    /// The number of the next entry.
    pub(crate) fn next_seq(&self) -> Seq {
        self.state.head.seq.next()
    }

    /// The agent that asks, if it is one.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match &self.by {
            Actor::Agent(name) => Some(name),
            Actor::User | Actor::System => None,
        }
    }

    /// The entry of this very decision that claims `key`.
    pub(crate) fn claimed_here(&self, key: &str) -> Option<&Entry> {
        let claims = |header: &Header| header.keys.iter().any(|taken| **taken == *key);
        self.entries.iter().find(|entry| claims(&entry.header))
    }

    /// The entry with this number, of this decision or of the journal.
    pub(crate) fn entry(&self, seq: Seq) -> Result<Option<Entry>, Undecided> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.header.seq == seq) {
            return Ok(Some(entry.clone()));
        }
        self.asked.known.entries.get(&seq).cloned().ok_or(Undecided::Need(seq))
    }
}
