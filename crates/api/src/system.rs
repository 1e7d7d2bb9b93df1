//! The server itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The server runs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
    /// The version of the server.
    pub version: String,
}

/// The server can be used.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// Always `ok`.
    pub status: String,
    /// What acknowledged changes survive: with `process` nothing but the running server, with `normal` a crash of the
    /// server, with `full` also a loss of power.
    pub durability: String,
}
