//! What a list of sessions says of one: its last entry, its largest prompt, and its run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    count::Tokens,
    entry::Actor,
    id::{AgentName, RunId, Seq},
    run::{RunKind, Status},
    time::Timestamp,
};

/// The last entry of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LastEntry {
    /// Its number.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Its author: `user`, `system` or `agent:NAME`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub by: Actor,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// What it says, in a sentence of at most 120 characters.
    pub sentence: String,
}

/// The largest of the prompts with which the agents of a session were asked last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LargestPrompt {
    /// Whose it is.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub agent: AgentName,
    /// Its size in tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens: Tokens,
    /// The most tokens that a prompt of that agent may have.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub window: Tokens,
    /// The size of a prompt at which the session warns.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub warn_at: Tokens,
}

/// Where the last run of a session is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SessionRun))]
pub struct RunOverview {
    /// Its id.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: RunId,
    /// The kind of run: `team`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub kind: RunKind,
    /// Its status: `running`, `awaiting_user`, `awaiting_tool`, `paused`, `completed`, `failed` or `cancelled`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub status: Status,
    /// Why it is paused or has ended; only for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was started.
    pub started_at: Timestamp,
}
