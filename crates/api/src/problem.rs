//! Problems: why a call was not answered as it was meant (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A problem as it is sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The code again, as a URI.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = true)]
    pub kind: Option<String>,
    /// What people read first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = true)]
    pub title: Option<String>,
    /// The status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u16, required = true)]
    pub status: Option<u16>,
    /// The stable word for what went wrong.
    pub code: String,
    /// What went wrong here.
    pub detail: String,
    /// The field at fault, as a JSON pointer into the body, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Each thing that is wrong, where there may be several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
    /// What would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Wrong)]
pub struct Fault {
    /// Where, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong, and what would do.
    pub detail: String,
}
