//! Rows of sessions: one, all in pages, and those that have expired.

use std::collections::HashSet;

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{
    command::{Command, Reply},
    entry::read_tag,
    fault::Fault,
    layout,
    link::Link,
    script,
};
use crate::{Lease, Row};

/// How many sessions are looked at at once.
const AT_ONCE: usize = 256;

/// Stands in rows where a session never expires.
const NEVER: &str = "-";

/// When a session expires, in the form in which rows hold it.
pub(super) fn expiry(expires_at: Option<Timestamp>) -> String {
    expires_at.map_or_else(|| NEVER.to_owned(), |at| at.as_millis().to_string())
}

/// The row that a script gives, where it gives one.
pub(super) fn row(reply: Reply) -> Result<Option<Row>, Fault> {
    let damaged = || Fault::Damaged { what: "the row of a session".to_owned(), detail: "a field is wrong".to_owned() };
    reply.some_text()?.map(|text| read_row(&text).ok_or_else(damaged)).transpose()
}

fn read_row(text: &str) -> Option<Row> {
    let mut fields = text.split(' ');
    let mut next = || fields.next();
    let time = |millis: &str| Timestamp::from_millis(millis.parse().ok()?).ok();
    let (seq, tag) = (Seq(next()?.parse().ok()?), read_tag(next()?)?);
    let expires_at = match next()? {
        NEVER => None,
        millis => Some(time(millis)?),
    };
    Some(Row { head: Head { seq, tag }, expires_at, last_activity: time(next()?)? })
}

/// The sessions behind `after`. Only what the rows themselves say counts.
pub(super) async fn list(link: &Link, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Fault> {
    let mut found = Vec::new();
    if limit == 0 {
        return Ok(found);
    }
    let now = link.now().await?;
    let mut after = after.cloned();
    loop {
        let ids = ids_behind(link, after.as_ref()).await?;
        let ask = |id| Command::new(["HGET".to_owned(), link.layout.journal(id), layout::ROW.to_owned()]);
        let rows = link.all(&ids.iter().map(ask).collect::<Vec<_>>()).await?;
        let complete = ids.len() < AT_ONCE;
        after = ids.last().cloned();
        for (id, found_row) in ids.into_iter().zip(rows) {
            if let Some(row) = row(found_row?)?.filter(|row| row.lives(now)) {
                found.push((id, row));
            }
            if found.len() == limit {
                return Ok(found);
            }
        }
        if complete {
            return Ok(found);
        }
    }
}

/// The next ids of the list, which may have some that are not there.
pub(super) async fn ids_behind(link: &Link, after: Option<&SessionId>) -> Result<Vec<SessionId>, Fault> {
    let from = after.map_or("-".to_owned(), |after| format!("({after}"));
    let limit = AT_ONCE.to_string();
    let command = Command::new(["ZRANGE", &link.layout.sessions, &from, "+", "BYLEX", "LIMIT", "0", &limit]);
    ids(link.call(command).await?)
}

/// See [`Store::lease`](crate::Store::lease). Of the sessions that have a lease, those are named whose rows are there.
pub(super) async fn lease(link: &Link, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Fault> {
    let lasts = lease.lasts_millis().to_string();
    let arguments = vec![(&*lease.holder).into(), lasts.into(), most.to_string().into()];
    let mut held = ids(link.run_on(&script::LEASE, &[], arguments).await?)?;
    held.sort();
    let rows = link.run_each(&script::ROW, &held).await?;
    let mut living = Vec::with_capacity(held.len());
    for (id, found) in held.into_iter().zip(rows) {
        if row(found?)?.is_some() {
            living.push(id);
        }
    }
    Ok(living)
}

/// What became of a sweep.
#[derive(Default)]
pub(super) struct Sweep {
    /// Those that it deleted.
    pub(super) gone: Vec<SessionId>,
    /// Those of which nobody knows whether it did, because the answer was lost.
    pub(super) in_doubt: Vec<SessionId>,
    /// Why it ended before it was done. What was deleted is named all the same; whoever sweeps on meets this again.
    pub(super) fault: Option<Fault>,
}

/// Deletes sessions that have expired: the first to expire first.
pub(super) async fn sweep(link: &Link, limit: usize) -> Sweep {
    let mut sweep = Sweep::default();
    sweep.fault = sweep_into(&mut sweep, link, limit).await.err();
    sweep
}

async fn sweep_into(sweep: &mut Sweep, link: &Link, limit: usize) -> Result<(), Fault> {
    let mut put_off = HashSet::new();
    let now = link.now().await?.as_millis().to_string();
    while sweep.gone.len() < limit {
        let at_once = AT_ONCE.min(limit - sweep.gone.len()).to_string();
        let expired = Command::new(["ZRANGE", &link.layout.expiry, "-inf", &now, "BYSCORE", "LIMIT", "0", &at_once]);
        let expired = ids(link.call(expired).await?)?;
        if expired.is_empty() {
            break;
        }
        // Each is gone from the list then, or stands elsewhere in it.
        let answers = match link.run_each(&script::SWEEP, &expired).await {
            Ok(answers) => answers,
            Err(fault) => {
                sweep.in_doubt = expired;
                return Err(fault);
            }
        };
        let mut fault = None;
        let mut again = false;
        for (id, answer) in expired.into_iter().zip(answers) {
            match answer.and_then(Reply::number) {
                Ok(1) => sweep.gone.push(id),
                Ok(_) => again |= !put_off.insert(id),
                Err(found) => {
                    sweep.in_doubt.push(id);
                    fault = Some(found);
                }
            }
        }
        fault.map_or(Ok(()), Err)?;
        if again {
            // It was put off and is due all the same: the clock was turned back meanwhile.
            break;
        }
    }
    Ok(())
}

fn ids(reply: Reply) -> Result<Vec<SessionId>, Fault> {
    let damaged = |_| Fault::Damaged { what: "the list of sessions".to_owned(), detail: "an id is wrong".to_owned() };
    reply.list()?.into_iter().map(|id| id.text()?.parse().map_err(damaged)).collect()
}
