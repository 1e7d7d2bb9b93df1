//! The board.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    agent::{Agent, AgentRole},
    command::{Command, Decision, DecisionContext, ErasedData, Lookups, Undecided, decide},
    count::TokenCounter,
    entry::{Actor, Entry, Hash, SaltSeed},
    error::Error,
    id::{AgentName, Seq, VariableName},
    rewriting::{CopySearch, EraseEntry, ErasedEntry},
    sealed::SealedInput,
    session::{NewSession, SessionPatch, Settings, Ttl},
    state::State,
    testing::Words,
    text::Values,
    time::Timestamp,
    variable::{self, SetVariable},
    view::{Projected, View},
    viewer::Viewer,
};

/// A session in memory.
#[derive(Clone)]
pub struct Board {
    /// What is true now.
    pub state: State,
    /// The journal.
    pub entries: Vec<Entry>,
    /// The long texts beside it.
    pub values: Values,
    /// What time it is.
    pub now: Timestamp,
    /// What it counts with.
    pub count: &'static dyn TokenCounter,
    /// What it makes salts of.
    pub salt: Option<SaltSeed>,
    keys: BTreeMap<Arc<str>, Seq>,
}

impl Board {
    /// A board without a session, on the morning of 2025-01-18.
    pub fn empty() -> Self {
        let now = Timestamp::from_millis(1_737_190_800_000).unwrap_or_default();
        let (state, entries, values, keys) = Default::default();
        Self { state, entries, values, now, count: &Words, salt: None, keys }
    }

    /// A session with the agents in `names`, the first of them its manager: `lead writer critic`.
    ///
    /// # Panics
    /// Where the names are no team.
    pub fn team(names: &str) -> Self {
        Self::with(agents(names), Settings { ttl_seconds: Ttl::DAY, ..Settings::default() })
    }

    /// A session with these agents and settings.
    ///
    /// # Panics
    /// Where they are not valid.
    pub fn with(agents: Vec<Agent>, settings: Settings) -> Self {
        let mut board = Self::empty();
        let id = "20250118-090000-test".parse().unwrap();
        board.user(NewSession { id, agents, sets: Vec::new(), settings, salt: 7 }).unwrap();
        board
    }

    /// Does what the user asks.
    pub fn user<C: Command>(&mut self, command: C) -> Result<C::Answer, Error> {
        self.ask(&Actor::User, &command)
    }

    /// Does what an agent asks.
    ///
    /// # Panics
    /// Where `agent` is no name.
    pub fn by<C: Command>(&mut self, agent: &str, command: C) -> Result<C::Answer, Error> {
        self.ask(&Actor::Agent(agent.parse().unwrap()), &command)
    }

    /// Does what Callboard itself asks, as the driver of a run.
    pub fn system<C: Command>(&mut self, command: C) -> Result<C::Answer, Error> {
        self.ask(&Actor::System, &command)
    }

