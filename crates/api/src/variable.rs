//! Variables.

use std::sync::Arc;

use callboard_core::{
    id::{Seq, SessionId, VariableName},
    time::Timestamp,
    variable::Origin,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::query;

/// A variable without its value.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Variable {
    /// Its name.
    #[schema(value_type = String)]
    pub name: VariableName,
    /// Its value in one line, shortened if it is long.
    #[schema(value_type = String, example = "{email: \"user@gmail.com\", password: \"[hidden]\"}")]
    pub display: Arc<str>,
    /// Whether its value contains a secret.
    pub secret: bool,
    /// The origins of pages into which its secrets may be typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub origins: Vec<Origin>,
    /// When it was last set.
    pub updated_at: Timestamp,
}

impl Variable {
    /// A variable as it is listed.
    pub fn of(variable: &callboard_core::variable::Variable) -> Self {
        let callboard_core::variable::Variable { name, display, secret, origins, updated_at, .. } = variable.clone();
        Self { name, display, secret, origins, updated_at }
    }
}

/// Variables by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariableList {
    /// The variables.
    pub variables: Vec<Variable>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A variable with its value.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariableValue {
    /// Its name.
    #[schema(value_type = String)]
    pub name: VariableName,
    /// Its value. `[hidden]` stands in the place of each secret.
    #[schema(value_type = Value)]
    pub value: Box<RawValue>,
    /// Whether its value contains a secret.
    pub secret: bool,
    /// When it was last set.
    pub updated_at: Timestamp,
}

/// A variable that was set. The rest is told to the user alone, where its value holds a secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariableAfter {
    /// The variable.
    #[serde(flatten)]
    pub variable: Variable,
    /// In how many earlier entries the secret was hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<usize>,
    /// The sessions that still have the words of those entries: forks and copies that were made before, or the session that this
    /// one was forked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub forks: Vec<SessionId>,
    /// `false` where a value is too short to be looked for in texts: it is sealed and not hidden elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<bool>,
}

/// A secret that is to be one no more.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreSecret {
    /// The name of the variable, or what the secrets in a call are called: `call:ID.arguments` or `call:ID.result`.
    #[schema(value_type = String)]
    pub name: VariableName,
    /// The reason: 1 to 1,000 characters.
    #[schema(value_type = String, pattern = "\\S", max_length = 1000)]
    pub reason: Arc<str>,
}

/// A secret that was restored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RestoredSecret {
    /// The name of the variable, or what the secrets in a call are called: `call:ID.arguments` or `call:ID.result`.
    #[schema(value_type = String)]
    pub name: VariableName,
    /// The entries in which its value stands again.
    #[schema(value_type = Vec<u64>)]
    pub entries: Vec<Seq>,
    /// The head of the session afterwards.
    #[schema(value_type = u64)]
    pub head: Seq,
}

/// How a variable is read.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RevealQuery {
    /// Whether secrets are shown; only the user may see them.
    #[serde(default, deserialize_with = "query::flag")]
    pub reveal: bool,
    /// As of this entry. If absent: as of now. Only the user may set it, and not with `reveal`.
    #[serde(default, deserialize_with = "query::number")]
    #[param(minimum = 1)]
    pub at: Option<u64>,
}

/// Why something is done.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReasonQuery {
    /// The reason: 1 to 1,000 characters.
    #[param(value_type = String, pattern = "\\S", max_length = 1000)]
    pub reason: Arc<str>,
}
