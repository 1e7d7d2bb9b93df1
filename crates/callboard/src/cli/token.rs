//! `callboard token`.

use callboard_engine::core::id::AgentName;
use clap::{Args, Subcommand, ValueEnum};

use super::Which;

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
