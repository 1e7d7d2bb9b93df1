//! Threads: who sees them, and how much there is in them.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use super::ThreadUpdated;
use crate::{
    agent::Team,
    audience::{Audience, Sight},
    command::Deciding,
    count::Tokens,
    entry::Header,
    error::Error,
    id::{AgentName, MessageId, Seq, ThreadId},
    rights,
    state::State,
    time::Timestamp,
    view::View,
};

/// A thread, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Who has it in sight.
    pub sight: Sight,
    /// How much was said before whom: as much of it as a viewer saw is the thread's size to that viewer.
    said: Vec<SaidBefore>,
    /// Whether somebody gave a message an id of the form that is derived from entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_given_derived_ids: bool,
    /// What the manager's last message expects of the answer to it, and which message that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) criteria: Option<(MessageId, Arc<str>)>,
}

/// How much of a thread there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// How many messages.
    pub messages: u64,
    /// Their size.
    pub tokens: Tokens,
    /// When the last of them was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
}

impl Size {
    fn add(&mut self, other: &Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.tokens += other.tokens;
        self.last_at = self.last_at.max(other.last_at);
    }
}

/// How much was said before one audience, on one side of the entry that last took the thread out of somebody's sight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SaidBefore {
    audience: Audience,
    last: Seq,
    size: Size,
}

impl Thread {
    fn new(audience: Audience, seq: Seq) -> Self {
        let sight = Sight::new(audience, seq);
        Self { sight, said: Vec::new(), has_given_derived_ids: false, criteria: None }
    }

    /// How much of it there is altogether, seen by whomever.
    pub fn size(&self) -> Size {
        self.size_of(|_| true)
    }

    fn size_of(&self, counts: impl Fn(&SaidBefore) -> bool) -> Size {
        let mut size = Size::default();
        self.said.iter().filter(|said| counts(said)).for_each(|said| size.add(&said.size));
        size
    }

    pub(super) fn hear(&mut self, tokens: Tokens, header: &Header) {
        let one = Size { messages: 1, tokens, last_at: Some(header.at) };
        self.said.push(SaidBefore { audience: header.audience.clone(), last: header.seq, size: one });
        self.gather();
    }

    pub(super) fn change_sight(&mut self, audience: Audience, seq: Seq) {
        self.sight.change(audience, seq);
        self.gather();
    }

    /// Adds up what the same viewers saw, so that this stays as small as the number of audiences.
    fn gather(&mut self) {
        let narrowed_at = self.sight.narrowed_at();
        let mut gathered: Vec<SaidBefore> = Vec::new();
        for said in self.said.drain(..) {
            let belongs = |other: &&mut SaidBefore| {
                other.audience == said.audience && (other.last < narrowed_at) == (said.last < narrowed_at)
            };
            match gathered.iter_mut().find(belongs) {
                Some(other) => {
                    other.last = said.last.max(other.last);
                    other.size.add(&said.size);
                }
                None => gathered.push(said),
            }
        }
        self.said = gathered;
    }
}

/// All threads of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Threads(RedBlackTreeMapSync<ThreadId, Arc<Thread>>);

impl Threads {
    /// The thread with this name, whoever may see it.
    pub fn get(&self, name: &ThreadId) -> Option<&Arc<Thread>> {
        self.0.get(name)
    }

    /// All threads by name, whoever may see them.
    pub fn iter(&self) -> impl Iterator<Item = (&ThreadId, &Arc<Thread>)> {
        self.0.iter()
    }

    pub(super) fn change(&mut self, name: &ThreadId, seq: Seq, audience: &Audience, change: impl FnOnce(&mut Thread)) {
        let new = || Arc::new(Thread::new(audience.clone(), seq));
        let mut thread = self.0.get(name).cloned().unwrap_or_else(new);
        change(Arc::make_mut(&mut thread));
        self.0.insert_mut(name.clone(), thread);
    }
}

