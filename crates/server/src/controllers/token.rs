//! Tokens of a session.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::{
    access_token::{AccessTokenId, Holder, NewAccessToken, RevokeAccessToken},
    entry::Hash,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, Created},
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    params::TokenId,
    problem::Problem,
    rights::KeepTokens,
    secret,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke))
}

/// List the tokens of a session
#[utoipa::path(get, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "list_tokens",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The tokens that have not been revoked", body = api::TokenList)))]
async fn list(caller: Authorized<KeepTokens>) -> Result<Answer<api::TokenList>, Problem> {
    caller.list_tokens().await
}

/// Make a token
#[utoipa::path(post, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "create_token",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::NewToken,
    responses((status = CREATED, description = "The token", body = api::Token)))]
async fn create(
    caller: Authorized<KeepTokens>,
    request: RequestBody<api::NewToken>,
) -> Result<Created<api::Token>, Problem> {
    caller.create_token(request).await.map(Created)
}

fn unavailable(detail: &str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no_randomness", detail)
}

fn unrepeatable(id: &str) -> Problem {
    let detail = format!("the token {id} was made by this request, at a server with another secret");
    Problem::new(StatusCode::CONFLICT, "token_not_repeatable", detail)
        .hint("revoke it and make another one, under another key")
}

/// Revoke a token. Streams that it opened end
#[utoipa::path(delete, path = "/v1/sessions/{session}/tokens/{token}", tag = "tokens", operation_id = "revoke_token",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("token" = api::Label, Path, description = "The id of the token")),
    responses((status = NO_CONTENT, description = "It opens nothing any more")))]
async fn revoke(
    caller: Authorized<KeepTokens>,
    TokenId(id): TokenId,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    caller.revoke_token(id, request).await.map(|()| StatusCode::NO_CONTENT)
}

impl Authorized<KeepTokens> {
    /// List the tokens of a session
    pub(crate) async fn list_tokens(&self) -> Result<Answer<api::TokenList>, Problem> {
        let state = self.session.state().await?;
        Ok(Answer::ok(api::TokenList { tokens: state.tokens.iter().map(api::Token::of).collect() }))
    }

    /// Make a token
    pub(crate) async fn create_token(
        &self,
        request: RequestBody<api::NewToken>,
    ) -> Result<Answer<api::Token>, Problem> {
        let holder = match (request.body.agent, request.body.role) {
            (Some(agent), None) => Holder::Agent(agent),
            (None, Some(role)) => Holder::Role(role),
            _ => return Err(Problem::invalid("/agent", "say for which agent, or for which role: one of the two")),
        };
        let random = secret::random().map_err(|error| unavailable(&error.to_string()))?;
        let token = self.app.secret.token(self.session.id(), Hash(random));
        let new = NewAccessToken { holder, sha256: secret::hash(&token), nonce: Hash(random) };
        let receipt = self.execute(request.options, new).await?;
        let AccessTokenId(id) = receipt.answer;
        let state = self.session.state_at(receipt.head).await?;
        let made = state.tokens.get(&id).map_err(Problem::from)?;
        // Where the same request made it before, it is made again of what is kept of it.
        let token = self.app.secret.token(self.session.id(), made.nonce);
        if secret::hash(&token) != made.sha256 {
            return Err(unrepeatable(&id));
        }
        Ok(Answer::ok(api::Token { token: Some(token), ..api::Token::of(made) }).at(receipt.head))
    }

    /// Revoke a token. Streams that it opened end
    pub(crate) async fn revoke_token(&self, id: String, request: RequestBody<Empty>) -> Result<(), Problem> {
        self.execute(request.options, RevokeAccessToken(id.into())).await?;
        Ok(())
    }
}
