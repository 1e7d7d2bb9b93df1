//! Conversations: threads and their messages.

pub mod answer;
mod blocks;
pub mod call_secrets;
pub(crate) mod decide;
pub mod facts;
pub mod given;
mod items;
pub mod pdf;
pub mod reading;
pub mod reasoning;
mod recall;
#[cfg(feature = "schema")]
mod schema;
pub mod settings;
pub mod shape;
mod summaries;
pub mod thoughts;
pub mod uploaded;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use self::summaries::{Cleared, StandingSummary, ThreadCompression};
pub use crate::role::Role;

use self::call_secrets::{CallSecrets, TakenSecrets};
use self::settings::{ThreadPatch, ThreadSettings};
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Team,
    audience::{Audience, VisibilitySpan},
    count::Tokens,
    entry::Header,
    id::{AgentName, MessageId, Seq, ThreadId},
    role::{agent_says, is_chat_of},
    text::{Text, Values},
    time::Timestamp,
};

/// The [words of the API](crate::api_words) in parts of messages: keys, and what may stand under them.
pub(crate) const PART_WORDS: &[(&str, &[&str])] = &[
    (
        "type",
        &[
            "file",
            "image",
            "image_url",
            "input_audio",
            "input_file",
            "input_image",
            "input_text",
            "output_text",
            "refusal",
            "document",
            "base64",
            "thinking",
            "redacted_thinking",
            "reasoning",
            "reasoning_content",
            "function",
            "function_call",
            "tool_use",
            "tool_result",
            "ephemeral",
        ],
    ),
    ("image_url", &[]),
    ("input_audio", &[]),
    ("file", &[]),
    ("file_data", &[]),
    ("file_id", &[]),
    ("file_url", &[]),
    ("filename", &[]),
    ("citations", &[]),
    ("source", &[]),
    ("media_type", &[]),
    ("refusal", &[]),
    ("thinking", &[]),
    ("signature", &[]),
    ("reasoning", &[]),
    ("reasoning_content", &[]),
    ("cache_control", &[]),
    ("function", &[]),
    ("function_call", &[]),
    ("arguments", &[]),
    ("annotations", &[]),
    ("content", &[]),
    ("outcome", &["created", "updated", "unchanged", "deleted", "created_empty", "conflict", "rejected"]),
];

/// How many messages one call adds at most.
pub const MAX_MESSAGES: usize = 25_000;

/// Of so many calls of tools, the newest in a thread, it is known who made them. Each thread holds as many in the state.
const KNOWN_CALLS: usize = 64;

/// A message, as its entry holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id, unique in its thread.
    pub message_id: MessageId,
    /// The thread it is in.
    pub thread_id: ThreadId,
    /// The role of its author.
    pub role: Role,
    /// The agent that said it, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What it says.
    pub content: Content,
    /// When it was written, according to its author.
    pub timestamp: Timestamp,
    /// Data that its author attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Criteria for the answer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Arc<str>>,
    /// What the model thought before it said this, in blocks as its provider gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Map<String, Value>>,
    /// What else was in the object of a provider that it came as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_given: Option<AsGiven>,
    /// What was sealed of its calls, or of the result that it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<CallSecrets>,
    /// The size of its content and its tool calls.
    pub tokens: Tokens,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Message))]
pub struct MessageView {
    /// Its id.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub message_id: MessageId,
    /// Its thread.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub thread_id: ThreadId,
    /// The entry that added it.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// The role of its author.
    pub role: Role,
    /// The agent that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub agent: Option<AgentName>,
    /// Its content: a text, or a list of parts.
    #[cfg_attr(feature = "schema", schema(value_type = schema::ContentForm))]
    pub content: Value,
    /// When it was said.
    pub timestamp: Timestamp,
    /// Data that its author attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What a good answer to it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Arc<str>>,
    /// What the model thought before it said this, in blocks as its provider gave them. Only the user and the agent itself see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Map<String, Value>>,
    /// What else was in the object of a provider that it came as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_given: Option<AsGiven>,
    /// Which agents could see it when it was added. Only where that was asked for, by the user or the manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// What was in a message object of a provider and has no field of its own, so that it can be given back as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AsGiven {
    /// Whose object it was.
    pub shape: MessageShape,
    /// Whether the message was in one object with the message before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    /// The fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl AsGiven {
    /// What a message was given as in which a model refuses to answer, and whose content says why.
    pub(crate) fn refusal() -> Self {
        let fields = [(REFUSAL.to_owned(), Value::Bool(true))];
        Self { shape: MessageShape::OpenAi, joined: false, fields: fields.into_iter().collect() }
    }
}

