//! Tokens of a session.

pub(super) mod create;
pub(super) mod list;
pub(super) mod revoke;

use std::sync::Arc;

use callboard_core::{
    access_token::{AccessToken, Holder, Role},
    id::AgentName,
    time::Timestamp,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A token. What is shown to be let in is given once, when it is made.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub(crate) struct TokenBody {
    #[schema(value_type = String)]
    id: Arc<str>,
    /// The agent for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    agent: Option<AgentName>,
    /// The role for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RoleShape>)]
    role: Option<Role>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// What is shown to be let in, as `Authorization: Bearer TOKEN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// A role for which a token can stand.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenRole, rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) enum RoleShape {
    User,
    Manager,
}

impl TokenBody {
    fn of(token: &AccessToken) -> Self {
        let (agent, role) = match &token.holder {
            Holder::Agent(agent) => (Some(agent.clone()), None),
            Holder::Role(role) => (None, Some(*role)),
        };
        Self { id: token.id.clone(), agent, role, created_at: token.created_at, token: None }
    }
}
