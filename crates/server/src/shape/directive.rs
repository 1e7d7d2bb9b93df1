//! Directives, and how they come out.

use serde_json::Value;
use utoipa::{
    ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{AnyOfBuilder, SchemaType},
    },
};

use super::{form::FormRequestShape, session::AudienceShape, text::AgentName};

/// A manager's directive: structured, or a `text` in the fallback's grammar. `GET …/directives/schema` has its schema
/// for the team as it is.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Directive)]
pub(crate) enum DirectiveShape {
    Text(TextDirective),
    Structured(StructuredDirective),
}

/// A directive as a text.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextDirective {
    text: String,
}

/// A structured directive.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
pub(crate) struct StructuredDirective {
    message_to: Option<RecipientShape>,
    message: Option<String>,
    workflow_complete: Option<bool>,
    /// Taken, and means nothing.
    context_updates: Option<Value>,
    is_info_request: Option<bool>,
    form: Option<FormRequestShape>,
    context_set_update: Option<SetUpdatesShape>,
    expected_output: Option<String>,
}

/// Whom a message is for: a worker, or `user`.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Recipient)]
pub(crate) enum RecipientShape {
    Agent(AgentName),
    User(UserWord),
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum UserWord {
    User,
}

/// Updates of context sets. One that does not have its form is rejected by itself, and its outcome says so.
#[derive(ToSchema)]
#[schema(as = ContextSetUpdates, rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
pub(crate) struct SetUpdatesShape {
    #[schema(schema_with = updates)]
    context_sets: Vec<SetUpdateShape>,
}

/// Updates, or what was meant as one.
fn updates() -> RefOr<Schema> {
    let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
    let update = AnyOfBuilder::new().item(Ref::from_schema_name("ContextSetUpdate")).item(anything);
    RefOr::T(ArrayBuilder::new().items(update).into())
}

#[derive(ToSchema)]
#[schema(as = ContextSetUpdate, rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
pub(crate) struct SetUpdateShape {
    name: String,
    /// The whole new content; empty deletes the set.
    context: String,
    new_or_update: Option<NewOrUpdateShape>,
    visible_to_agents: Option<AudienceShape>,
}

#[derive(ToSchema)]
#[schema(as = NewOrUpdate, rename_all = "snake_case")]
pub(crate) enum NewOrUpdateShape {
    New,
    Update,
}

/// How one update of a context set came out.
#[derive(ToSchema)]
#[schema(as = Outcome)]
pub(crate) struct OutcomeShape {
    name: String,
    outcome: OutcomeWord,
    reason: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum OutcomeWord {
    Created,
    Updated,
    Unchanged,
    Deleted,
    CreatedEmpty,
    Conflict,
    Rejected,
}
