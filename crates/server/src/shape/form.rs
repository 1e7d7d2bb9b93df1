//! Forms that ask the user for something.

use utoipa::ToSchema;

use super::text::{Label, Saying};

/// A form that a directive puts before the user.
#[derive(ToSchema)]
#[schema(as = FormRequest)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormRequestShape {
    name: Option<Label>,
    #[schema(min_items = 1)]
    fields: Vec<FieldShape>,
    /// Taken, and means nothing: a new form is not answered.
    #[schema(required = false)]
    answered: bool,
}

/// One thing that a form asks for.
#[derive(ToSchema)]
#[schema(as = Field, rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldShape {
    key: Saying,
    value_type: ValueTypeShape,
    label: String,
    required: bool,
    enum_values: Option<Vec<String>>,
    description: Option<String>,
}

#[derive(ToSchema)]
#[schema(as = ValueType, rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ValueTypeShape {
    String,
    Number,
    Boolean,
    Date,
    Enum,
    EnumOrCustom,
    Array,
    File,
}
