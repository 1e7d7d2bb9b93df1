//! Access tokens of a session.

use std::sync::Arc;

use callboard_core::{
    access_token::{AccessToken, Holder, Role},
    id::AgentName,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

/// A token. What is shown to be let in is given once, when it is made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Its id, by which it is revoked.
    #[schema(value_type = String)]
    pub id: Arc<str>,
    /// The agent for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<AgentName>,
    /// The role for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// What is shown to be let in, as `Authorization: Bearer TOKEN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl Token {
    /// What is shown of a token.
    pub fn of(token: &AccessToken) -> Self {
        let (agent, role) = match &token.holder {
            Holder::Agent(agent) => (Some(agent.clone()), None),
            Holder::Role(role) => (None, Some(*role)),
        };
        Self { id: token.id.clone(), agent, role, created_at: token.created_at, token: None }
    }
}

/// Tokens in the order in which they were made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// The tokens that have not been revoked.
    pub tokens: Vec<Token>,
}

/// For whom a token is to stand: an agent, or a role.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

impl PartialSchema for NewToken {
    fn schema() -> RefOr<Schema> {
        OneOfBoth::schema()
    }
}

impl ToSchema for NewToken {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        OneOfBoth::schemas(schemas);
    }
}

/// For whom a token is to stand: an agent, or a role.
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is a schema")]
enum OneOfBoth {
    Agent(TokenForAgent),
    Role(TokenForRole),
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is a schema")]
struct TokenForAgent {
    agent: AgentName,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is a schema")]
struct TokenForRole {
    role: Role,
}
