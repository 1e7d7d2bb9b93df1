//! `callboard set`.

use std::path::PathBuf;

use callboard_engine::core::{audience::Audience, id::SetName};
use clap::{Args, Subcommand};

use super::{Eyes, Which};
use crate::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// List the context sets
    #[command(after_help = "Example:\n  callboard set list --as critic")]
    List {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Show a context set
    #[command(after_help = "Example:\n  callboard set show Article")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
    /// Create or change a context set
    #[command(
        after_help = "Examples:\n  callboard set put Tone \"friendly, short\" --visible-to writer,editor\n  callboard set put Article --file article.md\n  git diff | callboard set put Diff -"
    )]
    Put(SetPut),
    /// Delete a context set
    #[command(after_help = "Example:\n  callboard set delete Tone")]
    Delete {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
}

/// Create or change a context set
#[derive(Args, Debug)]
pub(crate) struct SetPut {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// Its name
    pub(crate) name: SetName,
    /// What it says, or - for the standard input; as before, where it is left out
    pub(crate) content: Option<String>,
    /// A file that says it
    #[arg(long, value_name = "PATH", conflicts_with = "content")]
    pub(crate) file: Option<PathBuf>,
    /// Who sees it: all, none, or names with commas between them
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
    /// Whether it stands in prompts
    #[arg(long, value_name = "BOOL")]
    pub(crate) enabled: Option<bool>,
}
