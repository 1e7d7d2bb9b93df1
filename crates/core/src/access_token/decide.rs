//! Making and revoking tokens.

use std::sync::Arc;

use super::{
    AccessTokenId, Holder, HolderRole, NewAccessToken, RevokeAccessToken,
    facts::{Created, Revoked},
};
use crate::{
    audience::Audience,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{ConflictKind, Error},
    input::InputVisitor,
    rights::Right,
};

/// Makes a token and says its id.
impl Command for NewAccessToken {
    type Answer = AccessTokenId;

    const RIGHT: Right = Right::user("make access tokens");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<AccessTokenId, Undecided> {
        if self.expires_in == Some(0) {
            return Err(Error::invalid("/expires_in", "give a number of seconds above 0, or leave it out").into());
        }
        match &self.holder {
            Holder::Agent(name) => {
                let names = Audience::of([name.clone()]);
                decision.state.team.check_audience(&names, "/agent")?;
            }
            Holder::Role(HolderRole::Manager) if decision.state.team.manager().is_none() => {
                return Err(Error::contradicting(ConflictKind::NoAgent, "/role", "the team has no manager").into());
            }
            Holder::Role(_) => {}
        }
        let id: Arc<str> = format!("t{}", decision.next_seq()).into();
        let NewAccessToken { holder, sha256, nonce, expires_in } = self.clone();
        decision.record(Created { id: id.clone(), holder, sha256, nonce, expires_in });
        Ok(AccessTokenId(id))
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

impl KeptAnswer for AccessTokenId {
    const NAME: &'static str = "token";
}

/// Revokes a token.
impl Command for RevokeAccessToken {
    type Answer = ();

    const RIGHT: Right = Right::user("revoke access tokens");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let id = decision.state.tokens.get(&self.0)?.id.clone();
        decision.record(Revoked { id });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/id"), &self.0);
    }
}
