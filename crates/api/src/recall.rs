//! Recall: what in a session answers a question.

use callboard_core::{
    conversation::Role,
    id::{AgentName, CollectionName, MessageId, Seq, ThreadId},
    recall::{RecallRole, Source},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::query::number;

/// A question to a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"query": "When did Ana move to Lisbon?", "limit": 5}))]
pub struct RecallBody {
    /// The question, in words: at most 16,384 bytes. Names, dates and identifiers weigh most.
    #[schema(value_type = callboard_core::schema::Saying)]
    pub query: String,
    /// The most passages to return. Each source elsewhere may add as many. If absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// The agent whose view is searched. If absent: the calling agent. For the user: the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Only messages of this thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Whose words the question is about; theirs come first. If absent: taken from the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RecallRole>,
    /// Only from these sources: `message`, `context_set`, `plan`, `variable`, `file`, `document`, and those elsewhere that the
    /// server has. If absent: from all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// As of this entry. If absent: as of now. Only the user may set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub at: Option<Seq>,
}

/// Searches for words as they are written.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// The words, all of which must be there. `"Quoted phrases"` and the filters `from:NAME`, `in:THREAD`, `before:TIME`, `after:TIME` and
    /// `type:SOURCE` work too.
    #[param(value_type = callboard_core::schema::Saying)]
    pub q: String,
    /// The most hits to return. If absent: 10.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Recalled {
    /// The passages, the best first, followed by those of each source elsewhere.
    pub hits: Vec<FoundPassage>,
    /// How many entries that were written before the call are not searched yet. Absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// Why nothing can be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The model whose vectors are used besides the words, or `unavailable: ` and the reason. Absent if the server has
    /// no such model. Only the user is told addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
    /// The sources elsewhere that were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<AskedSource>,
}

/// A source elsewhere that was asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AskedSource {
    /// Its name.
    pub name: String,
    /// Why it gave no passages. Absent if it answered. Only the user is told addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A passage that was found, in the session or elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "nearly all are of the session")]
pub enum FoundPassage {
    /// One of the session.
    Here(RecallHit),
    /// One of a source elsewhere.
    Elsewhere(ForeignHit),
}

/// A passage of a source elsewhere. Its text was written by somebody else.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForeignHit {
    /// The name of the source.
    pub source: String,
    /// What it says.
    pub text: String,
    /// How well it answers, according to the source. It cannot be compared with other scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// The title of the text that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A passage that was found.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RecallHit {
    /// The kind of thing that says it.
    pub source: Source,
    /// What it says. Secrets are hidden.
    pub text: String,
    /// How well it answers; more is better. Scores of different questions cannot be compared. For a search: how often
    /// it contains the words.
    pub score: f32,
    /// The entry.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The thread of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The name of the context set, document or variable, or the path of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of the document, for documents alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The collection that the document is in, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionName>,
    /// The agent that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The role of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// When it was said.
    pub timestamp: Timestamp,
    /// Why it was found.
    pub why: WhyRecalled,
    /// The place of the passage in the whole text.
    pub bytes: PassageBytes,
    /// The path of the call that gives the whole.
    pub read_on: String,
}

/// Why a passage was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct WhyRecalled {
    /// The words of the question that it contains, in the form in which they are compared.
    pub terms: Vec<String>,
    /// The words of the question that are near it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// What else the question says, and how much that adds to the score: `speaker`, `role`, `date`, `meaning`.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub signals: std::collections::BTreeMap<String, f32>,
}

/// The place of a passage in a text, in bytes of UTF-8.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct PassageBytes {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How long the whole text is.
    pub of: usize,
}