/// The field of OpenAI's messages that says why a model refused to answer; `true` where that is the content.
const REFUSAL: &str = "refusal";

/// Whose message objects are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum MessageShape {
    /// Those of OpenAI's chat completions.
    OpenAi,
    /// Those of Anthropic's Messages API.
    Anthropic,
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Its id, to which the result refers.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: an object, or the text of one.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Value>))]
    pub arguments: Value,
}

/// A message to add.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// Its id. If absent, one is derived from the entry.
    #[serde(default)]
    pub message_id: Option<MessageId>,
    /// The thread it is added to. Optional, since the path names it.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The role of its author.
    pub role: Role,
    /// What it says.
    #[serde(default)]
    pub content: Option<NewContent>,
    /// When it was written. If absent: now.
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// Data to attach.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// The call that it is the result of.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// Criteria for the answer to it.
    #[serde(default, skip)]
    pub expected_output: Option<Arc<str>>,
    /// What the model thought before it said this, in blocks as its provider gave them.
    #[serde(default)]
    pub reasoning: Vec<Map<String, Value>>,
    /// What else was in the object of a provider that it came as.
    #[serde(default, skip)]
    pub as_given: Option<AsGiven>,
    /// The entries whose words it repeats.
    #[serde(default, skip)]
    pub copied_from: Vec<Seq>,
    /// What was taken out of its calls, or of the result that it is.
    #[serde(default, skip)]
    pub secrets: Vec<TakenSecrets>,
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
            reasoning: Vec::new(),
            as_given: None,
            copied_from: Vec::new(),
            secrets: Vec::new(),
        }
    }
}

/// The result of a call of a tool: a text, and what a model that takes it sees beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The text.
    pub text: Arc<str>,
    /// Pictures, as parts of messages.
    pub media: Vec<Map<String, Value>>,
    /// The entries whose words it repeats.
    pub copied_from: Vec<Seq>,
}

impl ToolResult {
    /// The message with it, as the result of the call with this id.
    pub fn message(&self, call: &str) -> NewMessage {
        let mut message = NewMessage::text(Role::Tool, self.text.clone());
        if !self.media.is_empty() {
            let fields = [("type", "text"), ("text", &*self.text)];
            let text: Map<_, _> =
                fields.map(|(name, value)| (name.to_owned(), Value::from(value))).into_iter().collect();
            message.content = Some(NewContent::Parts([vec![text], self.media.clone()].concat()));
        }
        NewMessage { tool_call_id: Some(call.to_owned()), copied_from: self.copied_from.clone(), ..message }
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self { text: text.into(), media: Vec::new(), copied_from: Vec::new() }
    }
}

/// Messages that are to be added to a thread, all or none.
#[derive(Clone, Debug, PartialEq)]
pub struct AddMessages {
    /// The thread.
    pub thread: ThreadId,
    /// The messages, at most [`MAX_MESSAGES`].
    pub messages: Vec<NewMessage>,
}

/// The command to make or to change a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct PutThread {
    /// The thread. It is made if it is not there.
    pub thread: ThreadId,
    /// What it is to be.
    pub patch: ThreadPatch,
}

/// What a program that asks models itself sends of a conversation with an agent: what is new in it, and what of its own holds there. All
/// or none.
#[derive(Clone, Debug, PartialEq)]
pub struct AddClientMessages {
    /// The agent. It says what models said and tools gave, and all of it where the program asks as the agent.
    pub agent: AgentName,
    /// What changes in the thread, with instructions and tools of the program's own: what its provider takes of them is not asked here.
    pub patch: ThreadPatch,
    /// The messages, of any number, and the thread. It is made if it is not there.
    pub add: AddMessages,
}

impl PutThread {
    /// The change of who sees a thread, and of nothing else.
    pub fn seen_by(thread: ThreadId, audience: Audience) -> Self {
        Self { thread, patch: ThreadPatch { visible_to: Some(audience), ..ThreadPatch::default() } }
    }
}

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AddedMessage))]
pub struct MessageReceipt {
    /// Its id.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub message_id: MessageId,
    /// The entry that added it.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
}

