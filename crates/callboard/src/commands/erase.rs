//! `callboard erase`.

use callboard_api as api;
use callboard_engine::core::id::Seq;
use clap::Args;
use http::Method;

use super::Context;
use crate::{cli::On, failure::Failure, parse};

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
    let session = context.session_on(&args.on).await?;
    let call = session.call(Method::DELETE, &["journal", &args.seq.to_string()]).query("reason", args.reason);
    let erased = call.answer::<api::ErasedEntry>().await?;
    context.output.answer(&erased.json, |output| {
        let api::ErasedEntry { seq, erased_by, copies, forks, .. } = &erased.it;
        let noted = erased_by.map(|by| format!(", as entry {by} says")).unwrap_or_default();
        output.line(format!("erased what entry {seq} said{noted}"));
        if !copies.is_empty() {
            let copies: Vec<_> = copies.iter().map(ToString::to_string).collect();
            output.line(format!("  and its copies in {}", copies.join(", ")));
        }
        for fork in forks {
            output.line(format!(
                "  the session {fork} still has it: {}",
                context.suggestion(&format!("erase {seq} --session {fork}"))
            ));
        }
    });
    Ok(())
}
