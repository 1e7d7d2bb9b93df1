//! Printing the entries of a journal.

use std::sync::Arc;

use callboard_engine::{
    Filter, Session,
    core::{entry::Actor, view::Projected},
};
use serde_json::json;

use crate::{
    cli::Journal,
    failure::Failure,
    output::{Output, Style},
};

/// How many entries are read at once.
const PAGE: usize = 512;

/// Prints the entries that are asked for, and goes on as they come where that is wanted.
pub(crate) async fn print(session: &Session, args: Journal, output: Output) -> Result<(), Failure> {
    let Journal { eyes, after, limit, types, follow, .. } = args;
    let viewer = eyes.viewer();
    let types: Vec<Arc<str>> = types.into_iter().map(Into::into).collect();
    if follow {
        let filter = Filter { types, ..Filter::default() };
        let mut entries = session.subscribe(viewer, Some(after), filter).await?;
        loop {
            tokio::select! {
                entry = entries.next() => match entry? {
                    Some(entry) => output.answer(&entry, |output| line(&entry, output)),
                    None => return Ok(()),
                },
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
        }
    }
    let (mut entries, mut after, mut left) = (Vec::new(), after, limit.unwrap_or(usize::MAX));
    let head = loop {
        let (page, head) = session.journal(&viewer, after, PAGE.min(left), &types).await?;
        let Some(last) = page.last() else { break head };
        (after, left) = (last.seq, left.saturating_sub(page.len()));
        if output.json {
            entries.extend(page);
        } else {
            page.iter().for_each(|entry| line(entry, output));
        }
    };
    if output.json {
        output.json(&json!({"entries": entries, "head": head}));
    }
    Ok(())
}

fn line(entry: &Projected, output: Output) {
    let by = match &entry.by {
        Actor::Agent(name) => name.to_string(),
        by => by.to_string(),
    };
    let seq = output.paint(Style::Quiet, format!("{:>5}", entry.seq));
    let by = output.paint(Style::Name, by);
    output.line(format!("{seq}  {}  {by}  {}  {}", entry.at, entry.kind, entry.data));
}
