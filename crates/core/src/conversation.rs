//! Conversations: threads and their messages.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Team,
    audience::{Audience, Sight},
    command::{Deciding, Receipt, Undecided},
    context_set::passing,
    count::Tokens,
    entry::{Entry, Header},
    error::{Error, Fault},
    fact::{self, Fact, Seen},
    id::{AgentName, MessageId, Seq, ThreadId},
    rights, run,
    state::State,
    text::{Text, Values},
    time::Timestamp,
    view::View,
};

/// A message, as its entry holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id, unique in its thread.
    pub message_id: MessageId,
    /// The thread it is in.
    pub thread_id: ThreadId,
    /// In which role it was said.
    pub role: Role,
    /// The agent that said it, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What it says.
    pub content: Content,
    /// When it was said, as its author has it.
    pub timestamp: Timestamp,
    /// What its author keeps with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the answer to it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Arc<str>>,
    /// The size of its content and its tool calls.
    pub tokens: Tokens,
}

/// In which role a message is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    /// By the user.
    #[serde(alias = "user")]
    User,
    /// By an agent.
    #[serde(alias = "assistant", alias = "ai", alias = "ASSISTANT")]
    Ai,
    /// By the program around the agents.
    #[serde(alias = "system")]
    System,
    /// By a tool: the result of a call.
    #[serde(alias = "tool")]
    Tool,
}

/// What a message says: a text, or OpenAI-style parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(Text),
    /// Parts, each an object with a `type`.
    Parts(Vec<Map<String, Value>>),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Its id, to which the result refers.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: an object, or the text of one.
    #[serde(default)]
    pub arguments: Value,
}

/// A message that is to be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// Its id; where it is absent, one is derived from the entry.
    #[serde(default)]
    pub message_id: Option<MessageId>,
    /// The thread, which must be the one it is added to.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// In which role it is said.
    pub role: Role,
    /// What it says.
    #[serde(default)]
    pub content: Option<NewContent>,
    /// When it was said; now, where it is absent.
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// What is kept with it.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// What the answer to it is to be held against.
    #[serde(default, skip)]
    pub expected_output: Option<Arc<str>>,
}

/// What a message that is to be added says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "content is a string or a list of parts, each an object with a type")]
pub enum NewContent {
    /// A text of any length.
    Text(Arc<str>),
    /// Parts, each an object with a `type`.
    Parts(Vec<Map<String, Value>>),
}

impl NewMessage {
    /// A message that says `text`.
    pub fn text(role: Role, text: impl Into<Arc<str>>) -> Self {
        Self {
            message_id: None,
            thread_id: None,
            role,
            content: Some(NewContent::Text(text.into())),
            timestamp: None,
            metadata: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            expected_output: None,
        }
    }
}

/// A thread, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Who has it in sight.
    pub sight: Sight,
    /// How many messages it has.
    pub messages: u64,
    /// The size of its messages.
    pub tokens: Tokens,
    /// The size of those messages that came before its present audience.
    pub(crate) tokens_before_audience: Tokens,
    /// When its last message was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// Whether somebody gave a message an id of the form that is derived from entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_given_derived_ids: bool,
    /// What the manager's last message expects of the answer to it, and which message that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) criteria: Option<(MessageId, Arc<str>)>,
}

impl Thread {
    /// Whether all of its messages came while it had its present audience, so that its numbers tell nobody in it of
    /// messages that he does not see.
    pub fn is_of_one_audience(&self) -> bool {
        self.tokens_before_audience == Tokens(0)
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

    fn change(&mut self, name: &ThreadId, seq: Seq, audience: &Audience, change: impl FnOnce(&mut Thread)) {
        let new = || {
            Arc::new(Thread {
                sight: Sight::new(audience.clone(), seq),
                messages: 0,
                tokens: Tokens(0),
                tokens_before_audience: Tokens(0),
                last_at: None,
                has_given_derived_ids: false,
                criteria: None,
            })
        };
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

    /// Whether the viewer sees what an entry says about `thread`.
    pub(crate) fn sees_in(&self, thread: &ThreadId, header: &Header) -> bool {
        let reaches = |agent| {
            let thread = self.state.threads.get(thread);
            thread.is_some_and(|thread| thread.sight.reaches(agent, header.seq))
        };
        self.was_meant(header) && self.agent().is_none_or(reaches)
    }
}

/// A message was added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageAdded(pub Message);

/// It was said who sees a thread from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadUpdated {
    pub(crate) name: ThreadId,
    pub(crate) visible_to: Audience,
}

/// An answer was held against what was expected of it. The answer itself stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageChecked {
    /// The thread of the answer.
    pub thread_id: ThreadId,
    /// The answer.
    pub message_id: MessageId,
    /// The message that said what was expected.
    pub criteria_of: MessageId,
    /// Whether it is what was expected; `None` where that could not be found out.
    pub valid: Option<bool>,
    /// Why.
    pub reason: Arc<str>,
}

