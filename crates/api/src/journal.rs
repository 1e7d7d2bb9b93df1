//! The journal: reading it, following it, asking it.

use std::sync::Arc;

use callboard_core::{
    id::{AgentName, RunId, Seq, ThreadId},
    schema::Saying,
    view::Projected,
    why::Finding,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Roles, query::number};

/// Which entries are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JournalQuery {
    /// Only entries behind this one.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0)]
    pub after: Option<u64>,
    /// At most so many; all where it is left out.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// Only entries of these types, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<String>,
}

/// Entries, and the head of the journal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JournalPage {
    /// The entries, in order.
    pub entries: Vec<Projected>,
    /// The number of the last entry.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// Which entries a stream gives.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FollowQuery {
    /// Begin behind this entry; without it, at the head. `Last-Event-ID` goes before it.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0)]
    pub after: Option<u64>,
    /// Only entries of these types, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<String>,
    /// Only entries about this thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Only messages in these roles, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<Roles>)]
    pub roles: Option<String>,
}

/// One of the events that the stream is made of.
#[derive(Debug, ToSchema)]
pub struct Event {
    /// The number of the entry; none where the event is not kept.
    pub id: Option<String>,
    /// The type of the entry.
    pub event: Option<String>,
    /// The entry, in JSON.
    pub data: Option<String>,
}

/// What a stream calls a piece of what a model says.
pub const DELTA: &str = "turn.delta";

/// A piece of what a model says. It is not kept, and not given again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delta {
    /// The run.
    pub run: RunId,
    /// The number of the turn in its run.
    pub turn: u64,
    /// Who says it.
    pub agent: AgentName,
    /// The piece.
    pub text: Arc<str>,
}

/// What is asked about.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhyQuery {
    /// The text, as it stands somewhere.
    #[param(value_type = Saying)]
    pub text: String,
}

/// Where a text stands.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Findings {
    /// The entries in which it stands, the oldest first.
    pub findings: Vec<Finding>,
}
