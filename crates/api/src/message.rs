//! Messages of threads.

use callboard_core::{
    conversation::{MessageReceipt, MessageShape, MessageView, given::GivenMessage},
    id::Seq,
    text_schema,
    time::GivenTime,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Schema,
        schema::{AnyOfBuilder, Type},
    },
};

use crate::query::{flag, number, time};

/// Messages to add, all or none.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"messages": [{"role": "user", "content": "Write the release notes."}]}))]
pub struct NewMessages {
    /// The messages, in order. At most 25,000. Message objects of OpenAI's chat completions and of Anthropic's Messages API, and items of
    /// OpenAI's Responses API, are taken as they are. One of Anthropic's with results of tools becomes several messages.
    #[schema(max_items = 25_000)]
    pub messages: Vec<GivenMessage>,
}

/// The messages that were added.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Added {
    /// The id and the entry of each message, in order.
    pub messages: Vec<MessageReceipt>,
    /// The number of the newest entry of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
    /// The messages of the request, from 0, that had halves of characters, such as `\ud83d`, in whose place stands U+FFFD now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<usize>,
}

/// A page of messages, the oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageList {
    /// The messages.
    #[schema(value_type = Vec<AnyMessage>)]
    pub messages: Vec<MessageView>,
    /// The cursor of the page with older messages; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Selects the messages that match all of the given parameters.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// The most messages to return, counted from the newest. If absent: all.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// Only messages with an earlier time.
    #[serde(default, alias = "beforeTimestamp", deserialize_with = "time")]
    pub before: Option<GivenTime>,
    /// Only messages with a later time.
    #[serde(default, alias = "afterTimestamp", deserialize_with = "time")]
    pub after: Option<GivenTime>,
    /// Only messages with these roles, separated by commas.
    #[param(value_type = Option<Roles>)]
    pub roles: Option<String>,
    /// The shape of the messages: `openai` or `anthropic` gives message objects of these APIs. If absent: Callboard's own.
    #[param(inline)]
    pub shape: Option<MessageShape>,
    /// Whether each message says in `audience` which agents could see it when it was added. Workers are not told. Not with `shape`.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = bool, required = false)]
    pub audience: bool,
    /// The `next_cursor` of the previous page, to get the older messages.
    #[param(pattern = "^(2d)?(3[0-9]){1,15}2f(3[0-9]){1,19}$")]
    pub cursor: Option<String>,
}

/// The schema of a message in any shape.
#[derive(Debug)]
pub struct AnyMessage;

impl PartialSchema for AnyMessage {
    fn schema() -> RefOr<Schema> {
        let roles = ["user", "assistant", "system", "developer", "tool"];
        let role = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(roles));
        let object = ObjectBuilder::new().description(Some("A message object of OpenAI or Anthropic."));
        let object = object.schema_type(Type::Object).property("role", role).required("role");
        let either = AnyOfBuilder::new().item(Ref::from_schema_name("Message")).item(object);
        either.description(Some("A message, or with `shape` a message object of OpenAI or Anthropic.")).into()
    }
}

impl ToSchema for AnyMessage {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AnyMessage")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((MessageView::name().into_owned(), MessageView::schema()));
        MessageView::schemas(schemas);
    }
}

/// Selects the shape of a message.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ShapeQuery {
    /// The shape of the message: `openai` or `anthropic` gives a message object of that API. If absent: Callboard's own.
    #[param(inline)]
    pub shape: Option<MessageShape>,
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
