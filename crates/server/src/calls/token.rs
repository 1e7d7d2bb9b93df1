//! Access tokens of a session.

use callboard_api as api;
use callboard_core::{
    access_token::{AccessTokenId, Holder, NewAccessToken, RevokeAccessToken},
    entry::Hash,
};

use super::{Answer, Authorized, CallError, WriteOptions, rights::KeepTokens};
use crate::secret;

fn unavailable(detail: &str) -> CallError {
    CallError::new("no_randomness", detail)
}

fn unrepeatable(id: &str) -> CallError {
    let detail = format!("this request created the token {id} on a server with another token secret");
    CallError::new("token_not_repeatable", detail)
        .hint("revoke it, and create another one with another idempotency key")
}

impl Authorized<KeepTokens> {
    pub(crate) async fn list_tokens(&self) -> Result<Answer<api::TokenList>, CallError> {
        let state = self.session.state().await?;
        Ok(Answer::ok(api::TokenList { tokens: state.tokens.iter().map(api::Token::of).collect() }))
    }

    pub(crate) async fn create_token(
        &self,
        body: api::NewToken,
        options: WriteOptions,
    ) -> Result<Answer<api::Token>, CallError> {
        let holder = match (body.agent, body.role) {
            (Some(agent), None) => Holder::Agent(agent),
            (None, Some(role)) => Holder::Role(role),
            _ => return Err(CallError::invalid("/agent", "give either `agent` or `role`")),
        };
        let random = secret::random().map_err(|error| unavailable(&error.to_string()))?;
        let token = self.app.secret.token(self.session.id(), Hash(random));
        let new = NewAccessToken { holder, sha256: secret::hash(&token), nonce: Hash(random) };
        let receipt = self.execute(options, new).await?;
        let AccessTokenId(id) = receipt.answer;
        let state = self.session.state_at(receipt.head).await?;
        let made = state.tokens.get(&id).map_err(CallError::from)?;
        // A repeated request derives the same token again from the stored nonce.
        let token = self.app.secret.token(self.session.id(), made.nonce);
        if secret::hash(&token) != made.sha256 {
            return Err(unrepeatable(&id));
        }
        Ok(Answer::ok(api::Token { token: Some(token), ..api::Token::of(made) }).at(receipt.head))
    }

    pub(crate) async fn revoke_token(&self, id: String, options: WriteOptions) -> Result<(), CallError> {
        self.execute(options, RevokeAccessToken(id.into())).await?;
        Ok(())
    }
}
