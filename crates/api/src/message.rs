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

/// Messages to add, all or none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"messages": [{"role": "user", "content": "Write the release notes."}]}))]
pub struct NewMessages {
    /// The messages, in order. At most 25,000.
    #[schema(max_items = 25_000)]
    pub messages: Vec<NewMessage>,
}

/// The messages that were added.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Added {
    /// The id and the entry of each message, in order.
    pub messages: Vec<MessageReceipt>,
    /// The number of the newest entry of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// A page of messages, the oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageList {
    /// The messages.
    pub messages: Vec<MessageView>,
    /// The cursor of the page with older messages; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Selects the messages that match all of the given parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// The most messages to return, counted from the newest. If absent: all.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// Only messages with an earlier time.
    #[serde(default, deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
    /// Only messages with a later time.
    #[serde(default, deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub after: Option<Timestamp>,
    /// Only messages with these roles, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<Roles>)]
    pub roles: Option<String>,
    /// The `next_cursor` of the previous page, to get the older messages.
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
    /// Roles, separated by commas, in upper or lower case.
    Roles as "Roles", |text| text.pattern(Some(ROLES));
}
