//! `callboard token`.

use callboard_api as api;
use callboard_engine::core::{access_token::Role, id::AgentName};
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::json;

use super::Context;
use crate::{cli::Which, failure::Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token, which is shown this once
    #[command(
        after_help = "Examples:\n  callboard token new --agent critic\n  callboard token new --role user\n\nIt lets its holder in at a server that serves the session: as CALLBOARD_TOKEN, or as\n`Authorization: Bearer TOKEN`."
    )]
    New {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        holder: TokenHolder,
    },
    /// List the tokens that have not been revoked
    #[command(after_help = "Example:\n  callboard token list")]
    List(Which),
    /// Revoke a token: what it has opened ends
    #[command(after_help = "Example:\n  callboard token revoke t12")]
    Revoke {
        #[command(flatten)]
        which: Which,
        /// The id of the token, as the list shows it
        #[arg(value_name = "ID")]
        token: String,
    },
}

/// For whom a token stands.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct TokenHolder {
    /// The agent for which it stands
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// The role for which it stands, whoever has it
    #[arg(long, value_name = "user|manager", hide_possible_values = true)]
    pub(crate) role: Option<TokenRole>,
}

/// A role for which a token can stand.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TokenRole {
    /// Whose session it is.
    User,
    /// Who directs the team.
    Manager,
}

pub(super) async fn execute(context: &Context, command: Token) -> Result<(), Failure> {
    match command {
        Token::New { which, holder: TokenHolder { agent, role } } => {
            let role = role.map(|role| match role {
                TokenRole::User => Role::User,
                TokenRole::Manager => Role::Manager,
            });
            let session = context.session(&which).await?;
            let made = session.post(&["tokens"], &api::NewToken { agent, role }).answer::<api::Token>().await?;
            context.output.answer(&made.json, |output| {
                output.note(format!("{} stands for {}; it is not shown again", made.it.id, holder(&made.it)));
                output.line(made.it.token.as_deref().unwrap_or_default());
            });
        }
        Token::List(which) => {
            let session = context.session(&which).await?;
            let list = session.get(&["tokens"]).answer::<api::TokenList>().await?;
            context.output.answer(&list.json, |output| {
                let row = |token: &api::Token| vec![token.id.to_string(), holder(token), token.created_at.to_string()];
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
fn holder(token: &api::Token) -> String {
    match (&token.agent, &token.role) {
        (Some(agent), _) => agent.to_string(),
        (None, Some(Role::User)) => "the user".to_owned(),
        (None, Some(Role::Manager)) => "the manager".to_owned(),
        (None, None) => "the bearer".to_owned(),
    }
}
