//! Messages and their times.

use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::text::Label;

/// Messages that are to be added, all or none.
#[derive(ToSchema)]
#[schema(as = NewMessages)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessagesShape {
    /// At most 25,000.
    #[schema(max_items = 25_000)]
    messages: Vec<NewMessageShape>,
}

/// A message that is to be added.
#[derive(ToSchema)]
#[schema(as = NewMessage)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessageShape {
    message_id: Option<Label>,
    /// The thread to which it is added; it need not be said.
    thread_id: Option<Label>,
    role: SaidRole,
    content: Option<ContentShape>,
    timestamp: Option<TimeShape>,
    metadata: Option<BTreeMap<String, Value>>,
    #[schema(required = false)]
    tool_calls: Vec<ToolCallShape>,
    tool_call_id: Option<String>,
}

/// A text, or parts, each an object with a `type`.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub(crate) enum ContentShape {
    Text(String),
    Parts(Vec<PartShape>),
}

#[derive(ToSchema)]
#[schema(as = ContentPart)]
pub(crate) struct PartShape {
    r#type: String,
    text: Option<String>,
}

/// In which role a message is said, as it may be written.
#[derive(ToSchema)]
pub(crate) enum SaidRole {
    #[schema(rename = "USER")]
    User,
    #[schema(rename = "AI")]
    Ai,
    #[schema(rename = "SYSTEM")]
    System,
    #[schema(rename = "TOOL")]
    Tool,
    #[schema(rename = "user")]
    OpenAiUser,
    #[schema(rename = "assistant")]
    Assistant,
    #[schema(rename = "system")]
    OpenAiSystem,
    #[schema(rename = "tool")]
    OpenAiTool,
}

/// In which role a message was said.
#[derive(ToSchema)]
#[schema(as = Role)]
pub(crate) enum RoleShape {
    #[schema(rename = "USER")]
    User,
    #[schema(rename = "AI")]
    Ai,
    #[schema(rename = "SYSTEM")]
    System,
    #[schema(rename = "TOOL")]
    Tool,
}

/// A call of a tool.
#[derive(ToSchema)]
#[schema(as = ToolCall)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolCallShape {
    id: String,
    name: String,
    arguments: Option<Value>,
}

/// A message.
#[derive(ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageShape {
    message_id: String,
    thread_id: String,
    seq: u64,
    role: RoleShape,
    agent: Option<String>,
    content: ContentShape,
    #[schema(format = DateTime)]
    timestamp: String,
    metadata: Option<BTreeMap<String, Value>>,
    #[schema(required = false)]
    tool_calls: Vec<ToolCallShape>,
    tool_call_id: Option<String>,
    expected_output: Option<String>,
}

/// A time: RFC 3339, or milliseconds since 1970.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Time)]
pub(crate) enum TimeShape {
    Text(Rfc3339),
    Milliseconds(Milliseconds),
}

#[derive(ToSchema)]
#[schema(format = DateTime)]
pub(crate) struct Rfc3339(String);

#[derive(ToSchema)]
#[schema(minimum = -300_000_000_000_000_i64, maximum = 250_000_000_000_000_i64)]
pub(crate) struct Milliseconds(i64);
