//! `callboard export` and `callboard import`.

use std::path::PathBuf;

use callboard_engine::core::id::SessionId;
use clap::Args;

use super::Which;

/// Write a whole session as lines of JSON
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard export tides.jsonl --session tides\n  callboard export | gzip > session.jsonl.gz"
)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The file, or - for the standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
}

/// Take in a session that was exported
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard import tides.jsonl\n  gunzip < session.jsonl.gz | callboard import - --id copy"
)]
pub(crate) struct Import {
    /// The file, or - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Its id here; the one it had, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<SessionId>,
}
