//! `callboard search`.

use std::process::ExitCode;

use callboard_api as api;
use clap::Args;

use super::{Context, recall::show};
use crate::{cli::On, failure::Failure};

/// Find exact words and phrases, the newest first
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard search '\"the second claim\" from:critic'\n  callboard search 'bergamot in:main before:2025-03-01 type:message'\n\nAll words must be there. The exit status is 1 when nothing is found."
)]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) on: On,
    /// Words, "quoted phrases", and the filters from:NAME, in:THREAD, before:TIME, after:TIME, type:SOURCE
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    /// At most this many
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = crate::parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: usize,
}

pub(super) async fn search(context: &Context, args: Search) -> Result<ExitCode, Failure> {
    let call = context.get(&args.on, &["search"]).await?;
    let call = call.query("q", args.words.join(" ")).query("limit", args.limit);
    let answer = call.answer::<api::Recalled>().await?;
    Ok(show(context.output, &answer.json, &answer.it, false))
}
