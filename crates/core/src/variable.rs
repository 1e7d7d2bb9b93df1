//! Variables: named values of any JSON that a team works with, such as what the nodes of a workflow produced.
//!
//! The state has of a variable how it is shown, and which entry has its value. A secret never is in the value: it was
//! [split off](split) before, and `[hidden]` stands in its place.

pub(crate) mod decide;
mod display;
pub mod facts;
mod origin;
mod secret;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Error,
    id::{Seq, VariableName},
    json,
    time::Timestamp,
};

pub use self::{
    display::{HIDDEN, display, is_cut, is_placeholder},
    origin::{BadOrigin, Origin},
    secret::{FoundSecrets, find_secrets, is_secret_name, shown_name, split},
};

/// A variable as the state holds it: all but its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name, unique in its session.
    pub name: VariableName,
    /// Its value [in one line](display()).
    pub display: Arc<str>,
    /// Whether its value contains a secret.
    pub secret: bool,
    /// Whether it was marked as secret or as not secret; `None` leaves it to names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<bool>,
    /// The origins of pages into which its secrets may be typed. Only the user names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// When it was last set.
    pub updated_at: Timestamp,
    /// The entry that set it, which has its value.
    pub seq: Seq,
}

/// The variables of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variables(RedBlackTreeMapSync<VariableName, Arc<Variable>>);

impl Variables {
    /// The variable with this name, visible or not.
    pub fn get(&self, name: &VariableName) -> Option<&Variable> {
        self.0.get(name).map(|variable| &**variable)
    }

    /// All of them by name, visible or not.
    pub fn iter(&self) -> impl Iterator<Item = &Variable> {
        self.0.values().map(|variable| &**variable)
    }

    /// How a new value of the variable is marked, where it is set with the mark `given`: without one as it was before.
    pub fn mark(&self, name: &VariableName, given: Option<bool>) -> Option<bool> {
        given.or_else(|| self.get(name)?.marked)
    }
}

/// A variable to be set: made, or given another value.
#[derive(Clone, Debug, PartialEq)]
pub struct SetVariable {
    name: VariableName,
    put: PutVariable,
}

/// The new value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutVariable {
    /// Its value: any JSON of at most 16 MiB that is nested at most 64 levels deep.
    pub value: Value,
    /// The reason: 1 to 1,000 characters.
    #[cfg_attr(feature = "schema", schema(value_type = String, pattern = "\\S", max_length = 1000))]
    pub reason: Arc<str>,
    /// Marks it as secret or as not secret. If absent: as before. Without a mark, a value is secret if its name, or a
    /// key in it, says so, such as `password` or `api_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<bool>,
    /// The origins of pages into which the browser's tools may type the secrets in it, such as
    /// `https://accounts.example.com`. Only the user may say so. If absent: as before; at first, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<String>>, max_items = 20, nullable = false))]
    pub origins: Option<Vec<Origin>>,
}

impl SetVariable {
    /// Sets the variable `name`, for this reason. `secret` marks it as secret or as not secret; left out, it stays marked
    /// as it was.
    ///
    /// # Errors
    /// A value that is nested too deep is refused.
    pub fn new(name: VariableName, value: Value, secret: Option<bool>, reason: Arc<str>) -> Result<Self, Error> {
        Self::of(name, PutVariable { value, reason, secret, origins: None })
    }

    /// Sets the variable `name` to what is put there.
    ///
    /// # Errors
    /// A value that is nested too deep is refused.
    pub fn of(name: VariableName, put: PutVariable) -> Result<Self, Error> {
        if json::is_shallow(&put.value) {
            return Ok(Self { name, put });
        }
        json::forget(put.value);
        let problem = format!("it is nested too deep: use at most {} levels of lists and objects", json::MAX_DEPTH);
        Err(Error::invalid("/value", problem))
    }
}

/// A variable to be cleared, or all of them: what is cleared is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearVariables {
    /// The name of the one; without it all are cleared.
    pub name: Option<VariableName>,
    /// Why.
    pub reason: Arc<str>,
}

#[cfg(test)]
mod tests;