/// A thread, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Who may see it, and since when.
    pub sight: VisibilitySpan,
    /// How much was said to which audience. What a viewer saw of it is the thread's size for that viewer.
    said: Vec<SaidBefore>,
    /// Whether some message was given an id that looks like a derived one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_given_derived_ids: bool,
    /// What the manager's last message expects of the answer to it, and which message that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) criteria: Option<Criteria>,
    /// Which summaries stand for what was said, and what is pinned.
    #[serde(default, skip_serializing_if = "ThreadCompression::is_empty")]
    pub compression: ThreadCompression,
    /// What holds for every agent that speaks in it.
    #[serde(default, skip_serializing_if = "ThreadSettings::is_default")]
    pub settings: ThreadSettings,
    /// The entry that says so.
    #[serde(default, skip_serializing_if = "Seq::is_zero")]
    pub settings_seq: Seq,
    /// The newest calls of tools in it, the newest last.
    #[serde(default, skip_serializing_if = "<[MadeCall]>::is_empty")]
    calls: Arc<[MadeCall]>,
}

/// A call of a tool, as a thread remembers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MadeCall {
    id: Arc<str>,
    /// The agent that made it, if one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
}

/// What a message expects of the answer to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Criteria {
    pub(crate) message_id: MessageId,
    pub(crate) text: Arc<str>,
    /// The entry of the message.
    pub(crate) seq: Seq,
    /// Who saw it then.
    pub(crate) audience: Audience,
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
    /// How many of them the user said.
    pub of_user: u64,
    /// How many of them the manager said, or a model that nobody named. Those that only call tools do not count.
    pub of_manager: u64,
}

/// Who said a message, as far as messages are numbered by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The manager.
    Manager,
    /// Another agent, a tool or Callboard.
    Other,
}

impl Size {
    fn add(&mut self, other: &Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.tokens += other.tokens;
        self.last_at = self.last_at.max(other.last_at);
        self.of_user = self.of_user.saturating_add(other.of_user);
        self.of_manager = self.of_manager.saturating_add(other.of_manager);
    }
}

/// How much was said to one audience, between two entries that hid the thread from an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SaidBefore {
    audience: Audience,
    /// The first message of these.
    first: Seq,
    last: Seq,
    size: Size,
}

impl Thread {
    fn new(audience: Audience, seq: Seq) -> Self {
        let sight = VisibilitySpan::new(audience, seq);
        Self {
            sight,
            said: Vec::new(),
            has_given_derived_ids: false,
            criteria: None,
            compression: ThreadCompression::default(),
            settings: ThreadSettings::default(),
            settings_seq: Seq::ZERO,
            calls: Arc::default(),
        }
    }

    /// Whether other agents than `agent` made all calls with this id, as far as calls are known.
    pub(crate) fn is_call_of_others(&self, id: &str, agent: &AgentName) -> bool {
        let mut callers = self.calls.iter().filter(|call| *call.id == *id).map(|call| call.agent.as_ref()).peekable();
        callers.peek().is_some() && callers.all(|caller| caller.is_some_and(|caller| caller != agent))
    }

    fn remember_calls(&mut self, agent: Option<&AgentName>, calls: &[ToolCall]) {
        if calls.is_empty() {
            return;
        }
        let made = calls.iter().map(|call| MadeCall { id: call.id.as_str().into(), agent: agent.cloned() });
        let made: Vec<_> = made.collect();
        // Some models give all calls the same id: that of one agent must not push out that of another.
        let others: Vec<_> = self.calls.iter().filter(|known| !made.contains(known)).cloned().collect();
        let forgotten = (others.len() + made.len()).saturating_sub(KNOWN_CALLS);
        self.calls = others.into_iter().chain(made).skip(forgotten).collect();
    }

    /// The size of the whole thread.
    pub fn size(&self) -> Size {
        self.size_of(|_| true)
    }

    fn size_of(&self, counts: impl Fn(&SaidBefore) -> bool) -> Size {
        let mut size = Size::default();
        self.said.iter().filter(|said| counts(said)).for_each(|said| size.add(&said.size));
        size
    }

    /// Whether all of `readers` may see what the entry `seq` says, which was for `audience`. They are among those who see
    /// the thread now.
    pub fn is_for(&self, readers: &Audience, seq: Seq, audience: &Audience) -> bool {
        audience.covers(readers) && self.sight.reaches_all(readers, seq)
    }

