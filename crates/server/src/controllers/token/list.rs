//! `GET /v1/sessions/{session}/tokens`

use serde::Serialize;
use utoipa::ToSchema;

use super::TokenBody;
use crate::{answer::Answer, caller::On, problem::Problem, rights::KeepTokens};

/// Tokens in the order in which they were made.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<TokenBody>,
}

/// List the tokens of a session
#[utoipa::path(get, path = "/v1/sessions/{session}/tokens", tag = "tokens", operation_id = "list_tokens",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The tokens that have not been revoked", body = TokenList)))]
pub(crate) async fn list(on: On<KeepTokens>) -> Result<Answer<TokenList>, Problem> {
    let state = on.session.state().await?;
    Ok(Answer::ok(TokenList { tokens: state.tokens.iter().map(TokenBody::of).collect() }))
}
