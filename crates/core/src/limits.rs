//! Limits of runs.

use serde::{Deserialize, Serialize};

use crate::number;

/// The limits at which a run is paused. What is absent is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// At most this many turns.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub turns: Option<u64>,
    /// At most this many tokens, prompts and answers together.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub tokens: Option<u64>,
    /// At most this many seconds of waiting for models.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub seconds: Option<u64>,
    /// At most this many pages that tools are told to open.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub pages: Option<u64>,
}
