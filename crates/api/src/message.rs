//! Messages of threads.

use callboard_core::{
    conversation::{MessageReceipt, MessageView, NewMessage},
    id::Seq,
    text_schema,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::query::{number, time};

/// Messages that are to be added, all or none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessages {
    /// At most 25,000.
    #[schema(max_items = 25_000)]
    pub messages: Vec<NewMessage>,
}

/// Where the messages are.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Added {
    /// Each message, in order.
    pub messages: Vec<MessageReceipt>,
    /// The head of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// Messages, the oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageList {
    /// The messages.
    pub messages: Vec<MessageView>,
    /// Where older ones are, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which messages are wanted: those for which everything holds that is said.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// The most recent ones, at most so many; all where it is left out.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// Only those with an earlier time.
    #[serde(default, deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
    /// Only those with a later time.
    #[serde(default, deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub after: Option<Timestamp>,
    /// Only those in these roles, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<Roles>)]
    pub roles: Option<String>,
    /// The `next_cursor` of the page before, which was of more recent ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(pattern = "^(2d)?(3[0-9]){1,15}2f(3[0-9]){1,19}$")]
    pub cursor: Option<String>,
}

/// The schema of lists of roles.
#[derive(Debug)]
pub struct Roles;

const ROLES: &str =
    "^((USER|AI|SYSTEM|TOOL|user|ai|assistant|system|tool)(,(USER|AI|SYSTEM|TOOL|user|ai|assistant|system|tool))*)?$";

text_schema! {
    /// Roles with commas between them, in any case.
    Roles as "Roles", |text| text.pattern(Some(ROLES));
}
