//! Forms.

use callboard_core::{context_set::form::Field, id::SetName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A form: a context set that asks the user for something.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Form {
    /// The name of its context set.
    #[schema(value_type = String)]
    pub name: SetName,
    /// Its fields, in the order in which they are shown.
    pub fields: Vec<Field>,
    /// Whether the user has filled it in.
    pub answered: bool,
    /// The user's answers, by the key of the field.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub answers: Map<String, Value>,
}

/// The answers to a form.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"answers": {"version": "2.0", "urgent": true}}))]
pub struct FormAnswers {
    /// The answers, by the key of the field. Each required field needs one.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub answers: Map<String, Value>,
}
