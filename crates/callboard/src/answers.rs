//! What calls answer, as far as it is shown to people.

mod steps;

use std::sync::Arc;

use callboard_engine::core::{
    agent::Agent,
    audience::Audience,
    context_set::Outcome,
    conversation::{Role, ToolCall},
    count::{Counting, Tokens},
    entry::Actor,
    form::Field,
    id::{AgentName, MessageId, RunId, Seq, SessionId, SetName, ThreadId},
    prompt::{PartReport, profile::Profile},
    run::{Limits, Status, Used},
    session::Ttl,
    step::Steps,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

pub(crate) use self::steps::{Offer, Orchestration};

/// A session.
#[derive(Debug, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) head: Seq,
    pub(crate) title: Option<String>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) created_at: Timestamp,
    pub(crate) last_activity: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) ttl_seconds: Ttl,
    #[serde(default)]
    pub(crate) prompt: Profile,
    #[serde(default)]
    pub(crate) limits: Limits,
    #[serde(default)]
    pub(crate) steps: Steps,
}

/// A page of sessions, as they are.
#[derive(Debug, Deserialize)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<Box<RawValue>>,
    pub(crate) next_cursor: Option<String>,
}

/// The session that was used last, if there is any.
#[derive(Debug, Deserialize)]
pub(crate) struct LastSession {
    pub(crate) sessions: Vec<Session>,
}

/// A context set.
#[derive(Debug, Deserialize)]
pub(crate) struct Set {
    pub(crate) name: SetName,
    pub(crate) content: Option<Arc<str>>,
    pub(crate) visible_to: Audience,
    pub(crate) enabled: bool,
    pub(crate) form: Option<Form>,
    pub(crate) tokens: Tokens,
    /// How it came out, where it was put.
    pub(crate) outcome: Option<Outcome>,
}

/// Context sets.
#[derive(Debug, Deserialize)]
pub(crate) struct Sets {
    pub(crate) context_sets: Vec<Set>,
}

/// A form, which stands in a context set.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Form {
    pub(crate) name: SetName,
    pub(crate) fields: Vec<Field>,
    pub(crate) answered: bool,
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub(crate) answers: serde_json::Map<String, Value>,
}

/// A thread.
#[derive(Debug, Deserialize)]
pub(crate) struct Thread {
    pub(crate) name: ThreadId,
    pub(crate) visible_to: Audience,
    pub(crate) messages: u64,
    pub(crate) tokens: Tokens,
}

/// Threads.
#[derive(Debug, Deserialize)]
pub(crate) struct Threads {
    pub(crate) threads: Vec<Thread>,
}

/// Where messages that were added are.
#[derive(Debug, Deserialize)]
pub(crate) struct Added {
    pub(crate) messages: Vec<AddedMessage>,
}

/// Where a message is.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct AddedMessage {
    pub(crate) message_id: MessageId,
    pub(crate) seq: Seq,
}

/// A message.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    pub(crate) seq: Seq,
    pub(crate) role: Role,
    pub(crate) agent: Option<AgentName>,
    pub(crate) content: Value,
    pub(crate) timestamp: Timestamp,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
}

/// Messages.
#[derive(Debug, Deserialize)]
pub(crate) struct Messages {
    pub(crate) messages: Vec<Message>,
}

/// A prompt.
#[derive(Debug, Deserialize)]
pub(crate) struct Prompt {
    pub(crate) budget: Tokens,
    pub(crate) tokens: Tokens,
    pub(crate) counting: Counting,
    pub(crate) vocabulary: String,
    pub(crate) parts: Vec<PartReport>,
    pub(crate) text: Option<String>,
    pub(crate) messages: Option<Vec<Value>>,
    pub(crate) system: Option<Value>,
}

/// A run.
#[derive(Debug, Deserialize)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    /// The form that it waits for.
    pub(crate) form: Option<SetName>,
    /// The agent whose tools it waits for, and the calls.
    pub(crate) agent: Option<AgentName>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) used: Used,
    pub(crate) started_at: Timestamp,
}

/// Runs.
#[derive(Debug, Deserialize)]
pub(crate) struct Runs {
    pub(crate) runs: Vec<Run>,
}

/// Entries of a journal.
#[derive(Debug, Deserialize)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<Entry>,
}

/// An entry. It is printed for programs as it came.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) by: Actor,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subject: String,
    pub(crate) data: Box<RawValue>,
}

/// Where a text stands.
#[derive(Debug, Deserialize)]
pub(crate) struct Findings {
    pub(crate) findings: Vec<Finding>,
}

/// An entry in which a text stands, and what became of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Finding {
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) by: Actor,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subject: String,
    pub(crate) excerpt: String,
    pub(crate) visible_to: Option<Audience>,
    #[serde(default)]
    pub(crate) hidden_from: Vec<AgentName>,
    #[serde(default)]
    pub(crate) shown: Vec<Shown>,
    pub(crate) gone: Option<Gone>,
}

/// A prompt that showed an entry.
#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    pub(crate) agent: AgentName,
    pub(crate) run: RunId,
    pub(crate) turn: u64,
    pub(crate) seq: Seq,
}

/// What took the place of a thing, or took it away.
#[derive(Debug, Deserialize)]
pub(crate) struct Gone {
    pub(crate) seq: Seq,
    pub(crate) by: Actor,
    pub(crate) how: String,
}

/// A token.
#[derive(Debug, Deserialize)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) agent: Option<AgentName>,
    pub(crate) role: Option<String>,
    pub(crate) created_at: Timestamp,
    /// What is shown to be let in, where it was just made.
    pub(crate) token: Option<String>,
}

/// Tokens.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenList {
    pub(crate) tokens: Vec<Token>,
}

/// What a server says of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Health {
    pub(crate) version: Option<String>,
}

/// What a server says of its store.
#[derive(Debug, Deserialize)]
pub(crate) struct Ready {
    pub(crate) durability: Option<String>,
}
