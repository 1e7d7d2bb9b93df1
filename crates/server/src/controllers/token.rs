//! Access tokens of a session.

use axum::http::StatusCode;
use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Created,
    app::App,
    body::{Empty, RequestBody},
    calls::{Answer, Authorized, CallError, rights::KeepTokens},
    params::TokenId,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke))
}

/// List the access tokens of a session
#[utoipa::path(get, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "list_tokens",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The access tokens that have not been revoked", body = api::TokenList)))]
async fn list(caller: Authorized<KeepTokens>) -> Result<Answer<api::TokenList>, CallError> {
    caller.list_tokens().await
}

/// Create an access token for an agent or a role
///
/// This answer is the only one that shows the token itself.
#[utoipa::path(post, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "create_token",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::NewToken,
    responses((status = CREATED, description = "The new token", body = api::Token)))]
async fn create(
    caller: Authorized<KeepTokens>,
    request: RequestBody<api::NewToken>,
) -> Result<Created<api::Token>, CallError> {
    caller.create_token(request.body, request.options).await.map(Created)
}

/// Revoke an access token
///
/// Streams that were opened with it end.
#[utoipa::path(delete, path = "/v1/sessions/{session}/tokens/{token}", tag = "tokens", operation_id = "revoke_token",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("token" = api::Label, Path, description = "The id of the token")),
    responses((status = NO_CONTENT, description = "The token is revoked")))]
async fn revoke(
    caller: Authorized<KeepTokens>,
    TokenId(id): TokenId,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.revoke_token(id, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