impl<'a> View<'a> {
    /// The threads that the viewer sees, by name.
    pub fn threads(&self) -> impl Iterator<Item = (&'a ThreadId, &'a Thread)> {
        let view = *self;
        let sees = move |thread: &Thread| view.agent().is_none_or(|agent| thread.sight.audience.contains(agent));
        self.state.threads.iter().filter(move |(_, thread)| sees(thread)).map(|(name, thread)| (name, &**thread))
    }

    /// The thread with this name. A hidden one answers like one that is not there.
    pub fn thread(&self, name: &ThreadId) -> Result<&'a Thread, Error> {
        let sees = |thread: &&Thread| self.agent().is_none_or(|agent| thread.sight.audience.contains(agent));
        let thread = self.state.threads.get(name).map(|thread| &**thread).filter(sees);
        thread.ok_or_else(|| Error::not_found("thread", name))
    }

    /// How much of a thread the viewer sees; what was said before it did is not counted.
    pub fn size(&self, thread: &Thread) -> Size {
        let Some(agent) = self.agent() else { return thread.size() };
        thread.size_of(|said| said.audience.contains(agent) && thread.sight.reaches(agent, said.last))
    }

    /// Whether the viewer sees what an entry says about `thread`.
    pub(crate) fn sees_in(&self, thread: &ThreadId, header: &Header) -> bool {
        let reaches = |agent| {
            let thread = self.state.threads.get(thread);
            thread.is_some_and(|thread| thread.sight.reaches(agent, header.seq))
        };
        self.was_meant(header) && self.agent().is_none_or(reaches)
    }
}

/// The subject of what is about a thread.
pub fn thread_subject(thread: &ThreadId) -> String {
    format!("thread:{thread}")
}

/// Who sees a thread, or would if it were made now: an agent's own thread is for it and the manager, others for all.
pub(crate) fn audience_of(state: &State, thread: &ThreadId) -> Audience {
    if let Some(thread) = state.threads.get(thread) {
        return thread.sight.audience.clone();
    }
    match own_thread_of(&state.team, thread) {
        Some(agent) => Audience::of([agent.clone()]).or(&state.team.managers()),
        None => Audience::All,
    }
}

/// The agent whose own thread this is, if it is one's.
pub(crate) fn own_thread_of<'a>(team: &'a Team, thread: &ThreadId) -> Option<&'a AgentName> {
    let name = thread.as_str().strip_prefix("agent:")?;
    team.names().find(|agent| agent.as_str() == name)
}

/// Says who sees a thread; makes it where there is none.
pub(crate) fn put_thread(deciding: &mut Deciding<'_>, name: &ThreadId, visible_to: &Audience) -> Result<(), Error> {
    rights::in_charge(deciding, "say who sees a thread")?;
    deciding.state.team.check_audience(visible_to, "/visible_to")?;
    if let Some(agent) = deciding.agent()
        && !audience_of(&deciding.state, name).contains(agent)
    {
        return Err(Error::not_found("thread", name));
    }
    let known = deciding.state.threads.get(name);
    if known.is_none_or(|thread| thread.sight.audience != *visible_to) {
        deciding.record(ThreadUpdated { name: name.clone(), visible_to: visible_to.clone() });
    }
    Ok(())
}

/// Hands the threads in which the manager speaks in runs over to another: it sees them from now on.
pub(crate) fn hand_over(deciding: &mut Deciding<'_>, old: &AgentName, new: &AgentName) {
    let is_runs = |name: &ThreadId| *name == ThreadId::main() || name.as_str().starts_with("agent:");
    let passed = |audience: &Audience, thread: &ThreadId| {
        let stays = |name: &&AgentName| *name != old || *thread == ThreadId::of_agent(old);
        Audience::of(audience.names().filter(stays).cloned().chain([new.clone()]))
    };
    let threads = deciding.state.threads.iter().filter(|(name, _)| is_runs(name));
    let seen = threads.filter(|(_, thread)| thread.sight.audience.names().any(|name| name == old));
    let changes: Vec<_> = seen.map(|(name, thread)| (name.clone(), passed(&thread.sight.audience, name))).collect();
    for (name, visible_to) in changes {
        deciding.record(ThreadUpdated { name, visible_to });
    }
}
