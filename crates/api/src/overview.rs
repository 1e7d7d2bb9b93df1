//! What is known of a session at a glance.

use callboard_core::{
    count::Cost,
    overview::{LargestPrompt, LastEntry, RunOverview},
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
    pub run: Option<RunOverview>,
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
