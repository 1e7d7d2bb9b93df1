//! `callboard erase`.

use callboard_api as api;
use callboard_engine::core::id::Seq;
use clap::Args;
use http::Method;

use super::Context;
use crate::{cli::On, failure::Failure, output::joined, parse};

/// Erase what people wrote in an entry, for good
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  callboard erase 42 --reason \"a phone number\"\n\nThe entry keeps its number, author and time. Copies that Callboard made are erased too. To find the entry, use callboard why."
)]
pub(crate) struct Erase {
    #[command(flatten)]
    pub(crate) on: On,
    /// The number of the entry
    #[arg(value_name = "SEQ", value_parser = parse::seq)]
    pub(crate) seq: Seq,
    /// Why, for the journal
    #[arg(long, value_name = "TEXT", default_value = "erased by hand")]
    pub(crate) reason: String,
}

pub(super) async fn erase(context: &Context, args: Erase) -> Result<(), Failure> {
    let call = context.call(&args.on, Method::DELETE, &["journal", &args.seq.to_string()]).await?;
    let call = call.query("reason", args.reason);
    call.print(context.output, |erased: &api::ErasedEntry, output| {
        let api::ErasedEntry { seq, erased_by, copies, forks, .. } = erased;
        let noted = erased_by.map(|by| format!(", as entry {by} says")).unwrap_or_default();
        output.line(format!("erased what entry {seq} said{noted}"));
        if !copies.is_empty() {
            output.line(format!("  and its copies in {}", joined(copies)));
        }
        for fork in forks {
            let erase = context.suggestion(&format!("erase {seq} --session {fork}"));
            output.line(format!("  the session {fork} still has it: {erase}"));
        }
    })
    .await
}
