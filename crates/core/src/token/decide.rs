//! Making and revoking tokens.

use std::sync::Arc;

use super::{
    Holder, NewToken, Role,
    facts::{Created, Revoked},
};
use crate::{audience::Audience, deciding::Deciding, error::Error, rights};

/// Makes a token and says its id.
pub(crate) fn create(deciding: &mut Deciding<'_>, new: &NewToken) -> Result<Arc<str>, Error> {
    rights::user(deciding, "make tokens")?;
    match &new.holder {
        Holder::Agent(name) => {
            let names = Audience::of([name.clone()]);
            deciding.state.team.check_audience(&names, "/agent")?;
        }
        Holder::Role(Role::Manager) if deciding.state.team.manager().is_none() => {
            return Err(Error::contradicting("no_agent", "/role", "the team has no manager"));
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
