//! Appending.

use std::{borrow::Cow, sync::Arc};

use callboard_core::{
    entry::{Entry, Head},
    id::Seq,
};

use super::{
    command::Reply,
    entry,
    fault::Fault,
    link::Link,
    read, script,
    sessions::{self, expiry},
};
use crate::{
    Append, Error, Work,
    lanes::{DOING, Job, Lane},
};

/// What the script says of a batch.
enum Outcome {
    Appended,
    Refused(Error),
}

/// What appends.
#[derive(Clone)]
pub(super) struct Writer(pub(super) Arc<Link>);

impl Lane for Writer {
    async fn send(&self, jobs: Vec<Job>) {
        let calls = jobs.iter().map(|job| (&job.batch.session, arguments(&job.batch))).collect();
        match self.0.run_each(&script::APPEND, calls).await {
            Ok(replies) => jobs.into_iter().zip(replies).for_each(|(job, reply)| job.answer(said(reply))),
            Err(fault) => jobs.into_iter().for_each(|job| job.answer(Err(fault.clone().during(DOING)))),
        }
    }
}

/// Appends a batch alone.
pub(super) async fn append(link: &Link, batch: &Append) -> Result<(), Error> {
    said(link.run(&script::APPEND, &batch.session, arguments(batch)).await)
}

fn said(reply: Result<Reply, Fault>) -> Result<(), Error> {
    match reply.and_then(outcome).map_err(|fault| fault.during(DOING))? {
        Outcome::Appended => Ok(()),
        Outcome::Refused(error) => Err(error),
    }
}

fn arguments(batch: &Append) -> Vec<Cow<'_, str>> {
    let Head { seq, tag } = batch.entries.last().map_or(batch.expected, Entry::head);
    let (work, holder, lasts) = match &batch.work {
        Work::AsBefore => ("as_before", "", 0),
        Work::Due(lease) => ("due", &*lease.holder, lease.lasts_millis()),
        Work::Done => ("done", "", 0),
    };
    let mut words: Vec<Cow<'_, str>> = vec![
        batch.expected.seq.to_string().into(),
        batch.expected.tag.to_string().into(),
        seq.to_string().into(),
        tag.to_string().into(),
        expiry(batch.expires_at).into(),
        work.into(),
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
    words
}

fn outcome(reply: Reply) -> Result<Outcome, Fault> {
    let mut said = match reply {
        Reply::Text(_) => return Ok(Outcome::Appended),
        other => other.list()?.into_iter(),
    };
    let mut next = || said.next().unwrap_or(Reply::Nothing);
    match next().text()?.as_str() {
        "conflict" => Ok(Outcome::Refused(Error::Conflict { found: sessions::row(next())? })),
        _ => {
            let (key, seq) = (next().text()?.into(), Seq(next().number()?.unsigned_abs()));
            Ok(Outcome::Refused(Error::KeyTaken { key, seq }))
        }
    }
}
