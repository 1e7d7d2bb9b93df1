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
    pub answers: Map<String, Value>,
}

/// A form in the list of forms.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ListedForm {
    /// The form.
    #[serde(flatten)]
    pub form: Form,
    /// What its context set says: what the user is asked, and once it is answered the answers, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// The forms of a session, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FormList {
    /// The forms.
    pub forms: Vec<ListedForm>,
}

/// The answers to a form.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"answers": {"version": "2.0", "urgent": true}}))]
pub struct FormAnswers {
    /// The answers, by the key of the field. Each required field needs one.
    pub answers: Map<String, Value>,
}
