//! Logging in from a browser.

use callboard_core::{agent::AgentRole, id::SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The credentials to log in with.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// A user token of the server, or an access token of one session.
    pub token: String,
}

/// Who a caller is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Me {
    /// `user`, or the name of the agent.
    pub name: String,
    /// The role of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<AgentRole>,
    /// The session that the caller's token is for. Absent for a caller who may enter all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Whether calls need a token.
    pub login: bool,
    /// Whether the server has a project folder, in which context files are.
    pub project: bool,
}