impl Fact for MessageAdded {
    const TYPE: &'static str = "message.added";

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
        // An id that derives from the entry is found by its number: as long as nobody gives ids of that form to other
        // entries of the thread, it need not be claimed.
        let Message { thread_id, message_id, .. } = &self.0;
        let derived = message_id.as_seq() == Some(before.head.seq.next());
        let contested = before.threads.get(thread_id).is_some_and(|thread| thread.has_given_derived_ids);
        if derived && !contested { Vec::new() } else { vec![message_key(thread_id, message_id)] }
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.runs.hear(&self.0, header);
        let criteria = run::criteria_of(&self.0, state.team.manager().map(|manager| &manager.name));
        let Message { thread_id, message_id, tokens, .. } = self.0;
        let given = message_id.as_seq().is_some_and(|seq| seq != header.seq);
        state.threads.change(&thread_id, header.seq, &header.audience, |thread| {
            thread.messages = thread.messages.saturating_add(1);
            thread.tokens += tokens;
            thread.last_at = Some(header.at);
            thread.has_given_derived_ids |= given;
            if let Some(criteria) = criteria {
                thread.criteria = criteria;
            }
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.sees_in(&self.0.thread_id, header) { Seen::fact(&self) } else { None }
    }
}

impl Fact for ThreadUpdated {
    const TYPE: &'static str = "thread.updated";

