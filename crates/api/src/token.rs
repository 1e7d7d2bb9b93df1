//! Access tokens of a session.

use std::sync::Arc;

use callboard_core::{
    access_token::{AccessToken, Holder, HolderRole},
    id::AgentName,
    number,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

/// An access token. The token itself is shown only when it is created.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Its id, with which it can be revoked.
    pub id: Arc<str>,
    /// The agent that its holder acts as.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<AgentName>,
    /// The role of its holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<HolderRole>,
    /// When it was created.
    pub created_at: Timestamp,
    /// From when on it is refused. If absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The token itself, for the header `Authorization: Bearer TOKEN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl Token {
    /// A token without its secret part.
    pub fn of(token: &AccessToken) -> Self {
        let (agent, role) = match &token.holder {
            Holder::Agent(agent) => (Some(agent.clone()), None),
            Holder::Role(role) => (None, Some(*role)),
        };
        let AccessToken { id, created_at, expires_at, .. } = token;
        Self { id: id.clone(), agent, role, created_at: *created_at, expires_at: *expires_at, token: None }
    }
}

/// The access tokens of a session, in the order of their creation.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// The tokens that have neither been revoked nor expired.
    pub tokens: Vec<Token>,
}

/// Who holds the new token: an agent or a role.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// The agent that its holder acts as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The role of its holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<HolderRole>,
    /// In how many seconds it expires. If absent: never.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
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

/// Who holds the new token: an agent or a role.
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
    /// In how many seconds it expires. If absent: never.
    #[schema(minimum = 1)]
    expires_in: Option<u64>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is a schema")]
struct TokenForRole {
    role: HolderRole,
    /// In how many seconds it expires. If absent: never.
    #[schema(minimum = 1)]
    expires_in: Option<u64>,
}
