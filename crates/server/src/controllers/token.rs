//! Tokens of a session.

use std::sync::Arc;

use axum::http::StatusCode;
use callboard_core::{
    access_token::{AccessToken, AccessTokenId, Holder, NewAccessToken, RevokeAccessToken, Role},
    entry::Hash,
    id::AgentName,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    params::TokenId,
    problem::Problem,
    rights::KeepTokens,
    secret, shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke))
}

/// A token. What is shown to be let in is given once, when it is made.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub(crate) struct TokenBody {
    #[schema(value_type = String)]
    id: Arc<str>,
    /// The agent for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    agent: Option<AgentName>,
    /// The role for which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RoleShape>)]
    role: Option<Role>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// What is shown to be let in, as `Authorization: Bearer TOKEN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// A role for which a token can stand.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenRole, rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) enum RoleShape {
    User,
    Manager,
}

impl TokenBody {
    fn of(token: &AccessToken) -> Self {
        let (agent, role) = match &token.holder {
            Holder::Agent(agent) => (Some(agent.clone()), None),
            Holder::Role(role) => (None, Some(*role)),
        };
        Self { id: token.id.clone(), agent, role, created_at: token.created_at, token: None }
    }
}

/// Tokens in the order in which they were made.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<TokenBody>,
}

/// List the tokens of a session
#[utoipa::path(get, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "list_tokens",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The tokens that have not been revoked", body = TokenList)))]
async fn list(caller: Authorized<KeepTokens>) -> Result<Answer<TokenList>, Problem> {
    let state = caller.session.state().await?;
    Ok(Answer::ok(TokenList { tokens: state.tokens.iter().map(TokenBody::of).collect() }))
}

/// For whom a token is to stand: an agent, or a role.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTokenBody {
    agent: Option<AgentName>,
    role: Option<Role>,
}

/// For whom a token is to stand: an agent, or a role.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = NewToken)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) enum NewTokenShape {
    Agent(TokenForAgent),
    Role(TokenForRole),
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct TokenForAgent {
    agent: shape::text::AgentName,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is read by the document alone")]
pub(crate) struct TokenForRole {
    role: RoleShape,
}

/// Make a token
#[utoipa::path(post, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "create_token",
    params(("session" = String, Path, description = "The session")),
    request_body = NewTokenShape,
    responses((status = CREATED, description = "The token", body = TokenBody)))]
async fn create(
    caller: Authorized<KeepTokens>,
    request: RequestBody<NewTokenBody>,
) -> Result<Answer<TokenBody>, Problem> {
    let holder = match (request.body.agent, request.body.role) {
        (Some(agent), None) => Holder::Agent(agent),
        (None, Some(role)) => Holder::Role(role),
        _ => return Err(Problem::invalid("/agent", "say for which agent, or for which role: one of the two")),
    };
    let random = secret::random().map_err(|error| unavailable(&error.to_string()))?;
    let token = caller.app.secret.token(caller.session.id(), Hash(random));
    let new = NewAccessToken { holder, sha256: secret::hash(&token), nonce: Hash(random) };
    let receipt = caller.execute(request.options, new).await?;
    let AccessTokenId(id) = receipt.answer;
    let state = caller.session.state_at(receipt.head).await?;
    let made = state.tokens.get(&id).map_err(Problem::from)?;
    // Where the same request made it before, it is made again of what is kept of it.
    let token = caller.app.secret.token(caller.session.id(), made.nonce);
    if secret::hash(&token) != made.sha256 {
        return Err(unrepeatable(&id));
    }
    Ok(Answer::created(TokenBody { token: Some(token), ..TokenBody::of(made) }).at(receipt.head))
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
    params(("session" = String, Path, description = "The session"),
        ("token" = String, Path, description = "The id of the token")),
    responses((status = NO_CONTENT, description = "It opens nothing any more")))]
async fn revoke(
    caller: Authorized<KeepTokens>,
    TokenId(id): TokenId,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    caller.execute(request.options, RevokeAccessToken(id.into())).await?;
    Ok(StatusCode::NO_CONTENT)
}