    fn subject(&self) -> String {
        thread_subject(&self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.threads.get(&self.name).map(|thread| &thread.sight);
        passing(sight, self.visible_to.clone(), &before.team)
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.threads.change(&self.name, header.seq, &self.visible_to, |thread| {
            thread.sight.change(self.visible_to.clone(), header.seq);
            thread.tokens_before_audience = thread.tokens;
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

    fn subject(&self) -> String {
        thread_subject(&self.thread_id)
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.sees_in(&self.thread_id, header) { Seen::fact(&self) } else { None }
    }
}

/// The subject of what is about a thread.
pub fn thread_subject(thread: &ThreadId) -> String {
    format!("thread:{thread}")
}

/// The key that a message claims. The length keeps names with a `/` apart.
fn message_key(thread: &ThreadId, message: &MessageId) -> String {
    format!("message:{}:{thread}/{message}", thread.as_str().len())
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

/// Adds messages to a thread, all or none. One whose id is there already, and which says the same, is not added again.
pub(crate) fn add(
    deciding: &mut Deciding<'_>,
    thread: &ThreadId,
    messages: &[NewMessage],
) -> Result<Vec<Receipt>, Undecided> {
    if let Some(agent) = deciding.agent() {
        let predefined = thread.as_str() == "main" || own_thread_of(&deciding.state.team, thread).is_some();
        let there = predefined || deciding.state.threads.get(thread).is_some();
        if !there || !audience_of(&deciding.state, thread).contains(agent) {
            return Err(Error::not_found("thread", thread).into());
        }
    }
    let faults = messages.iter().enumerate().flat_map(|(at, message)| faults(at, thread, message)).collect::<Vec<_>>();
    if !faults.is_empty() {
        return Err(Error::Invalid(faults).into());
    }
    messages.iter().enumerate().map(|(at, new)| add_one(deciding, thread, new, at)).collect()
}

fn faults(at: usize, thread: &ThreadId, message: &NewMessage) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |field: &str, problem: String| {
        faults.push(Fault { pointer: format!("/messages/{at}/{field}"), problem });
    };
    if let Some(other) = message.thread_id.as_ref().filter(|other| *other != thread) {
        fault("thread_id", format!("the message is added to {thread} and names {other}: leave it out"));
    }
    if let Some(NewContent::Parts(parts)) = &message.content
        && !parts.iter().all(|part| part.get("type").is_some_and(Value::is_string))
    {
        fault("content", "give each part a type, for instance {\"type\": \"text\", \"text\": \"…\"}".to_owned());
    }
    if !message.tool_calls.is_empty() && message.role != Role::Ai {
        fault("tool_calls", "only a message in the role AI calls tools".to_owned());
    }
    if message.tool_call_id.is_some() && message.role != Role::Tool {
        fault("tool_call_id", "only a message in the role TOOL is the result of a call".to_owned());
    }
    faults
}

fn add_one(deciding: &mut Deciding<'_>, thread: &ThreadId, new: &NewMessage, at: usize) -> Result<Receipt, Undecided> {
    let seq = deciding.next_seq();
    let message = build(deciding, thread, new, MessageId::of_seq(seq))?;
    if new.message_id.is_some()
        && let Some(there) = existing(deciding, &message)?
    {
        let receipt = Receipt { message_id: message.message_id.clone(), seq: there.header.seq };
        return if is_same(&message, new, &there)? { Ok(receipt) } else { Err(conflict(&receipt, at).into()) };
    }
    let message = if new.message_id.is_none() { unclaimed(deciding, message) } else { message };
    let message_id = message.message_id.clone();
    deciding.record(MessageAdded(message));
    Ok(Receipt { message_id, seq })
}

fn build(deciding: &mut Deciding<'_>, thread: &ThreadId, new: &NewMessage, id: MessageId) -> Result<Message, Error> {
    let content = match &new.content {
        Some(NewContent::Text(text)) => Content::Text(Text::keep(text, "the message", &mut deciding.values)?),
        Some(NewContent::Parts(parts)) => Content::Parts(parts.clone()),
        None => Content::Text("".into()),
    };
    Ok(Message {
        message_id: new.message_id.clone().unwrap_or(id),
        thread_id: thread.clone(),
        role: new.role,
        agent: deciding.agent().cloned(),
        content,
        timestamp: new.timestamp.unwrap_or(deciding.asked.at),
        metadata: new.metadata.clone(),
        tool_calls: new.tool_calls.clone(),
        tool_call_id: new.tool_call_id.clone(),
        expected_output: new.expected_output.clone(),
        tokens: new.counted().iter().map(|text| deciding.asked.count.count(text)).sum(),
    })
}

impl NewMessage {
    /// The texts whose tokens are the size of the message.
    pub fn counted(&self) -> Vec<Arc<str>> {
        let mut texts = match &self.content {
            Some(NewContent::Text(text)) => vec![text.clone()],
            Some(NewContent::Parts(parts)) => parts.iter().map(|part| part_text(part).into()).collect(),
            None => Vec::new(),
        };
        texts.extend(self.tool_calls.iter().flat_map(|call| [call.name.as_str().into(), call.arguments_text().into()]));
        texts
    }
}

impl Content {
    /// What it says in text; what is not text is named. Where it is stored beside the journal, the hash to read first.
    pub fn in_text(&self, values: &Values) -> Result<Arc<str>, crate::entry::Hash> {
        match self {
            Self::Text(text) => text.whole(values).cloned(),
            Self::Parts(parts) => Ok(parts.iter().map(part_text).collect::<Vec<_>>().join("\n").into()),
        }
    }
}

impl ToolCall {
    /// The arguments as the text of a JSON object.
    pub fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            arguments => arguments.to_string(),
        }
    }
}

/// What a part says in text. One that is not text is named, and not shown.
fn part_text(part: &Map<String, Value>) -> String {
    match part.get("text") {
        Some(Value::String(text)) => text.clone(),
        _ => format!("[{} not shown]", part.get("type").and_then(Value::as_str).unwrap_or("part")),
    }
}

/// The entry that has the id of `message` in its thread, if there is one.
fn existing(deciding: &Deciding<'_>, message: &Message) -> Result<Option<Entry>, Undecided> {
    let key = message_key(&message.thread_id, &message.message_id);
    if let Some(entry) = deciding.claimed_here(&key) {
        return Ok(Some(entry.clone()));
    }
    if let Some(seq) = deciding.asked.known.keys.get(key.as_str()) {
        return deciding.entry(*seq);
    }
    let Some(seq) = message.message_id.as_seq().filter(|seq| *seq < deciding.next_seq()) else { return Ok(None) };
    let has_it = |entry: &Entry| {
        let same = |MessageAdded(there)| there.thread_id == message.thread_id && there.message_id == message.message_id;
        entry.header.kind.as_ref() == MessageAdded::TYPE && fact::read(entry).is_ok_and(same)
    };
    Ok(deciding.entry(seq)?.filter(has_it))
}

fn is_same(message: &Message, new: &NewMessage, there: &Entry) -> Result<bool, Error> {
    let MessageAdded(before) = fact::read(there)?;
    let timestamp = if new.timestamp.is_some() { message.timestamp } else { before.timestamp };
    Ok(Message { timestamp, ..message.clone() } == before)
}

fn conflict(there: &Receipt, at: usize) -> Error {
    Error::Conflict {
        code: "message_exists",
        what: format!(
            "/messages/{at}/message_id: entry {} has the id {} and says something else",
            there.seq, there.message_id
        ),
        hint: "give the message another id, or leave it out",
    }
}

/// The message with an id that nobody has taken.
fn unclaimed(deciding: &Deciding<'_>, message: Message) -> Message {
    let taken = |id: &MessageId| {
        let key = message_key(&message.thread_id, id);
        deciding.asked.known.keys.contains_key(key.as_str()) || deciding.claimed_here(&key).is_some()
    };
    let first = message.message_id.clone();
    let id = (2..).map(|n| first.suffixed(n)).find(|id| !taken(id)).filter(|_| taken(&first));
    Message { message_id: id.unwrap_or(first), ..message }
}
