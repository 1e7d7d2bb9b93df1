//! `callboard session journal`.

use callboard_api as api;
use callboard_engine::core::{entry::Actor, id::Seq};
use clap::Args;

use super::Context;
use crate::{
    cli::{ActingAs, SessionArg},
    client::{Follow, Item, OnSession},
    failure::Failure,
    output::{Output, Style},
    parse,
};

/// Read the journal
#[derive(Args, Debug)]
pub(crate) struct Journal {
    #[command(flatten)]
    pub(crate) session_arg: SessionArg,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
    /// Only entries after this one
    #[arg(long, value_name = "SEQ", default_value = "0", value_parser = parse::seq)]
    pub(crate) after: Seq,
    /// At most this many entries
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) limit: Option<usize>,
    /// Only entries of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) types: Vec<String>,
    /// Keep printing new entries until Ctrl-C
    #[arg(long)]
    pub(crate) follow: bool,
}

/// Prints the journal; with `--follow`, also new entries as they come.
pub(super) async fn journal(context: &Context, args: Journal) -> Result<(), Failure> {
    let output = context.output;
    let session = context.session(&args.session_arg).await?;
    if args.follow {
        return tokio::select! {
            ended = follow(&session, args, output) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
    }
    let Journal { acting_as, after, limit, types, .. } = args;
    let types = (!types.is_empty()).then(|| types.join(","));
    let call = session.get(&["journal"]).query("after", after).maybe("limit", limit).maybe("types", types);
    let journal = call.acting_as(&acting_as).answer::<api::JournalPage>().await?;
    output.answer(&journal.json, |output| journal.it.entries.iter().for_each(|entry| line(entry, output)));
    Ok(())
}

async fn follow(session: &OnSession<'_>, args: Journal, output: Output) -> Result<(), Failure> {
    let Journal { acting_as, after, types, .. } = args;
    let mut follow = Follow::start(session, acting_as, types, after, output).await?;
    while output.is_writable() {
        if let Item::Entry(entry) = follow.next().await? {
            output.answer(&entry, |output| line(&entry, output));
        }
    }
    Ok(())
}

fn line(entry: &api::Entry, output: Output) {
    let by = match &entry.by {
        Actor::Agent(name) => name.to_string(),
        by => by.to_string(),
    };
    let seq = output.paint(Style::Quiet, format!("{:>5}", entry.seq));
    let by = output.paint(Style::Name, by);
    output.line(format!("{seq}  {}  {by}  {}  {}", entry.at, entry.kind, entry.data));
}
