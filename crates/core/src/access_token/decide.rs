//! Making and revoking tokens.

use std::sync::Arc;

use super::{
    Holder, NewAccessToken, Role,
    facts::{Created, Revoked},
};
use crate::{audience::Audience, decision::DecisionBuilder, error::Error, rights};

/// Makes a token and says its id.
pub(crate) fn create(decision: &mut DecisionBuilder<'_>, new: &NewAccessToken) -> Result<Arc<str>, Error> {
    rights::user(decision, "make tokens")?;
    match &new.holder {
        Holder::Agent(name) => {
            let names = Audience::of([name.clone()]);
            decision.state.team.check_audience(&names, "/agent")?;
        }
        Holder::Role(Role::Manager) if decision.state.team.manager().is_none() => {
            return Err(Error::contradicting("no_agent", "/role", "the team has no manager"));
        }
        Holder::Role(_) => {}
    }
    let id: Arc<str> = format!("t{}", decision.next_seq()).into();
    let NewAccessToken { holder, sha256, nonce } = new.clone();
    decision.record(Created { id: id.clone(), holder, sha256, nonce });
    Ok(id)
}

/// Revokes a token.
pub(crate) fn revoke(decision: &mut DecisionBuilder<'_>, id: &str) -> Result<(), Error> {
    rights::user(decision, "revoke tokens")?;
    let id = decision.state.tokens.get(id)?.id.clone();
    decision.record(Revoked { id });
    Ok(())
}
