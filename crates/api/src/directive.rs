//! Directives. A server reads them leniently, since models write them; these are the forms that it understands.

use callboard_core::{
    directive::{Directed, FormRequest, Recipient, SetUpdate},
    id::Seq,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{
    ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{AnyOfBuilder, SchemaType},
    },
};

/// A manager's directive: structured, or a `text` in the fallback's grammar. `GET …/directives/schema` has its schema
/// for the team as it is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Directive {
    #[allow(missing_docs, reason = "the document would say it twice")]
    Text(TextDirective),
    #[allow(missing_docs, reason = "the document would say it twice")]
    Structured(Box<StructuredDirective>),
}

/// A directive as a text.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TextDirective {
    /// The text.
    pub text: String,
}

/// A structured directive.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StructuredDirective {
    /// Whom the message is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_to: Option<Recipient>,
    /// What is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the work is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_complete: Option<bool>,
    /// Taken, and means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_updates: Option<Value>,
    /// Whether the message asks the user for something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_info_request: Option<bool>,
    /// What the user is to fill in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<FormRequest>,
    /// Changes of context sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_set_update: Option<ContextSetUpdates>,
    /// What the answer to the message is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
}

/// Updates of context sets. One that does not have its form is rejected by itself, and its outcome says so.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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

/// What a directive led to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DirectiveAnswer {
    /// How its updates came out, and what else it led to.
    #[serde(flatten)]
    pub directed: Directed,
    /// The head of the journal.
    #[schema(value_type = u64)]
    pub head: Seq,
}
