//! `DELETE /v1/sessions/{session}/tokens/{token}`

use axum::http::StatusCode;
use callboard_core::command::Command;

use crate::{
    body::{Asked, Nothing},
    caller::On,
    params::TokenId,
    problem::Problem,
    rights::KeepTokens,
};

/// Revoke a token. Streams that it opened end
#[utoipa::path(delete, path = "/v1/sessions/{session}/tokens/{token}", tag = "tokens", operation_id = "revoke_token",
    params(("session" = String, Path, description = "The session"),
        ("token" = String, Path, description = "The id of the token")),
    responses((status = NO_CONTENT, description = "It opens nothing any more")))]
pub(crate) async fn revoke(
    on: On<KeepTokens>,
    TokenId(id): TokenId,
    asked: Asked<Nothing>,
) -> Result<StatusCode, Problem> {
    on.execute(asked.terms, Command::RevokeToken(id.into())).await?;
    Ok(StatusCode::NO_CONTENT)
}
