//! `callboard runs`.

use callboard_engine::core::id::RunId;
use clap::{Args, Subcommand};

use super::Which;

/// Which run is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhichRun {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The run; the newest, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<RunId>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs of a session
    #[command(after_help = "Example:\n  callboard runs list")]
    List(Which),
    /// Show a run
    #[command(after_help = "Example:\n  callboard runs show --run r4")]
    Show(WhichRun),
    /// Hold a run: what a model is asked now is still heard
    #[command(after_help = "Example:\n  callboard runs pause --reason \"waiting for the figures\"")]
    Pause {
        #[command(flatten)]
        run: WhichRun,
        /// Why
        #[arg(long, default_value = "held by the user")]
        reason: String,
    },
    /// Let a held run go on; `callboard run --session ID` then drives it
    #[command(after_help = "Example:\n  callboard runs resume && callboard run --session 20250118-143022-a4f2")]
    Resume(WhichRun),
    /// End a run before it is done
    #[command(after_help = "Example:\n  callboard runs cancel")]
    Cancel(WhichRun),
    /// Bring the result of a tool call that a run waits for
    #[command(after_help = "Example:\n  callboard runs tool-result call_1 '{\"celsius\": 21}'")]
    ToolResult {
        #[command(flatten)]
        run: WhichRun,
        /// The call
        #[arg(value_name = "CALL")]
        call: String,
        /// The result, or - for the standard input
        result: String,
    },
}
