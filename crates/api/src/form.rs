//! Forms.

use callboard_core::{form::Field, id::SetName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A form.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Form {
    /// The name of its context set.
    #[schema(value_type = String)]
    pub name: SetName,
    /// What it asks for, in the order in which it is shown.
    pub fields: Vec<Field>,
    /// Whether the user has filled it in.
    pub answered: bool,
    /// What the user gave, by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub answers: Map<String, Value>,
}

/// What the user gives.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FormAnswers {
    /// An answer for each field, by its key.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub answers: Map<String, Value>,
}
