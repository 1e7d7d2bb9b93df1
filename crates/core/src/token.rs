//! Tokens: what lets programs in as one of the team. Only a token's hash is in the journal.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    command::Deciding,
    entry::{Actor, Hash, Header},
    error::Error,
    fact::{Fact, Seen},
    id::{AgentName, Seq},
    rights,
    state::State,
    time::Timestamp,
    view::View,
};

/// Whom a token stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// This agent.
    Agent(AgentName),
    /// Whoever has the role.
    Role(Role),
}

/// A role that a token can stand for. There are many workers: a worker's token names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, in this session.
    User,
    /// The manager, whoever that is at the time.
    Manager,
}

/// A token, as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// Its id, by which it is revoked.
    pub id: Arc<str>,
    /// Whom it stands for.
    pub holder: Holder,
    /// The hash of what is shown to be let in.
    pub sha256: Hash,
    /// Something random from which, and from a secret of the server's, it was made.
    pub nonce: Hash,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The tokens of a session that have not been revoked, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(RedBlackTreeMapSync<Seq, Arc<Token>>);

impl Tokens {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Token> {
        self.0.values().map(|token| &**token)
    }

    /// The one with this id.
    pub fn get(&self, id: &str) -> Result<&Token, Error> {
        self.iter().find(|token| *token.id == *id).ok_or_else(|| Error::not_found("token", id))
    }

    /// Whom the token with this hash stands for; `None` where there is no such token, or nobody is there whom it stands
    /// for.
    pub fn actor(&self, sha256: Hash, state: &State) -> Option<Actor> {
        let token = self.iter().find(|token| token.sha256 == sha256)?;
        match &token.holder {
            Holder::Agent(name) => state.team.agent(name).ok().map(|agent| Actor::Agent(agent.name.clone())),
            Holder::Role(Role::Manager) => state.team.manager().map(|agent| Actor::Agent(agent.name.clone())),
            Holder::Role(Role::User) => Some(Actor::User),
        }
    }
}

/// A token that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewToken {
    /// See [`Token::holder`].
    pub holder: Holder,
    /// See [`Token::sha256`].
    pub sha256: Hash,
    /// See [`Token::nonce`].
    pub nonce: Hash,
}

/// A token was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    id: Arc<str>,
    #[serde(flatten)]
    holder: Holder,
    sha256: Hash,
    nonce: Hash,
}

/// A token was revoked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revoked {
    id: Arc<str>,
}

impl Fact for Created {
    const TYPE: &'static str = "token.created";

    fn subject(&self) -> String {
        format!("token:{}", self.id)
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::None
    }

    fn apply(self, state: &mut State, header: &Header) {
        let Self { id, holder, sha256, nonce } = self;
        let token = Token { id, holder, sha256, nonce, created_at: header.at };
        state.tokens.0.insert_mut(header.seq, Arc::new(token));
    }

    fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
        None
    }
}

impl Fact for Revoked {
    const TYPE: &'static str = "token.revoked";

    fn subject(&self) -> String {
        format!("token:{}", self.id)
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::None
    }

    fn apply(self, state: &mut State, _: &Header) {
        let found = state.tokens.0.iter().find(|(_, token)| token.id == self.id).map(|(seq, _)| *seq);
        if let Some(seq) = found {
            state.tokens.0.remove_mut(&seq);
        }
    }

    fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
        None
    }
}

/// Makes a token and says its id.
pub(crate) fn create(deciding: &mut Deciding<'_>, new: &NewToken) -> Result<Arc<str>, Error> {
    rights::user(deciding, "make tokens")?;
    match &new.holder {
        Holder::Agent(name) => {
            let names = Audience::of([name.clone()]);
            deciding.state.team.check_audience(&names, "/agent")?;
        }
        Holder::Role(Role::Manager) if deciding.state.team.manager().is_none() => {
            return Err(Error::invalid("/role", "the team has no manager"));
        }
        Holder::Role(_) => {}
    }
    let id: Arc<str> = format!("t{}", deciding.next_seq()).into();
    let NewToken { holder, sha256, nonce } = new.clone();
    deciding.record(Created { id: id.clone(), holder, sha256, nonce });
    Ok(id)
}

/// Revokes a token.
pub(crate) fn revoke(deciding: &mut Deciding<'_>, id: &str) -> Result<(), Error> {
    rights::user(deciding, "revoke tokens")?;
    let id = deciding.state.tokens.get(id)?.id.clone();
    deciding.record(Revoked { id });
    Ok(())
}