    /// Makes the agents in `names` the team, the first of them its manager.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn team_becomes(&mut self, names: &str) {
        let patch = SessionPatch { agents: Some(agents(names)), ..SessionPatch::default() };
        self.user(patch).unwrap();
    }

    /// Decides as an engine does: looks up what is needed, finds taken keys, appends, one second later.
    ///
    /// # Panics
    /// Where the state of the decision is not that of its entries.
    pub fn ask<C: Command>(&mut self, by: &Actor, command: &C) -> Result<C::Answer, Error> {
        self.ask_sealed(by, command, SealedInput::NOTHING)
    }

    /// The user sets a variable. Whoever has the keys has split off what is secret in its value.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn set_variable(&mut self, name: &str, mut value: Value) {
        let name: VariableName = name.parse().unwrap();
        let secrets = variable::split(name.as_str(), &mut value, self.state.variables.mark(&name, None)).unwrap();
        let mut sealed = SealedInput::default();
        if !secrets.is_empty() {
            let stored = (Hash::of(format!("{secrets:?}").as_bytes()), "sealed".into());
            sealed.values.insert(name.as_str().into(), stored);
        }
        let set = SetVariable::new(name, value, None, "to see it".into()).unwrap();
        self.ask_sealed(&Actor::User, &set, &sealed).unwrap();
    }

    fn ask_sealed<C: Command>(&mut self, by: &Actor, command: &C, sealed: &SealedInput) -> Result<C::Answer, Error> {
        let mut lookups = Lookups::default();
        loop {
            let context = DecisionContext {
                by,
                at: self.now,
                nonce: None,
                salt: self.salt,
                count: self.count,
                lookups: &lookups,
                sealed,
                hide: None,
            };
            match decide(&self.state, command, context) {
                Err(Undecided::Refused(error)) => return Err(error),
                Err(Undecided::MissingEntry(seq)) => {
                    assert!(lookups.entries.insert(seq, self.entry(seq)).is_none(), "{seq} was known already");
                }
                Ok(decision) => match self.taken(&decision) {
                    Some((key, seq)) => {
                        assert!(lookups.keys.insert(key, seq).is_none(), "the key was known to be taken");
                        lookups.entries.insert(seq, self.entry(seq));
                    }
                    None => return Ok(self.append(decision)),
                },
            }
        }
    }

    fn taken<A>(&self, decision: &Decision<A>) -> Option<(Arc<str>, Seq)> {
        let keys = decision.entries.iter().flat_map(|entry| &entry.header.keys);
        keys.filter_map(|key| Some((key.clone(), *self.keys.get(key)?))).next()
    }

    fn append<A>(&mut self, decision: Decision<A>) -> A {
        for entry in &decision.entries {
            self.state.apply(entry).unwrap();
            for key in &entry.header.keys {
                assert!(self.keys.insert(key.clone(), entry.header.seq).is_none(), "{key} is claimed twice");
            }
        }
        assert_eq!(self.state, decision.state, "the state of the decision is not that of its entries");
        self.now = self.now.plus_seconds(1);
        self.entries.extend(decision.entries);
        let ErasedData { entries, values } = decision.erased;
        for hash in values {
            self.values.remove(&hash);
        }
        for (seq, data) in &entries {
            let entry = self.entries.iter_mut().find(|entry| entry.header.seq == *seq).unwrap();
            entry.data = data.clone();
        }
        if !entries.is_empty() {
            self.state = State::fold(&self.entries).unwrap();
        }
        self.values.extend(decision.values);
        decision.answer
    }

    /// The entry with this number.
    pub fn entry(&self, seq: Seq) -> Option<Entry> {
        self.entries.iter().find(|entry| entry.header.seq == seq).cloned()
    }

    /// The board as it was when `seq` was its last entry.
    ///
    /// # Panics
    /// Where the journal is damaged.
    #[must_use]
    pub fn as_of(&self, seq: Seq) -> Self {
        let mut board = Self { state: State::default(), entries: Vec::new(), ..self.clone() };
        board.entries.extend(self.entries.iter().filter(|entry| entry.header.seq <= seq).cloned());
        board.state = State::fold(&board.entries).unwrap();
        board.keys.retain(|_, claimed| *claimed <= seq);
        board
    }

    /// The session through the eyes of `viewer`: `user`, or an agent.
    pub fn view(&self, viewer: &str) -> Result<View<'_>, Error> {
        let viewer = if viewer == "user" { Viewer::User } else { Viewer::Agent(viewer.parse()?) };
        View::new(&self.state, &viewer, self.count)
    }

    /// What `viewer` sees of the journal now.
    ///
    /// # Panics
    /// Where there is no such viewer.
    pub fn seen(&self, viewer: &str) -> Vec<Projected> {
        let view = self.view(viewer).unwrap();
        self.entries.iter().filter_map(|entry| view.project(entry).unwrap()).collect()
    }

    /// The entries with these numbers.
    pub fn each(&self, seqs: &[Seq]) -> Vec<Entry> {
        seqs.iter().filter_map(|seq| self.entry(*seq)).collect()
    }

    /// Erases the words of an entry, as the user.
    pub fn erase(&mut self, seq: Seq) -> Result<ErasedEntry, Error> {
        let mut copies =
            self.entry(seq).as_ref().map(CopySearch::of).ok_or(Error::NoEntry { seq, head: self.state.head.seq })?;
        for entry in &self.entries {
            match entry.header.seq > seq {
                true => copies.look_at(entry)?,
                false if entry.header.seq < seq => copies.note_needed(entry),
                false => {}
            }
        }
        self.user(EraseEntry { seq, reason: "it is private".into(), copies: copies.into() })
    }
}

/// Agents by their names, the first of them a manager.
fn agents(names: &str) -> Vec<Agent> {
    let role = |at| if at == 0 { AgentRole::Manager } else { AgentRole::Worker };
    names.split_whitespace().enumerate().map(|(at, name)| agent(name, role(at))).collect()
}

/// An agent of which no more is said than its name and its role.
fn agent(name: &str, role: AgentRole) -> Agent {
    let name: AgentName = name.parse().unwrap();
    Agent { name, role, title: None, instructions: None, model: None, tools: Vec::new() }
}