    /// For whom the thread is summarised, each with what they all see: first for the agents that see more of it than
    /// everyone who sees it does, those who see the most first, and last (`None`) for everyone. Whoever sees a message
    /// sees all that came after it, so that each sees what the next ones see too.
    pub fn readers(&self, team: &Team) -> Vec<Option<Audience>> {
        let everyone = &self.sight.audience;
        let of_everyone = self.size_of(|said| self.is_for(everyone, said.last, &said.audience)).messages;
        let mut others: BTreeMap<Reverse<u64>, BTreeSet<AgentName>> = BTreeMap::new();
        for agent in team.names().filter(|agent| everyone.contains(agent)) {
            let sees = |said: &SaidBefore| said.audience.contains(agent) && self.sight.reaches(agent, said.last);
            let messages = self.size_of(sees).messages;
            if messages > of_everyone {
                others.entry(Reverse(messages)).or_default().insert(agent.clone());
            }
        }
        others.into_values().map(|agents| Some(Audience::of(agents))).chain([None]).collect()
    }

    /// The first message that all of `readers` see, if there is one.
    pub fn begins(&self, readers: &Audience) -> Option<Seq> {
        let seen = self.said.iter().filter(|said| self.is_for(readers, said.last, &said.audience));
        seen.map(|said| said.first).min()
    }

    fn hear(&mut self, tokens: Tokens, speaker: Speaker, header: &Header) {
        let (of_user, of_manager) = (u64::from(speaker == Speaker::User), u64::from(speaker == Speaker::Manager));
        let one = Size { messages: 1, tokens, last_at: Some(header.at), of_user, of_manager };
        let (audience, seq) = (header.audience.clone(), header.seq);
        self.said.push(SaidBefore { audience, first: seq, last: seq, size: one });
        self.gather();
    }

    fn change_sight(&mut self, audience: Audience, seq: Seq) {
        self.sight.change(audience, seq);
        self.gather();
    }

    fn settle(&mut self, settings: ThreadSettings, seq: Seq) {
        self.settings_seq = if settings.is_default() { Seq::ZERO } else { seq };
        self.settings = settings;
    }

