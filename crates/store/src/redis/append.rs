//! Appending.

use std::{borrow::Cow, sync::Arc};

use callboard_core::{
    entry::{Entry, Head},
    id::Seq,
};

use super::{
    client::Client,
    command::Reply,
    entry,
    error::RedisFailure,
    read, script,
    sessions::{self, expiry},
};
use crate::{
    Append, Error, JournalKind, LeaseChange, Rewrite,
    append_batcher::{DOING, QueuedAppend, SendBatch},
};

/// Sends groups of appends.
#[derive(Clone)]
pub(super) struct Sender(pub(super) Arc<Client>);

impl SendBatch for Sender {
    async fn send(&self, appends: Vec<QueuedAppend>) {
        let batches: Vec<_> = appends.iter().map(|append| &append.batch).collect();
        match append(&self.0, &batches).await {
            Ok(outcomes) => appends.into_iter().zip(outcomes).for_each(|(append, outcome)| append.answer(outcome)),
            Err(fault) => appends.into_iter().for_each(|append| append.answer(Err(fault.clone().during(DOING)))),
        }
    }
}

/// Appends batches with one script. Returns the outcome of each.
async fn append(client: &Client, batches: &[&Append]) -> Result<Vec<Result<(), Error>>, RedisFailure> {
    let sessions: Vec<_> = batches.iter().map(|batch| &batch.session).collect();
    let mut words = Vec::new();
    for batch in batches {
        let own = arguments(batch);
        words.push((own.len() + 1).to_string().into());
        words.extend(own);
    }
    let outcomes = client.run_on(&script::APPEND, &sessions, words).await?.list()?;
    if outcomes.len() != batches.len() {
        return Err(RedisFailure::Unexpected(format!("it answered {} of {} batches", outcomes.len(), batches.len())));
    }
    Ok(outcomes.into_iter().map(|reply| outcome(reply).map_err(|fault| fault.during(DOING))?).collect())
}

/// The arguments of a batch.
fn arguments(batch: &Append) -> Vec<Cow<'_, str>> {
    let Head { seq, tag } = batch.entries.last().map_or(batch.expected, Entry::head);
    let (lease, holder, lasts) = match &batch.lease {
        LeaseChange::Keep => ("keep", "", 0),
        LeaseChange::Set(lease) => ("set", &*lease.holder, lease.lasts_millis()),
        LeaseChange::Remove => ("remove", "", 0),
    };
    let kind = match batch.kind {
        JournalKind::Session => "session",
        JournalKind::Unlisted => "request",
    };
    let mut words: Vec<Cow<'_, str>> = vec![
        batch.session.to_string().into(),
        kind.into(),
        batch.expected.seq.to_string().into(),
        batch.expected.tag.to_string().into(),
        seq.to_string().into(),
        tag.to_string().into(),
        expiry(batch.expires_at).into(),
        lease.into(),
        holder.into(),
        lasts.to_string().into(),
        batch.entries.len().to_string().into(),
    ];
    for written in &batch.entries {
        let header = &written.header;
        words.push(entry::write(written).into());
        words.push((&*header.kind).into());
        words.push((&*header.subject).into());
        words.push(header.time.map(read::time_digits).unwrap_or_default().into());
        words.push(header.keys.len().to_string().into());
        words.extend(header.keys.iter().map(|key| Cow::from(&**key)));
    }
    words.push(batch.values.len().to_string().into());
    for (hash, text) in &batch.values {
        words.push(hash.to_string().into());
        words.push((&**text).into());
    }
    words.push(batch.rewrites.len().to_string().into());
    for Rewrite { seq, data } in &batch.rewrites {
        words.push(seq.to_string().into());
        words.push((&**data).into());
    }
    let dropped: Vec<_> = batch.dropped_values().map(|hash| hash.to_string().into()).collect();
    words.push(dropped.len().to_string().into());
    words.extend(dropped);
    words
}

/// The outcome of a batch in the script's reply.
fn outcome(reply: Reply) -> Result<Result<(), Error>, RedisFailure> {
    let mut said = match reply {
        Reply::Text(_) => return Ok(Ok(())),
        other => other.list()?.into_iter(),
    };
    let mut next = || said.next().unwrap_or(Reply::Nothing);
    match next().text()?.as_str() {
        "conflict" => Ok(Err(Error::Conflict { found: sessions::row(next())? })),
        "failed" => Err(RedisFailure::refused(&next().text()?)),
        _ => {
            let (key, seq) = (next().text()?.into(), Seq(next().number()?.unsigned_abs()));
            Ok(Err(Error::KeyTaken { key, seq }))
        }
    }
}
