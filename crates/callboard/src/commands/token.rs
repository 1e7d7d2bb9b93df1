//! `callboard token`.

use callboard_api as api;
use callboard_engine::core::{access_token::HolderRole, id::AgentName};
use clap::{Args, Subcommand};
use http::Method;

use super::Context;
use crate::{cli::On, failure::Failure, output::Output, parse};

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
            let new = api::NewToken { agent, role, expires_in };
            context.post(&on, &["tokens"], &new).await?.print(context.output, made).await
        }
        Token::List(on) => context.get(&on, &["tokens"]).await?.print(context.output, table).await,
        Token::Revoke { on, token } => {
            context.call(&on, Method::DELETE, &["tokens", &token]).await?.done().await?;
            context.output.done("revoked", &token);
            Ok(())
        }
    }
}

fn made(token: &api::Token, output: Output) {
    let until = token.expires_at.map(|at| format!(" until {at}")).unwrap_or_default();
    let (id, holder) = (&token.id, holder(token));
    output.note(format!("created {id} with the rights of {holder}{until}; it is not shown again"));
    output.line(token.token.as_deref().unwrap_or_default());
}

fn table(list: &api::TokenList, output: Output) {
    let row = |token: &api::Token| {
        let expires = token.expires_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        vec![token.id.to_string(), holder(token), output.time(token.created_at), expires]
    };
    output.list(&["TOKEN", "FOR", "CREATED", "EXPIRES"], list.tokens.iter().map(row), "access tokens");
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