    /// Adds a message to the sum of its audience: there are only as many sums as audiences.
    fn gather(&mut self) {
        let mut gathered: Vec<SaidBefore> = Vec::new();
        for said in std::mem::take(&mut self.said) {
            let belongs = |other: &&mut SaidBefore| {
                other.audience == said.audience && self.sight.era(other.last) == self.sight.era(said.last)
            };
            match gathered.iter_mut().find(belongs) {
                Some(other) => {
                    other.first = said.first.min(other.first);
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
    /// The thread with this name, visible or not.
    pub fn get(&self, name: &ThreadId) -> Option<&Arc<Thread>> {
        self.0.get(name)
    }

    /// All threads by name, visible or not.
    pub fn iter(&self) -> impl Iterator<Item = (&ThreadId, &Arc<Thread>)> {
        self.0.iter()
    }

    /// Whether `agent` sees what the entry `seq` says in the thread `name`.
    pub(crate) fn reach(&self, name: &ThreadId, agent: &AgentName, seq: Seq) -> bool {
        self.get(name).is_some_and(|thread| thread.sight.reaches(agent, seq))
    }

    /// Changes what a thread knows of its compression.
    pub(crate) fn compress(&mut self, name: &ThreadId, change: impl FnOnce(&mut ThreadCompression)) {
        if let Some(mut thread) = self.0.get(name).cloned() {
            change(&mut Arc::make_mut(&mut thread).compression);
            self.0.insert_mut(name.clone(), thread);
        }
    }

    fn change(&mut self, name: &ThreadId, seq: Seq, audience: &Audience, change: impl FnOnce(&mut Thread)) {
        let new = || Arc::new(Thread::new(audience.clone(), seq));
        let mut thread = self.0.get(name).cloned().unwrap_or_else(new);
        change(Arc::make_mut(&mut thread));
        self.0.insert_mut(name.clone(), thread);
    }
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

impl NewContent {
    fn parts(&self) -> &[Map<String, Value>] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }
}

impl Message {
    /// By whom it is numbered, in a team with this manager.
    pub fn speaker(&self, manager: Option<&AgentName>) -> Speaker {
        match (self.role, &self.agent) {
            (Role::User, None) => Speaker::User,
            (Role::Ai, None) if !self.content.is_blank() => Speaker::Manager,
            (Role::User | Role::Ai, Some(agent)) if Some(agent) == manager && !self.content.is_blank() => {
                Speaker::Manager
            }
            _ => Speaker::Other,
        }
    }
}

impl Message {
    /// The agent that says it, as `reader` is told; no reader is the user. See `agent_says`.
    pub fn said_by(&self, reader: Option<&AgentName>) -> Option<&AgentName> {
        self.agent.as_ref().filter(|agent| agent_says(agent.as_str(), self.role, self.thread_id.as_str(), reader))
    }

    /// Whether it is in a conversation of this agent at a base URL.
    pub fn is_in_chat_of(&self, agent: &AgentName) -> bool {
        is_chat_of(agent.as_str(), self.thread_id.as_str())
    }

    /// Why its model refused to answer, where it did; empty where the content says so.
    pub fn refusal(&self) -> Option<&str> {
        match self.as_given.as_ref()?.fields.get(REFUSAL)? {
            Value::String(why) => Some(why),
            Value::Bool(true) => Some(""),
            _ => None,
        }
    }

    /// The name of its author that came with it, on one line and in characters that no mark of a speaker is made of.
    pub fn author_name(&self) -> Option<Arc<str>> {
        let name = self.as_given.as_ref()?.fields.get("name")?.as_str()?;
        let allowed = |c: char| if c.is_alphanumeric() || "_-. ".contains(c) { c } else { '_' };
        let name: String = name.trim().chars().take(64).map(allowed).collect();
        name.contains(char::is_alphanumeric).then(|| name.into())
    }
}

impl MessageView {
    /// The agent that says it, as `reader` is told; no reader is the user. See `agent_says`.
    pub fn said_by(&self, reader: Option<&AgentName>) -> Option<&AgentName> {
        self.agent.as_ref().filter(|agent| agent_says(agent.as_str(), self.role, self.thread_id.as_str(), reader))
    }
}

impl Content {
    /// Whether it says nothing.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.is_blank(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }

    /// The content as text; parts that are not text are named. If it is stored beside the journal and was not read yet,
    /// the hash to read first.
    pub fn in_text(&self, values: &Values) -> Result<Arc<str>, crate::entry::Hash> {
        self.in_text_with(values, named)
    }

    /// The same, where `named` gives the line for a part that is not text.
    pub fn in_text_with(
        &self,
        values: &Values,
        mut named: impl FnMut(&Map<String, Value>) -> String,
    ) -> Result<Arc<str>, crate::entry::Hash> {
        match self {
            Self::Text(text) => text.whole(values).cloned(),
            Self::Parts(parts) => {
                let texts = parts.iter().map(|part| text_in_part(part).unwrap_or_else(|| named(part)));
                Ok(texts.collect::<Vec<_>>().join("\n").into())
            }
        }
    }

    /// The same of what a model said itself: what is no text is left out, so that no placeholder stands as its words.
    pub fn in_own_text(&self, values: &Values) -> Result<Arc<str>, crate::entry::Hash> {
        match self {
            Self::Text(_) => self.in_text(values),
            Self::Parts(parts) => {
                let (mut text, mut before) = (String::new(), None);
                for (part, words) in parts.iter().filter_map(|part| Some((part, text_in_part(part)?))) {
                    // A sentence that names its sources is a part of its own, amid the text.
                    if before.is_some_and(|before| !is_cited(before) && !is_cited(part)) {
                        text.push('\n');
                    }
                    text.push_str(&words);
                    before = Some(part);
                }
                Ok(text.into())
            }
        }
    }
}

/// Whether a part names its sources.
fn is_cited(part: &Map<String, Value>) -> bool {
    part.get("citations").and_then(Value::as_array).is_some_and(|sources| !sources.is_empty())
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

    /// The arguments as JSON. Models give them as an object, or as the text of one; any other text stays a text.
    pub fn arguments_json(&self) -> Value {
        let read = self.arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        read.unwrap_or_else(|| self.arguments.clone())
    }
}

/// A part as text. One that is not text is named instead.
fn part_text(part: &Map<String, Value>) -> String {
    text_in_part(part).unwrap_or_else(|| named(part))
}

/// The name of a part that is not text.
fn named(part: &Map<String, Value>) -> String {
    format!("[{} not shown]", part_type(part))
}

/// The type of a part.
pub fn part_type(part: &Map<String, Value>) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or("part")
}

/// The text that a part has: its own, why a model refused, that of a document, or that of what a search found.
fn text_in_part(part: &Map<String, Value>) -> Option<String> {
    let field = |name| part.get(name).and_then(Value::as_str);
    let texts = |content: Option<&Value>| match content {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    };
    if let Some(text) = field("text").or_else(|| field("refusal")) {
        return Some(text.to_owned());
    }
    match field("type") {
        Some("document") => {
            let source = part.get("source")?;
            let is_text = source.get("type").and_then(Value::as_str) == Some("text");
            texts(source.get(if is_text { "data" } else { "content" }))
        }
        Some("search_result") => texts(part.get("content")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
