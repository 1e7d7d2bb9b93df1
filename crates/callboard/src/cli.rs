//! Options that many commands take.

use std::path::PathBuf;

use callboard_engine::core::id::{AgentName, SessionId};
use clap::{Args, ValueEnum};

/// What every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Where sessions are kept: sqlite:PATH, postgres://…, redis://… or memory:. By default CALLBOARD_STORE, or a file in the user's data folder
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The server that has the sessions, as `callboard serve` prints it. By default CALLBOARD_URL, or none but the store
    #[arg(long, global = true, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// A file with the token that the server wants. By default CALLBOARD_TOKEN
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// What a change has survived once it is answered: the end of the process, or a loss of power too
    #[arg(long, global = true, value_name = "normal|full", default_value = "normal", hide_possible_values = true)]
    pub(crate) durability: DurabilityChoice,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What a change has survived once it is answered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityChoice {
    /// The end of the process by any means.
    Normal,
    /// A loss of power too.
    Full,
}

/// Which session is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct Which {
    /// The session; the one used last, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

/// Through whose eyes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Eyes {
    /// Look and write through this agent's eyes
    #[arg(long = "as", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
}
