//! `callboard token`.

use callboard_api as api;
use callboard_engine::core::{access_token::HolderRole, id::AgentName};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::Context;
use crate::{cli::On, failure::Failure, parse};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Create a token; it is shown only once
    #[command(
        after_help = "Examples:\n  callboard token new --agent critic\n  callboard token new --role user\n  callboard token new --agent critic --expires-in 3600\n\nUse it at a server that serves the session: as CALLBOARD_TOKEN, or as `Authorization: Bearer TOKEN`."
    )]
    New {
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        holder: TokenHolder,
        /// Refuse it after so many seconds (default: never)
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
        expires_in: Option<u64>,
    },
    /// List the tokens that have neither been revoked nor expired
    #[command(after_help = "Example:\n  callboard token list")]
    List(On),
    /// Revoke a token and end its open streams
    #[command(after_help = "Example:\n  callboard token revoke t12")]
    Revoke {
        #[command(flatten)]
        on: On,
        /// The id of the token, as `callboard token list` shows it
        #[arg(value_name = "ID")]
        token: String,
    },
}

/// The roles whose rights a token can give.
const ROLES: [(&str, &str); 2] = [("user", "The owner of the session"), ("manager", "The manager of the team")];

/// Whose rights a token gives.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct TokenHolder {
    /// Give the rights of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// Give the rights of this role
    #[arg(long, value_name = "user|manager", hide_possible_values = true, value_parser = parse::one_of::<HolderRole>(parse::explained(ROLES)))]
    pub(crate) role: Option<HolderRole>,
}

pub(super) async fn execute(context: &Context, command: Token) -> Result<(), Failure> {
    match command {
        Token::New { on, holder: TokenHolder { agent, role }, expires_in } => {
            let session = context.session_on(&on).await?;
            let new = api::NewToken { agent, role, expires_in };
            let made = session.post(&["tokens"], &new);
            let made = made.answer::<api::Token>().await?;
            context.output.answer(&made.json, |output| {
                let until = made.it.expires_at.map(|at| format!(" until {at}")).unwrap_or_default();
                output.note(format!(
                    "created {} with the rights of {}{until}; it is not shown again",
                    made.it.id,
                    holder(&made.it)
                ));
                output.line(made.it.token.as_deref().unwrap_or_default());
            });
        }
        Token::List(on) => {
            let session = context.session_on(&on).await?;
            let list = session.get(&["tokens"]).answer::<api::TokenList>().await?;
            context.output.answer(&list.json, |output| {
                let row = |token: &api::Token| {
                    let expires = token.expires_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
                    vec![token.id.to_string(), holder(token), output.time(token.created_at), expires]
                };
                output.list(
                    &["TOKEN", "FOR", "CREATED", "EXPIRES"],
                    &list.it.tokens.iter().map(row).collect::<Vec<_>>(),
                    "access tokens",
                );
            });
        }
        Token::Revoke { on, token } => {
            let session = context.session_on(&on).await?;
            session.call(Method::DELETE, &["tokens", &token]).done().await?;
            context.output.answer(&json!({"revoked": token}), |output| output.line(format!("revoked {token}")));
        }
    }
    Ok(())
}

/// Whose rights a token gives, for people.
fn holder(token: &api::Token) -> String {
    match (&token.agent, &token.role) {
        (Some(agent), _) => agent.to_string(),
        (None, Some(HolderRole::User)) => "the user".to_owned(),
        (None, Some(HolderRole::Manager)) => "the manager".to_owned(),
        (None, None) => "the bearer".to_owned(),
    }
}
