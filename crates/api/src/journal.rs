//! The journal: reading it, following it, searching it.

use callboard_core::{
    id::{AgentName, Seq, SessionId, ThreadId},
    schema::Saying,
};
use callboard_prompt::why::Finding;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    Roles,
    query::{flag, number},
};

/// Selects entries of a journal.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JournalQuery {
    /// Only entries with a greater number than this.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    pub after: Option<u64>,
    /// Only entries with a smaller number than this.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    pub before: Option<u64>,
    /// The most entries to return. If absent: all, or 100 with the newest first.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// Only entries of these types, separated by commas, such as `message.added,run.started`.
    pub types: Option<String>,
    /// Only entries about this, such as `set:facts`, `thread:main` or `plan`.
    pub subject: Option<String>,
    /// Only entries of this author: `user`, `system` or the name of an agent.
    pub by: Option<String>,
    /// Only entries that this agent may see. Only the user and the manager can name another agent.
    pub audience: Option<AgentName>,
    /// Only entries that contain this text, in upper or lower case. Of texts over 64 KiB the beginning is searched.
    pub q: Option<String>,
    /// `asc` gives the oldest entry first, `desc` the newest.
    #[serde(default)]
    #[param(inline, required = false)]
    pub order: JournalOrder,
    /// Whether each entry comes with `sentence`, which says what it says.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = bool, required = false)]
    pub sentences: bool,
}

/// The order of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JournalOrder {
    /// The oldest first.
    #[default]
    Asc,
    /// The newest first.
    Desc,
}

/// The outcome of erasing an entry.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErasedEntry {
    /// The entry. Its header and the hash of what it said are kept.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The entry that says who erased it and why. Absent in a fork that was made before it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub erased_by: Option<Seq>,
    /// The entries that held copies of its words, which were erased with it: summaries, answers to requests with an
    /// idempotency key, later versions of the same thing, turns, and results of Callboard's own tools.
    #[schema(value_type = Vec<u64>)]
    pub copies: Vec<Seq>,
    /// The other sessions that still have the words of the entry: forks and copies, or the session that this one was
    /// forked from. Erase it there too.
    #[schema(value_type = Vec<String>)]
    pub forks: Vec<SessionId>,
    /// The head of the session afterwards.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// Selects the entries of a stream.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FollowQuery {
    /// Start after the entry with this number. If absent: with the next new entry. `Last-Event-ID` takes precedence.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    pub after: Option<u64>,
    /// Only entries of these types, separated by commas, such as `message.added,run.started`.
    pub types: Option<String>,
    /// Only entries about this thread.
    pub thread: Option<ThreadId>,
    /// Only messages with these roles, separated by commas.
    #[param(value_type = Option<Roles>)]
    pub roles: Option<String>,
}

/// An event of the stream.
#[derive(Debug, ToSchema)]
pub struct Event {
    /// The number of the entry. Absent on events that are not stored: `turn.delta`, `browser.changed`, `browser.noticed`, `entries.changed`.
    pub id: Option<String>,
    /// The type of the entry, or of an event that is not stored.
    pub event: Option<String>,
    /// The entry as JSON.
    pub data: Option<String>,
}

/// The type of an event that carries a piece of a model's answer.
pub const DELTA: &str = "turn.delta";

/// The type of an event that tells an agent that entries which it sees say something else now. It names none.
pub const REWRITTEN: &str = "entries.changed";

/// The text whose history is asked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhyQuery {
    /// The text to look for, exactly as it was written.
    #[param(value_type = Saying)]
    pub text: String,
}

/// The entries that contain a text.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Findings {
    /// The entries, the oldest first.
    pub findings: Vec<Finding>,
}
