//! What calls about steps answer.

use callboard_engine::core::{id::StepName, session::Ttl, time::Timestamp};
use serde::Deserialize;

/// Where a team is among its steps.
#[derive(Debug, Deserialize)]
pub(crate) struct Orchestration {
    pub(crate) active_step: Option<StepName>,
    /// Oldest first.
    pub(crate) recently_used_tools: Vec<String>,
    pub(crate) sequence_index: usize,
    /// Where whoever looks may see it.
    pub(crate) cumulative_token_usage: Option<TokenUsage>,
    pub(crate) last_accessed: Timestamp,
    pub(crate) ttl_seconds: Ttl,
}

/// What models used.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenUsage {
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    pub(crate) total_tokens: u64,
}

/// Which of some tools may be used now.
#[derive(Debug, Deserialize)]
pub(crate) struct Offer {
    pub(crate) allowed: Vec<String>,
    pub(crate) denied: Vec<Denied>,
}

/// A tool that may not be used now.
#[derive(Debug, Deserialize)]
pub(crate) struct Denied {
    pub(crate) tool: String,
    pub(crate) reason: String,
}
