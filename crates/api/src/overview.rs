//! What is known of a session at a glance.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    entry::Actor,
    id::{AgentName, RunId, Seq},
    run::{RunKind, Status},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is known of a session at a glance. Only the user and the manager see it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct SessionOverview {
    /// How many entries its journal has.
    #[schema(required = false)]
    pub entries: u64,
    /// How large these are together, in bytes, without the long texts that stand beside them.
    #[schema(required = false)]
    pub size_bytes: u64,
    /// Its last entry, if the caller sees that. Absent in the answers of changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastEntry>,
    /// The largest of the prompts with which the agents were asked last. Absent while no turn is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_prompt: Option<LargestPrompt>,
    /// The run that was started last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<SessionRun>,
    /// Whether a run or a form waits for the user.
    #[schema(required = false)]
    pub needs_user: bool,
    /// What its turns used, as far as that is known.
    #[schema(required = false)]
    pub usage: SessionUsage,
    /// What its turns cost, as far as the server knows prices: turns of models without a price are not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// The last entry of a session.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastEntry {
    /// Its number.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// When it was decided.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Its author: `user`, `system` or `agent:NAME`.
    #[schema(value_type = String)]
    pub by: Actor,
    /// Its type.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: Arc<str>,
    /// What it says, in a sentence of at most 120 characters.
    pub sentence: String,
}

/// The largest of the prompts with which the agents of a session were asked last.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LargestPrompt {
    /// Whose it is.
    #[schema(value_type = String)]
    pub agent: AgentName,
    /// Its size in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// The most tokens that a prompt of that agent may have.
    #[schema(value_type = u64)]
    pub window: Tokens,
    /// The size of a prompt at which the session warns.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
}

/// Where the last run of a session is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionRun {
    /// Its id.
    #[schema(value_type = String)]
    pub id: RunId,
    /// The kind of run: `team`.
    #[schema(value_type = String)]
    pub kind: RunKind,
    /// Its status: `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    pub status: Status,
    /// Why it is paused or has ended; only for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
}

/// What something costs by the prices with which the server was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    /// The amount.
    pub amount: f64,
    /// The currency, such as `USD`.
    pub currency: String,
}

/// What the turns of a session used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionUsage {
    /// Tokens of prompts, as the providers counted them.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// Both together.
    pub total_tokens: u64,
}
