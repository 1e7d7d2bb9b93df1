//! `callboard directive` and `callboard form`.

use std::path::PathBuf;

use callboard_engine::core::id::SetName;
use clap::{Args, Subcommand};

use super::{Eyes, Which};
use crate::parse;

/// Apply a manager's directive and print what came of it
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard directive directive.json\n  echo 'Context update: Tone\nfriendly' | callboard directive -\n  callboard directive --schema"
)]
pub(crate) struct Directive {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// A file with the directive as JSON or as text, or - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Print the JSON Schema that a directive of this team has
    #[arg(long, conflicts_with = "file")]
    pub(crate) schema: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Form {
    /// List the forms
    #[command(after_help = "Example:\n  callboard form list")]
    List {
        #[command(flatten)]
        which: Which,
    },
    /// Answer a form
    #[command(
        after_help = "Examples:\n  callboard form answer Audience who=beginners words=300\n  callboard form answer Topics 'topics=[\"a\", \"b\"]'"
    )]
    Answer {
        #[command(flatten)]
        which: Which,
        /// Its name
        name: SetName,
        /// The answers
        #[arg(value_name = "KEY=VALUE", value_parser = parse::pair)]
        answers: Vec<(String, String)>,
    },
}
