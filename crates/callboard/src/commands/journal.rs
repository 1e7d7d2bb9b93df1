//! `callboard session journal` and `callboard erase`.

use callboard_api as api;
use callboard_engine::core::{
    event::sentence,
    id::{AgentName, Seq},
};
use clap::Args;
use http::Method;
use serde_json::Value;

use super::Context;
use crate::{
    cli::{NamedSession, On},
    client::{Answer, Follow, Followed, OnSession},
    failure::Failure,
    output::{Output, Style, joined},
    parse,
};

/// Read the journal
#[derive(Args, Debug)]
pub(crate) struct Journal {
    #[command(flatten)]
    pub(crate) on: NamedSession,
    /// Only entries after this one
    #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
    pub(crate) after: Option<Seq>,
    /// At most this many entries: the newest, or with --after the next
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "follow", value_parser = parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<usize>,
    /// Only entries of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) types: Vec<String>,
    /// Keep printing new entries until Ctrl-C
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// Prints the journal; with `--follow`, also new entries as they come.
pub(super) async fn journal(context: &Context, args: Journal) -> Result<(), Failure> {
    let output = context.output;
    let session = context.session_on(&args.on.clone().on()).await?;
    if args.follow {
        return tokio::select! {
            ended = follow(&session, args, output) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
    }
    let journal = read(&session, &args).await?;
    let reader = session.acting_as.as_ref();
    output.answer(&journal.json, |output| {
        journal.it.entries.iter().for_each(|entry| line(entry, reader, output));
        if journal.it.entries.is_empty() {
            output.note("there are no such entries");
        }
    });
    Ok(())
}

/// Reads what is wanted. With a limit and nothing to begin from, that is the newest entries: they are looked for from the
/// end, since some may be of other types, or hidden.
async fn read(session: &OnSession<'_>, args: &Journal) -> Result<Answer<api::JournalPage>, Failure> {
    let types = (!args.types.is_empty()).then(|| args.types.join(","));
    let journal = || session.get(&["journal"]).maybe("types", types.as_ref());
    let (None, Some(limit)) = (args.after, args.limit) else {
        return journal().maybe("after", args.after).maybe("limit", args.limit).answer().await;
    };
    let (mut missing, mut first, mut before, mut end) = (limit, None, None, None);
    loop {
        let newest = journal().query("order", "desc").query("limit", missing).maybe("before", before);
        let found = newest.answer::<api::JournalPage>().await?.it;
        missing = missing.saturating_sub(found.entries.len());
        first = found.entries.last().map(|entry| entry.seq.previous()).or(first);
        before = found.next;
        // What is written meanwhile is not wanted.
        let end = end.get_or_insert(found.head.next());
        if missing == 0 || before.is_none() {
            // Only the numbers were needed: the entries themselves come as the server gives them, however many they are.
            return journal().query("after", first.unwrap_or(found.head)).query("before", end).answer().await;
        }
    }
}

async fn follow(session: &OnSession<'_>, args: Journal, output: Output) -> Result<(), Failure> {
    let mut follow = Follow::start(session, args.types, args.after.unwrap_or_default(), output).await?;
    let reader = session.acting_as.as_ref();
    while output.is_writable() {
        if let Followed::Entry(entry) = follow.next().await? {
            output.answer(&entry, |output| line(&entry, reader, output));
        }
    }
    Ok(())
}

/// Prints what an entry says to `reader`, in a sentence. All of it is in its JSON.
fn line(entry: &api::Entry, reader: Option<&AgentName>, output: Output) {
    let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
    let said = sentence(&entry.by, &entry.kind, &entry.subject, &data, reader);
    let seq = output.paint(Style::Quiet, format!("{:>5}", entry.seq));
    output.line(format!("{seq}  {}  {said}", entry.at));
}

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
