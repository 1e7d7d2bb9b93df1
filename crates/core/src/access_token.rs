//! AccessTokens: what lets programs in as one of the team. Only a token's hash is in the journal.

pub(crate) mod decide;
pub(crate) mod facts;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    agent::Team,
    entry::{Actor, Hash},
    error::Error,
    id::AgentName,
    time::Timestamp,
};

/// The holder of an access token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// This agent.
    Agent(AgentName),
    /// The current holder of this role.
    Role(HolderRole),
}

/// A role that a token can stand for. There are many workers: a worker's token names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TokenRole))]
#[serde(rename_all = "snake_case")]
pub enum HolderRole {
    /// The user, in this session.
    User,
    /// The manager at the time of the call.
    Manager,
}

/// A token, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessToken {
    /// Its id, by which it is revoked.
    pub id: Arc<str>,
    /// Its holder.
    pub holder: Holder,
    /// The hash of what is shown to be let in.
    pub sha256: Hash,
    /// Something random from which, and from a secret of the server's, it was made.
    pub nonce: Hash,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it lets nobody in; `None` where only revoking ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl AccessToken {
    /// Whether it has expired by this time.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// The tokens of a session that have not been revoked, also expired ones, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccessTokens(Arc<Vec<AccessToken>>);

impl AccessTokens {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &AccessToken> {
        self.0.iter()
    }

    /// The one with this id.
    pub fn get(&self, id: &str) -> Result<&AccessToken, Error> {
        self.iter().find(|token| *token.id == *id).ok_or_else(|| Error::not_found("token", id))
    }

    /// The one with this hash.
    pub fn of_hash(&self, sha256: Hash) -> Option<&AccessToken> {
        self.iter().find(|token| token.sha256 == sha256)
    }

    /// The holder of the token with this hash; `None` if there is no such token, it has expired, or its holder has left
    /// the team.
    pub fn actor(&self, sha256: Hash, team: &Team, now: Timestamp) -> Option<Actor> {
        let token = self.of_hash(sha256).filter(|token| !token.has_expired(now))?;
        match &token.holder {
            Holder::Agent(name) => team.agent(name).ok().map(|agent| Actor::Agent(agent.name.clone())),
            Holder::Role(HolderRole::Manager) => team.manager().map(|agent| Actor::Agent(agent.name.clone())),
            Holder::Role(HolderRole::User) => Some(Actor::User),
        }
    }
}

/// The id of a token, by which it is revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccessTokenId(pub Arc<str>);

/// That the token with this id is to be revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeAccessToken(pub Arc<str>);

/// A token that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAccessToken {
    /// See [`AccessToken::holder`].
    pub holder: Holder,
    /// See [`AccessToken::sha256`].
    pub sha256: Hash,
    /// See [`AccessToken::nonce`].
    pub nonce: Hash,
    /// In how many seconds it expires; `None` where only revoking ends it.
    pub expires_in: Option<u64>,
}
