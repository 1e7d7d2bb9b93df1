//! Access tokens of a session.

use callboard_core::{
    access_token::{AccessTokenId, Holder, NewAccessToken, RevokeAccessToken},
    entry::Hash,
};

use crate::{call::*, params::TokenId, rights::ListTokens, secret};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_tokens, create_token)).routes(routes!(revoke_token))
}

/// List the access tokens of a session
#[utoipa::path(get, path = "/v1/sessions/{session}/tokens", tag = "tokens",
    responses((status = OK, description = "The access tokens that have neither been revoked nor expired", body = api::TokenList)))]
async fn list_tokens(caller: Authorized<ListTokens>) -> Result<Answer<api::TokenList>, CallError> {
    let state = caller.session.state().await?;
    let now = caller.app.now();
    let tokens = state.tokens.iter().filter(|token| !token.has_expired(now)).map(api::Token::of);
    Ok(Answer::ok(api::TokenList { tokens: tokens.collect() }))
}

/// Create an access token for an agent or a role
///
/// This answer is the only one that shows the token itself.
#[utoipa::path(post, path = "/v1/sessions/{session}/tokens", tag = "tokens",
    request_body = api::NewToken,
    responses((status = CREATED, description = "The new token", body = api::Token)))]
async fn create_token(
    caller: Authorized<NewAccessToken>,
    RequestBody { body, options }: RequestBody<api::NewToken>,
) -> Result<Answer<api::Token>, CallError> {
    let holder = match (body.agent, body.role) {
        (Some(agent), None) => Holder::Agent(agent),
        (None, Some(role)) => Holder::Role(role),
        _ => return Err(CallError::invalid("/agent", "give either `agent` or `role`")),
    };
    let random = secret::random().map_err(|error| CallError::new("no_randomness", error.to_string()))?;
    let token = caller.app.secret.token(caller.session.id(), Hash(random));
    let (sha256, nonce) = (secret::hash(&token), Hash(random));
    let new = NewAccessToken { holder, sha256, nonce, expires_in: body.expires_in };
    let receipt = caller.execute(options, new).await?;
    let AccessTokenId(id) = receipt.answer;
    let state = caller.session.state_at(receipt.head).await?;
    let made = state.tokens.get(&id).map_err(CallError::from)?;
    // A repeated request derives the same token again from the stored nonce.
    let token = caller.app.secret.token(caller.session.id(), made.nonce);
    if secret::hash(&token) != made.sha256 {
        return Err(unrepeatable(&id));
    }
    Ok(Answer::ok(api::Token { token: Some(token), ..api::Token::of(made) }).at(receipt.head).created())
}

/// Revoke an access token
///
/// Streams that were opened with it end.
#[utoipa::path(delete, path = "/v1/sessions/{session}/tokens/{token}", tag = "tokens",
    params(InPath<TokenId>),
    responses((status = NO_CONTENT, description = "The token is revoked")))]
async fn revoke_token(
    caller: Authorized<RevokeAccessToken>,
    InPath(TokenId(id)): InPath<TokenId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, RevokeAccessToken(id.into())).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn unrepeatable(id: &str) -> CallError {
    let detail = format!("this request created the token {id} on a server with another token secret");
    CallError::new("token_not_repeatable", detail)
        .hint("revoke it, and create another one with another idempotency key")
}
