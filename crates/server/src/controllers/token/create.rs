//! `POST /v1/sessions/{session}/tokens`

use axum::http::StatusCode;
use callboard_core::{
    access_token::{Holder, NewAccessToken, Role},
    command::{Answer as Executed, Command},
    entry::Hash,
    id::AgentName,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{RoleShape, TokenBody};
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::KeepTokens, secret, shape};

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
pub(crate) async fn create(on: On<KeepTokens>, asked: Asked<NewTokenBody>) -> Result<Answer<TokenBody>, Problem> {
    let holder = match (asked.body.agent, asked.body.role) {
        (Some(agent), None) => Holder::Agent(agent),
        (None, Some(role)) => Holder::Role(role),
        _ => return Err(Problem::invalid("/agent", "say for which agent, or for which role: one of the two")),
    };
    let random = secret::random().map_err(|error| unavailable(&error.to_string()))?;
    let token = on.app.secret.token(on.session.id(), Hash(random));
    let new = NewAccessToken { holder, sha256: secret::hash(&token), nonce: Hash(random) };
    let receipt = on.execute(asked.terms, Command::CreateToken(new)).await?;
    let Executed::Token(id) = receipt.answer else { return Err(Problem::closing()) };
    let state = on.session.state_at(receipt.head).await?;
    let made = state.tokens.get(&id).map_err(Problem::from)?;
    // Where the same request made it before, it is made again of what is kept of it.
    let token = on.app.secret.token(on.session.id(), made.nonce);
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
