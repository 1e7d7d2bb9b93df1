//! Schemas of what messages say.

#![allow(dead_code, reason = "these types are read by the OpenAPI document alone")]

use utoipa::ToSchema;

use super::NewContent;
use crate::same_schema;

same_schema! {
    NewContent as ContentForm;
}

/// A text, or parts, each an object with a `type`.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub(super) enum ContentForm {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Vec<ContentPart>),
}

/// A part of a message.
#[derive(Debug, ToSchema)]
pub(super) struct ContentPart {
    r#type: String,
    text: Option<String>,
}
