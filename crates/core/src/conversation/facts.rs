//! What can happen to threads, and what a viewer sees of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    agent::Team,
    audience::Audience,
    conversation::{
        Criteria, Message, MessageChecked, Size, Thread, call_secrets::CallSecrets, settings::ThreadSettings,
    },
    entry::Header,
    error::Error,
    fact::{Description, Fact, MeantFor, Repeats, Seen, Sentence, json, sealed, text},
    id::{AgentName, MessageId, Seq, ThreadId},
    recall::{Recallable, Source},
    role::{Role, agent_says},
    sentence::Statement,
    state::State,
    time::Timestamp,
    view::View,
};

impl<'a> View<'a> {
    /// The threads that the viewer sees, by name.
    pub fn threads(&self) -> impl Iterator<Item = (&'a ThreadId, &'a Thread)> {
        let view = *self;
        let threads = self.state.threads.iter().filter(move |(_, thread)| view.is_in(&thread.sight.audience));
        threads.map(|(name, thread)| (name, &**thread))
    }

    /// The thread with this name. A hidden one answers like one that is not there.
    pub fn thread(&self, name: &ThreadId) -> Result<&'a Thread, Error> {
        let thread = self.state.threads.get(name).filter(|thread| self.is_in(&thread.sight.audience));
        thread.map(|thread| &**thread).ok_or_else(|| Error::not_found("thread", name))
    }

    /// How much of a thread the viewer sees; what was said before it did is not counted.
    pub fn size(&self, thread: &Thread) -> Size {
        let Some(agent) = self.agent() else { return thread.size() };
        thread.size_of(|said| said.audience.contains(agent) && thread.sight.reaches(agent, said.last))
    }

    /// Whether the viewer sees what an entry says about `thread`.
    pub fn sees_in(&self, thread: &ThreadId, header: &Header) -> bool {
        self.sees_said(thread, header.seq, &header.audience)
    }

    /// Whether the viewer sees what the entry `seq`, which `audience` could see, says about `thread`.
    pub fn sees_said(&self, thread: &ThreadId, seq: Seq, audience: &Audience) -> bool {
        let sees = |agent| audience.contains(agent) && self.state.threads.reach(thread, agent, seq);
        self.agent().is_none_or(sees)
    }

    /// Whether the viewer sees what the author of a message thought: the user does, and the author itself. Where a team is one
    /// agent, what nobody is named for is its own.
    pub fn sees_reasoning_of(&self, author: Option<&AgentName>) -> bool {
        self.agent().is_none_or(|viewer| author.map_or(self.state.team.agents().len() == 1, |author| author == viewer))
    }
}

/// A message was added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageAdded(pub Message);

/// It was said who sees a thread from now on, and what holds in it. It carries all of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadUpdated {
    pub(crate) name: ThreadId,
    pub(crate) visible_to: Audience,
    #[serde(flatten)]
    pub(crate) settings: ThreadSettings,
}

impl Fact for MessageAdded {
    const TYPE: &'static str = "message.added";

    const SENTENCE: Sentence = message_sentence;

    const DESCRIPTION: Description = Description::of(&[
        text("content"),
        text("expected_output"),
        json("metadata"),
        json("tool_calls.*.arguments"),
        json("reasoning"),
        json("as_given.fields"),
        sealed("secrets.*.sha256"),
    ]);

    const SOURCE: Option<Source> = Some(Source::Message);

    fn subject(&self) -> String {
        thread_subject(&self.0.thread_id)
    }

    fn audience(&self, before: &State) -> Audience {
        audience_of(before, &self.0.thread_id)
    }

    fn time(&self) -> Option<Timestamp> {
        Some(self.0.timestamp)
    }

    fn keys(&self, before: &State) -> Vec<String> {
        // A derived id (`m42`) is found by the entry's number. It is claimed as a key only once some message of the
        // thread was given an id of that form.
        let Message { thread_id, message_id, .. } = &self.0;
        let derived = message_id.as_seq() == Some(before.head.seq.next());
        let contested = before.threads.get(thread_id).is_some_and(|thread| thread.has_given_derived_ids);
        if derived && !contested { Vec::new() } else { vec![message_key(thread_id, message_id)] }
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.runs.hear(&self.0, header);
        for CallSecrets { name, sha256, .. } in &self.0.secrets {
            state.secrets.learn(name, *sha256, header.seq);
        }
        let manager = state.team.manager().map(|manager| &manager.name);
        let (criteria, speaker) = (criteria_of(&self.0, header, manager), self.0.speaker(manager));
        let Message { thread_id, message_id, tokens, agent, tool_calls, .. } = self.0;
        let given = message_id.as_seq().is_some_and(|seq| seq != header.seq);
        state.threads.change(&thread_id, header.seq, &header.audience, |thread| {
            thread.hear(tokens, speaker, header);
            thread.remember_calls(agent.as_ref(), &tool_calls);
            thread.has_given_derived_ids |= given;
            if let Some(criteria) = criteria {
                thread.criteria = criteria;
            }
        });
    }

    fn recallable(&self) -> Option<Recallable> {
        Recallable::of_message(&self.0)
    }

