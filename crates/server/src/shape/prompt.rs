//! Parts of prompts.

use utoipa::ToSchema;

/// One part of a prompt.
#[derive(ToSchema)]
#[schema(as = PromptPart)]
pub(crate) struct PromptPartShape {
    name: String,
    tokens: u64,
    shortened: bool,
    #[schema(required = false)]
    omitted: Vec<String>,
}
