//! Compression: summaries in the place of what was said, pins, and the sizes of prompts.

use callboard_core::{
    compression::Thresholds,
    count::Tokens,
    id::{AgentName, MessageId, RunId, Seq},
};
use callboard_prompt::PartReport;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a thread is to be compressed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compress {
    /// The largest size of the history afterwards, in tokens. If absent: as the session's settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 500)]
    pub target_tokens: Option<Tokens>,
    /// How many tokens of the newest messages are kept word for word. If absent: a quarter of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 0)]
    pub keep_recent_tokens: Option<Tokens>,
    /// The model that writes the summary. If absent: the manager's model, else the default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `extractive` makes the summary of excerpts, without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<WantedMethod>,
    /// Whether to only report what would be done. Then nothing is changed, and no model is asked.
    pub preview: bool,
}

/// How a summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedMethod {
    /// By a model, and without one where none answers.
    Model,
    /// Of excerpts.
    Extractive,
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

/// How large the prompts of a thread are now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSize {
    /// The size of the caller's prompt. For the user: of the manager's prompt, else of the prompt of the first agent
    /// that sees the thread.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// The size at which there is a warning.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
    /// The size at which the thread is compressed.
    #[schema(value_type = u64)]
    pub compress_at: Tokens,
    /// The prompts of all agents that see the thread and that the caller may know about.
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
    /// The budget of the prompt.
    #[schema(value_type = u64)]
    pub window: Tokens,
    /// The size at which there is a warning.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
    /// The size at which the thread is compressed.
    #[schema(value_type = u64)]
    pub compress_at: Tokens,
    /// What its last turn used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
}

/// The tokens of a turn, as the provider and as Callboard counted them.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastTurn {
    /// The run, if it was a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub run: Option<RunId>,
    /// The number of the turn in its run; outside of runs that of the turn.
    pub turn: u64,
    /// The size of its prompt, as Callboard counted it.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// The tokens of the prompt, as the provider counted them. Absent while there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// The tokens of the answer, as the provider counted them.
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
    /// The largest size afterwards.
    #[schema(value_type = u64)]
    pub tokens_after: Tokens,
    /// The newest compression, which can be undone.
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