    fn recalls_from(view: &View<'_>, subject: &str, audience: &Audience) -> Option<Seq> {
        let Some(agent) = view.agent() else { return Some(Seq::ZERO) };
        let thread = subject.strip_prefix(THREAD)?.parse().ok()?;
        let thread = view.state.threads.get(&thread).filter(|_| audience.contains(agent))?;
        thread.sight.reaches_from(agent)
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if !view.sees_in(&self.0.thread_id, header) {
            return None;
        }
        let mut message = self.0;
        if !view.sees_reasoning_of(message.agent.as_ref()) {
            message.reasoning.clear();
        }
        Seen::fact(&Self(message))
    }

    fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
        let name = subject.strip_prefix(THREAD)?.parse().ok()?;
        Some(view.thread(&name).ok()?.sight.audience.clone())
    }
}

impl Fact for ThreadUpdated {
    const TYPE: &'static str = "thread.updated";

    const SENTENCE: Sentence = |it| format!("{} changed the thread {}", it.by, it.name());

    const DESCRIPTION: Description = Description {
        gone_as: Some("thread.deleted"),
        repeats: Repeats::Unchanged,
        ..Description::of(&[text("instructions"), text("tools.*.description"), json("tools.*.parameters")])
    };

    fn subject(&self) -> String {
        thread_subject(&self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.threads.get(&self.name).map(|thread| &thread.sight);
        before.team.passing(sight, self.visible_to.clone())
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.threads.change(&self.name, header.seq, &self.visible_to, |thread| {
            thread.change_sight(self.visible_to.clone(), header.seq);
            thread.settle(self.settings, header.seq);
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let agent = view.agent().filter(|_| view.was_meant(header))?;
        if !self.visible_to.contains(agent) {
            return Some(Seen { kind: "thread.deleted", data: serde_json::json!({"name": self.name}) });
        }
        if view.sees_in(&self.name, header) { Seen::fact(&self) } else { None }
    }
}

impl Fact for MessageChecked {
    const TYPE: &'static str = "message.checked";

    const SENTENCE: Sentence = check_sentence;

    const DESCRIPTION: Description = Description::of(&[text("reason")]);

    const MEANT_FOR: MeantFor = MeantFor::Manager;

    fn subject(&self) -> String {
        thread_subject(&self.thread_id)
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.sees_in(&self.thread_id, header) { Seen::fact(&self) } else { None }
    }
}

/// What the subjects of threads begin with.
const THREAD: &str = "thread:";

/// The subject of what is about a thread.
pub fn thread_subject(thread: &ThreadId) -> String {
    format!("{THREAD}{thread}")
}

/// The key that a message claims. The length keeps names with a `/` apart.
pub fn message_key(thread: &ThreadId, message: &MessageId) -> String {
    format!("message:{}:{thread}/{message}", thread.as_str().len())
}

/// Who sees a thread, or would if it were made now: an agent's own thread is for it and the manager, others for all.
pub fn audience_of(state: &State, thread: &ThreadId) -> Audience {
    if let Some(thread) = state.threads.get(thread) {
        return thread.sight.audience.clone();
    }
    match own_thread_of(&state.team, thread) {
        Some(agent) => Audience::of([agent.clone()]).or(&state.team.managers()),
        None => Audience::All,
    }
}

/// What the name of an agent's own thread begins with.
pub(crate) const AGENTS_THREAD: &str = "agent:";

/// The agent that this thread belongs to, if it is named `agent:NAME`.
pub(crate) fn own_thread_of<'a>(team: &'a Team, thread: &ThreadId) -> Option<&'a AgentName> {
    let name = thread.as_str().strip_prefix(AGENTS_THREAD)?;
    team.names().find(|agent| agent.as_str() == name)
}

/// What a thread keeps of a message for the answer to it. A message without criteria takes back earlier ones.
fn criteria_of(message: &Message, header: &Header, manager: Option<&AgentName>) -> Option<Option<Criteria>> {
    let asks = message.agent.is_some() && message.agent.as_ref() == manager;
    let criteria = |text| Criteria {
        message_id: message.message_id.clone(),
        text,
        seq: header.seq,
        audience: header.audience.clone(),
    };
    asks.then(|| message.expected_output.clone().map(criteria))
}

fn message_sentence(it: &Statement<'_>) -> String {
    let thread = match &*it.text("thread_id") {
        "" => String::new(),
        thread => format!(" in {thread}"),
    };
    let called = it.data.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let called: Vec<_> = called.filter_map(|call| call.get("name").and_then(Value::as_str)).collect();
    let said = it.text("content");
    let (role, agent) = (it.text("role"), it.text("agent"));
    let is_told = |role| !agent_says(&agent, role, &it.text("thread_id"), it.reader);
    let who = match (&*role, &*agent) {
        (_, "") => it.by.to_owned(),
        ("USER", _) if is_told(Role::User) => "user".to_owned(),
        ("SYSTEM", _) if is_told(Role::System) => "system".to_owned(),
        (_, agent) => agent.to_owned(),
    };
    match (&*role, said.trim(), called.as_slice()) {
        ("TOOL", said, _) => format!("{who} got a result{thread}: {said}"),
        (_, "", []) => format!("{who} said nothing{thread}"),
        (_, "", called) => format!("{who} called {}{thread}", called.join(", ")),
        (_, said, _) => format!("{who}{thread}: {said}"),
    }
}

fn check_sentence(it: &Statement<'_>) -> String {
    let verdict = match it.data.get("valid").and_then(Value::as_bool) {
        Some(true) => "is what was expected",
        Some(false) => "is not what was expected",
        None => "could not be checked",
    };
    format!("{} {verdict}{}", it.text("message_id"), it.about("reason"))
}
