//! Problems: why a request failed (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request failed (RFC 9457).
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "urn:callboard:problem:no_agent",
    "title": "A named agent is not in the team",
    "status": 409,
    "code": "no_agent",
    "detail": "/visible_to: there is no agent nobody; the team is: lead, writer",
    "pointer": "/visible_to",
    "errors": [{"pointer": "/visible_to", "detail": "there is no agent nobody; the team is: lead, writer"}],
}))]
pub struct Problem {
    /// The code as a URI: `urn:callboard:problem:CODE`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = true)]
    pub kind: Option<String>,
    /// A summary for people. It is the same for all problems with this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = true)]
    pub title: Option<String>,
    /// The HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u16, required = true)]
    pub status: Option<u16>,
    /// A stable word for programs, such as `not_found`.
    pub code: String,
    /// What went wrong with this request.
    pub detail: String,
    /// What is not there or not visible, for the code `not_found`: `session`, `agent`, `thread`, `context_set` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The JSON pointer to the first invalid field of the body, or `/NAME` for a parameter of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// All invalid fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One invalid field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Wrong)]
pub struct Fault {
    /// The JSON pointer to the field; empty for the whole body.
    pub pointer: String,
    /// What is wrong with it and how to fix it.
    pub detail: String,
}
