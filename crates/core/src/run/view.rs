//! Turns, as those see them who may.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    count::{Cost, Tokens, Usage},
    id::{AgentName, RunId, Seq, ThreadId},
    time::Timestamp,
};

/// A turn: a model was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Turn))]
pub struct TurnView {
    /// Its number: that of the entry that requested it.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub turn: Seq,
    /// The agent whose model was asked.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub agent: AgentName,
    /// The thread in which the agent speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub thread: Option<ThreadId>,
    /// The entry that requested it.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// When it was requested.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// The run, if it is a turn of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub run: Option<RunId>,
    /// The number of the turn in its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_of_run: Option<u64>,
    /// The model, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The size of its prompt, as Callboard counts.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens: Tokens,
    /// The tokens that the provider counted, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What it cost, if its usage and the price of its model are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether it was answered, or is known to have failed.
    pub answered: bool,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A piece of a model's answer as it arrives. It is not stored and not sent again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The run.
    pub run: RunId,
    /// The number of the turn in its run.
    pub turn: u64,
    /// The agent whose model answers.
    pub agent: AgentName,
    /// The piece of text.
    pub text: Arc<str>,
}
