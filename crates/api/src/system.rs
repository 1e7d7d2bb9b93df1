//! The server itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// That all is well.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`
    pub status: String,
    /// The version of the server.
    pub version: String,
}

/// That it can be used.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// `ok`
    pub status: String,
    /// What a change has survived once it is answered: `process`, which is nothing beyond the server, `normal`, the end
    /// of the process by any means, or `full`, a loss of power too.
    pub durability: String,
}
