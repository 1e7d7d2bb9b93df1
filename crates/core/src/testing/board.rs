//! The board.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    agent::{Agent, Role},
    command::{Command, Decision, DecisionContext, ErasedData, Lookups, Undecided, decide},
    compression::{
        decide::Compress,
        material::{Material, Scope, Wanted},
        plan::{Aim, Outlook, Plan},
    },
    count::{TokenCounter, Tokens},
    entry::{Actor, Entry, Hash, Header, SaltSeed},
    erasure::{CopySearch, EraseEntry, ErasedEntry},
    error::Error,
    id::{AgentName, Seq, ThreadId, VariableName},
    prompt::{Format, HistoryCache, Lacking, Prompt, ResolvedSpec, prompt, prompt_of},
    secret::SealedInput,
    session::{NewSession, SessionPatch, Settings, Ttl},
    state::State,
    tail::{Source, Tail},
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
        let secrets = variable::split(name.as_str(), &mut value, self.state.variables.mark(&name, None));
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

    /// The prompt of `agent` in `thread`, as text, by the session's own profile.
    pub fn prompt(&self, agent: &str, thread: &str, budget: u64) -> Result<Prompt, Error> {
        self.prompt_as(agent, thread, budget, Format::Text)
    }

    /// The prompt of `agent` in `thread`, in some format.
    pub fn prompt_as(&self, agent: &str, thread: &str, budget: u64, format: Format) -> Result<Prompt, Error> {
        let spec =
            ResolvedSpec { format, ..ResolvedSpec::new(agent.parse()?, thread.parse()?, Tokens(budget), self.count) };
        self.prompt_for(agent, &spec, 3)
    }

    /// The prompt of `agent` for `spec`, made of what was kept of an earlier one as far as that is of use.
    ///
    /// # Panics
    /// Where it asks for what there is not.
    pub fn prompt_from(
        &self,
        kept: &mut Option<(HistoryCache, Seq)>,
        agent: &str,
        spec: &ResolvedSpec,
    ) -> Result<Prompt, Error> {
        let view = self.view(agent)?;
        let source = Source::of(&view, &spec.thread);
        let mut tail = Tail::default();
        let mut history = match kept.take().filter(|(history, _)| history.is_of(&view, spec, self.count)) {
            Some((mut history, through)) => {
                let is_newer = |entry: &&Entry| entry.header.seq > through && source.has(&entry.header);
                tail.extend(self.entries.iter().filter(is_newer))?;
                history.read_on(&view, &tail, &self.values).unwrap();
                history
            }
            None => HistoryCache::new(&view, spec, self.count)?,
        };
        let mut page = 1;
        let built = loop {
            match prompt_of(&view, spec, &mut history, &self.values, self.count) {
                Ok((prompt, _)) => break Ok(prompt),
                Err(Lacking::Refused(error)) => break Err(error),
                Err(lacking) => assert_eq!(lacking, Lacking::Older),
            }
            let all: Vec<_> = self.entries.iter().rev().filter(|entry| source.has(&entry.header)).cloned().collect();
            tail = Tail { complete: all.len() <= page, ..Tail::default() };
            tail.keep(&self.each(&source.kept(&view)))?;
            tail.extend_back(all.get(..page.min(all.len())).unwrap_or_default())?;
            history.read(&view, &tail, &self.values).unwrap();
            page *= 4;
        };
        history.forget_old();
        *kept = Some((history, self.state.head.seq));
        built
    }

    /// The entries with these numbers.
    fn each(&self, seqs: &[Seq]) -> Vec<Entry> {
        seqs.iter().filter_map(|seq| self.entry(*seq)).collect()
    }

    /// Erases the words of an entry, as the user.
    pub fn erase(&mut self, seq: Seq) -> Result<ErasedEntry, Error> {
        let mut copies =
            self.entry(seq).as_ref().map(CopySearch::of).ok_or(Error::NoEntry { seq, head: self.state.head.seq })?;
        copies.add_texts(
            copies.long_texts().filter_map(|hash| self.values.get(&hash).cloned()).collect::<Vec<_>>().iter(),
        );
        for entry in &self.entries {
            match entry.header.seq > seq {
                true => copies.look_at(entry),
                false if entry.header.seq < seq => copies.note_needed(entry),
                false => {}
            }
        }
        self.user(EraseEntry { seq, reason: "it is private".into(), copies: copies.into() })
    }

    /// What would be compressed of a thread to reach `aim`.
    ///
    /// # Panics
    /// Where it asks for what there is not.
    pub fn plan(&self, thread: &ThreadId, scope: Scope, aim: Aim) -> Result<Outlook, Error> {
        let wanted = Wanted::of(&self.state, thread, scope)?;
        let newer = self.entries.iter().filter(|entry| entry.header.seq > wanted.after && wanted.has(entry)).cloned();
        let entries: Vec<_> = self.each(&wanted.each).into_iter().chain(newer).collect();
        let material = Material::read(&self.state, &wanted, &entries, &self.values).unwrap();
        Plan::of(material, aim)
    }

    /// Compresses a thread without a model, for all who see it; says which entry did last, if one had to.
    ///
    /// # Panics
    /// Where no good summary can be made.
    pub fn compress(&mut self, thread: &str, aim: Aim) -> Result<Option<Seq>, Error> {
        let thread: ThreadId = thread.parse().unwrap();
        let held = self.state.threads.get(&thread).ok_or_else(|| Error::not_found("thread", &thread))?;
        let mut made = Vec::new();
        for readers in held.readers(&self.state.team) {
            let scope = Scope { readers, ..Scope::default() };
            let Outlook::Compress(plan) = self.plan(&thread, scope, aim)? else { continue };
            let summary = plan.extract(self.count).unwrap();
            let (model, reason, spent, measured) = Default::default();
            let with = made.clone();
            made.push(self.system(Compress { plan: plan.into(), summary, model, reason, spent, measured, with })?);
        }
        Ok(made.pop())
    }

    /// The prompt of `agent` for `spec`, reading older entries `page` at a time and long texts only when asked for.
    ///
    /// # Panics
    /// Where it asks for what there is not, or for what it was given.
    pub fn prompt_for(&self, agent: &str, spec: &ResolvedSpec, page: usize) -> Result<Prompt, Error> {
        let view = self.view(agent)?;
        let source = Source::of(&view, &spec.thread);
        let (subjects, types) = (source.subjects(), Source::types());
        let is_read = |header: &Header| subjects.contains(&header.subject) && types.contains(&header.kind);
        let mut older = self.entries.iter().rev().filter(|entry| is_read(&entry.header)).peekable();
        let (mut tail, mut values) = (Tail::default(), Values::new());
        tail.keep(&self.each(&source.kept(&view)))?;
        loop {
            match prompt(&view, spec, &tail, &values, self.count) {
                Ok(prompt) => return Ok(prompt),
                Err(Lacking::Refused(error)) => return Err(error),
                Err(Lacking::Older) => {
                    assert!(!tail.complete, "there is nothing older to be read");
                    let read: Vec<_> = older.by_ref().take(page).cloned().collect();
                    tail.extend_back(&read)?;
                    tail.complete = older.peek().is_none();
                }
                Err(Lacking::Values(hashes)) => {
                    for hash in hashes {
                        let text = self.values.get(&hash).unwrap().clone();
                        assert!(values.insert(hash, text).is_none(), "{hash} was given");
                    }
                }
            }
        }
    }
}

/// Agents by their names, the first of them a manager.
fn agents(names: &str) -> Vec<Agent> {
    let role = |at| if at == 0 { Role::Manager } else { Role::Worker };
    names.split_whitespace().enumerate().map(|(at, name)| agent(name, role(at))).collect()
}

/// An agent of which no more is said than its name and its role.
fn agent(name: &str, role: Role) -> Agent {
    let name: AgentName = name.parse().unwrap();
    Agent { name, role, title: None, instructions: None, model: None, tools: Vec::new() }
}
