//! Options that many commands take.

use std::path::PathBuf;

use callboard_engine::core::id::{AgentName, SessionId};
use clap::{Args, ValueEnum};

/// What every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The store: sqlite:PATH, postgres://…, redis://… or memory: (default: CALLBOARD_STORE, or a file in the user's data folder)
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The server to call instead of opening a store, as `callboard serve` prints it (default: CALLBOARD_URL)
    #[arg(long, global = true, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// A file with the access token for the server (default: CALLBOARD_TOKEN)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// What acknowledged writes survive: a crash of the process (normal), or a power failure too (full)
    #[arg(long, global = true, value_name = "normal|full", default_value = "normal", hide_possible_values = true)]
    pub(crate) durability: DurabilityChoice,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What acknowledged writes survive.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityChoice {
    /// A crash of the process.
    Normal,
    /// A power failure too.
    Full,
}

/// The session that a command works on.
#[derive(Args, Clone, Debug)]
pub(crate) struct SessionArg {
    /// The session (default: the one used last)
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

/// The agent that a command acts as.
#[derive(Args, Clone, Debug)]
pub(crate) struct ActingAs {
    /// Act as this agent: see what it sees, with its rights
    #[arg(long = "as", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
}
