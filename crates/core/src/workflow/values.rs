//! The values of the variables that a node reads.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::VariableName;

/// Values by the names of their variables, with `[hidden]` in the place of each secret.
pub type Values = BTreeMap<VariableName, Value>;
