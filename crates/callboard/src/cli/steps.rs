//! `callboard steps`.

use callboard_engine::core::{id::StepName, session::Ttl};
use clap::{Args, Subcommand};

use super::{Eyes, Which};
use crate::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum Steps {
    /// Show where the team is among its steps
    #[command(after_help = "Example:\n  callboard steps show")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Note that a tool was used: it advances the sequence, and may lead to another step
    #[command(after_help = "Example:\n  callboard steps use look_up")]
    Use {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        tool: String,
    },
    /// Go on in the sequence without using the tool that is due
    #[command(after_help = "Example:\n  callboard steps advance")]
    Advance {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Set where the team is among its steps
    #[command(
        after_help = "Examples:\n  callboard steps set --step draft\n  callboard steps set --default --index 1 --ttl never"
    )]
    Set(StepsSet),
    /// Begin anew: nothing used, nothing counted, in the default step
    #[command(after_help = "Example:\n  callboard steps reset")]
    Reset {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Add what a model used
    #[command(after_help = "Example:\n  callboard steps usage --prompt 1200 --completion 300")]
    Usage {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// How many tokens it read
        #[arg(long, value_name = "TOKENS", required_unless_present = "completion")]
        prompt: Option<u64>,
        /// How many tokens it wrote
        #[arg(long, value_name = "TOKENS")]
        completion: Option<u64>,
    },
    /// Say which of some tools may be used now
    #[command(after_help = "Example:\n  callboard steps allowed look_up note publish")]
    Allowed {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Their names
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
}

/// Set where the team is among its steps
#[derive(Args, Debug)]
#[group(id = "place", required = true, multiple = true, args = ["step", "default", "index", "ttl"])]
pub(crate) struct StepsSet {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// The step that is to be active; entering it starts its sequence
    #[arg(long, value_name = "NAME", conflicts_with = "default")]
    pub(crate) step: Option<StepName>,
    /// The default step is to be active
    #[arg(long)]
    pub(crate) default: bool,
    /// How many tools of the step's sequence were used
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<usize>,
    /// The seconds without use after which the session expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
}
