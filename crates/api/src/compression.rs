//! Compression: summaries in the place of what was said, pins, and the sizes of prompts.

use callboard_core::{
    compression::{Method, Spent, Thresholds},
    count::Tokens,
    id::{AgentName, MessageId, RunId, Seq},
    prompt::PartReport,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a thread is to be compressed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compress {
    /// The size of its history after that, at most; as the session says where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 500)]
    pub target_tokens: Option<Tokens>,
    /// How much of that the newest messages may have, word for word; a quarter where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 0)]
    pub keep_recent_tokens: Option<Tokens>,
    /// The model that writes the summary; the manager's, or that of agents that name none, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `extractive` makes the summary of excerpts, without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<WantedMethod>,
    /// Whether it is only to be said what would be done. Nothing is changed then, and no model asked.
    pub preview: bool,
}

/// How a summary is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedMethod {
    /// By a model, and without one where none answers.
    Model,
    /// Of excerpts.
    Extractive,
}

/// What came of compressing a thread.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CompressAnswer {
    /// The entry that holds the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub seq: Option<Seq>,
    /// The last entry that it covers; 0 where there is nothing to compress.
    #[schema(value_type = u64)]
    pub through: Seq,
    /// How many messages it covers.
    pub messages: u64,
    /// The size of the history before.
    #[schema(value_type = u64)]
    pub tokens_before: Tokens,
    /// Its size after.
    #[schema(value_type = u64)]
    pub tokens_after: Tokens,
    /// How the summary was made.
    pub method: Method,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why none did although one was to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it cost.
    pub spent: Spent,
}

/// A compression that was undone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoneCompression {
    /// The entry of the compression.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The head of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// Whether a message is pinned.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Pinned {
    /// The message.
    #[schema(value_type = String)]
    pub message_id: MessageId,
    /// The entry that added it.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// Whether it is pinned now.
    pub pinned: bool,
}

/// How large the prompts are that a thread leads to now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSize {
    /// The size of the prompt of whoever asks; for the user of the manager's, or of that of the first agent that sees the
    /// thread.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// The size from which on there is a warning.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
    /// The size from which on the thread is compressed.
    #[schema(value_type = u64)]
    pub compress_at: Tokens,
    /// The prompts of all agents that see the thread, as far as the caller may know them.
    #[serde(default)]
    pub agents: Vec<AgentContext>,
    /// What compressing the thread would save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<PossibleCompression>,
}

/// How large the prompt of an agent is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AgentContext {
    /// The agent.
    #[schema(value_type = String)]
    pub agent: AgentName,
    /// The size of its prompt.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// The parts of its prompt, in order.
    pub parts: Vec<PartReport>,
    /// What the prompt has to fit in.
    #[schema(value_type = u64)]
    pub window: Tokens,
    /// The size from which on there is a warning.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
    /// The size from which on the thread is compressed.
    #[schema(value_type = u64)]
    pub compress_at: Tokens,
    /// What its last turn used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
}

/// What a turn used: the provider's own count, and ours.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastTurn {
    /// The run, if it was a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub run: Option<RunId>,
    /// The number of the turn in its run; outside of runs that of the turn.
    pub turn: u64,
    /// The size of its prompt as it was counted here.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// What the provider says that it read; absent as long as there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// What the provider says that it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
}

/// What compressing a thread would save.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PossibleCompression {
    /// How many messages a summary would cover; 0 where there is nothing to compress.
    pub messages: u64,
    /// The size of the history now.
    #[schema(value_type = u64)]
    pub tokens_before: Tokens,
    /// Its size after that, at most.
    #[schema(value_type = u64)]
    pub tokens_after: Tokens,
    /// The newest compression that stands, which can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub newest: Option<Seq>,
}

impl ContextSize {
    /// The size of a prompt, and its thresholds.
    pub fn new(tokens: Tokens, parts: Vec<PartReport>, thresholds: Thresholds) -> Self {
        let (warn_at, compress_at) = (thresholds.warn, thresholds.compress);
        Self { tokens, parts, warn_at, compress_at, agents: Vec::new(), compression: None }
    }
}
