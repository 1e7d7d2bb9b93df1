//! `callboard token`.

use callboard_engine::core::id::AgentName;
use http::Method;
use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::{
    answers,
    cli::{Token, TokenHolder, TokenRole},
    failure::Failure,
};

/// For whom a token is to stand.
#[derive(Serialize)]
struct New {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
}

pub(super) async fn execute(context: &Context, command: Token) -> Result<(), Failure> {
    match command {
        Token::New { which, holder: TokenHolder { agent, role } } => {
            let role = role.map(|role| match role {
                TokenRole::User => "user",
                TokenRole::Manager => "manager",
            });
            let session = context.session(&which).await?;
            let made = session.post(&["tokens"], &New { agent, role }).answer::<answers::Token>().await?;
            context.output.answer(&made.json, |output| {
                output.note(format!("{} stands for {}; it is not shown again", made.it.id, holder(&made.it)));
                output.line(made.it.token.as_deref().unwrap_or_default());
            });
        }
        Token::List(which) => {
            let session = context.session(&which).await?;
            let list = session.get(&["tokens"]).answer::<answers::TokenList>().await?;
            context.output.answer(&list.json, |output| {
                let row = |token: &answers::Token| vec![token.id.clone(), holder(token), token.created_at.to_string()];
                output.table(&["TOKEN", "FOR", "MADE"], &list.it.tokens.iter().map(row).collect::<Vec<_>>());
            });
        }
        Token::Revoke { which, token } => {
            context.session(&which).await?.call(Method::DELETE, &["tokens", &token]).done().await?;
            context.output.answer(&json!({"revoked": token}), |output| output.line(format!("{token} is revoked")));
        }
    }
    Ok(())
}

/// For whom a token stands.
fn holder(token: &answers::Token) -> String {
    match (&token.agent, &token.role) {
        (Some(agent), _) => agent.to_string(),
        (None, role) => format!("the {}", role.as_deref().unwrap_or("bearer")),
    }
}
