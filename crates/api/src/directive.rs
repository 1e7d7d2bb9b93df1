//! Directives. The server reads them leniently, since models write them; these are the forms that it understands.

use callboard_core::{
    directive::{Directed, FormRequest, Recipient, SetUpdate, schema_for::SchemaFor},
    id::Seq,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{
    IntoParams, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{AnyOfBuilder, SchemaType},
    },
};

/// A manager's directive: an object with fields, or a `text` in the fallback grammar. `GET …/directives/schema` gives the
/// schema for the present team.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Directive {
    #[allow(missing_docs, reason = "the document would say it twice")]
    Text(TextDirective),
    #[allow(missing_docs, reason = "the document would say it twice")]
    Structured(Box<StructuredDirective>),
}

/// A directive as plain text.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Message to writer: Write the release notes."}))]
pub struct TextDirective {
    /// The text. Lines such as `Context update: NAME (visible to: a, b)` and `Message to NAME: …` are its commands.
    pub text: String,
}

/// A directive as an object.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"messageTo": "writer", "message": "Write the release notes.", "contextSetUpdate": {"contextSets": [{"name": "facts", "context": "Version 2 ships in May."}]}}))]
pub struct StructuredDirective {
    /// Who gets the message: a worker or `user`.
    pub message_to: Option<Recipient>,
    /// The message.
    pub message: Option<String>,
    /// Whether the work is done.
    pub workflow_complete: Option<bool>,
    /// Accepted and ignored.
    pub context_updates: Option<Value>,
    /// Whether the message asks the user for something.
    pub is_info_request: Option<bool>,
    /// A form for the user to fill in.
    pub form: Option<FormRequest>,
    /// Changes of context sets.
    pub context_set_update: Option<ContextSetUpdates>,
    /// What a good answer to the message contains. The answer is judged by it.
    pub expected_output: Option<String>,
}

/// Updates of context sets. A malformed one is rejected alone; its outcome gives the reason.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextSetUpdates {
    /// The updates, in order.
    #[schema(schema_with = updates)]
    pub context_sets: Vec<SetUpdate>,
}

/// Updates, or what was meant as one.
fn updates() -> RefOr<Schema> {
    let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
    let update = AnyOfBuilder::new().item(Ref::from_schema_name("ContextSetUpdate")).item(anything);
    RefOr::T(ArrayBuilder::new().items(update).into())
}

/// Selects the form of a schema.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SchemaQuery {
    /// The API for whose structured output the schema is meant.
    #[serde(default, rename = "for")]
    #[param(inline)]
    pub meant_for: SchemaFor,
}

/// The outcome of a directive.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DirectiveAnswer {
    /// The outcome of each update, and what else it led to.
    #[serde(flatten)]
    pub directed: Directed,
    /// The number of the newest entry of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
}
