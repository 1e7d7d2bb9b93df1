//! Rows of sessions: reading and listing them, leases, and finding expired ones.

use std::{cmp::Reverse, collections::HashMap};

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{
    client::Client,
    command::{Command, Reply},
    entry::read_tag,
    error::RedisFailure,
    layout, script,
};
use crate::{Lease, Row};

/// How many sessions are read or removed at once.
pub(super) const AT_ONCE: usize = 256;

/// The expiry of a session that never expires.
const NEVER: &str = "-";

/// When a session expires, as rows contain it.
pub(super) fn expiry(expires_at: Option<Timestamp>) -> String {
    expires_at.map_or_else(|| NEVER.to_owned(), |at| at.as_millis().to_string())
}

/// The row in a script's reply, if there is one.
pub(super) fn row(reply: Reply) -> Result<Option<Row>, RedisFailure> {
    let damaged =
        || RedisFailure::Damaged { what: "the row of a session".to_owned(), detail: "a field is wrong".to_owned() };
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

/// The journals of `list` after the id `after`. Ids without a live row are left out.
pub(super) async fn list(
    client: &Client,
    list: &str,
    after: Option<&SessionId>,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>, RedisFailure> {
    let mut found = Vec::new();
    let mut after = after.cloned();
    while found.len() < limit {
        let ids = ids_behind(client, list, after.as_ref()).await?;
        let is_last = ids.len() < AT_ONCE;
        after = ids.last().cloned();
        found.extend(living(client, ids).await?);
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// See [`Store::recent_sessions`](crate::Store::recent_sessions).
pub(super) async fn recent(client: &Client, limit: usize) -> Result<Vec<(SessionId, Row)>, RedisFailure> {
    // A session that is used meanwhile moves in the list, so others may be found twice.
    let mut found: HashMap<SessionId, Row> = HashMap::new();
    let (mut skipped, at_once) = (0, AT_ONCE.min(limit));
    while found.len() < limit {
        let (list, skip, count) = (client.layout.shared("used"), skipped.to_string(), at_once.to_string());
        let used = ["ZRANGE", &list, "+inf", "0", "BYSCORE", "REV", "LIMIT", &skip, &count];
        let ids = ids(client.call(&Command::new(used)).await?)?;
        let is_last = ids.len() < at_once;
        skipped += ids.len();
        found.extend(living(client, ids).await?);
        if is_last {
            break;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(id, row)| Reverse((row.last_activity, id.clone())));
    found.truncate(limit);
    Ok(found)
}

/// The newest last activity of all journals.
pub(super) async fn last_activity(client: &Client) -> Result<Option<Timestamp>, RedisFailure> {
    match client.run_on(&script::LAST_ACTIVITY, &[], Vec::new()).await? {
        Reply::Nothing => Ok(None),
        millis => Ok(Some(Timestamp::nearest(millis.number()?))),
    }
}

/// The live sessions among `ids`, with their rows.
async fn living(client: &Client, ids: Vec<SessionId>) -> Result<Vec<(SessionId, Row)>, RedisFailure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let now = client.now().await?;
    let ask = |id| Command::new(["HGET".to_owned(), client.layout.journal(id), layout::ROW.to_owned()]);
    let rows = client.transport.all(&ids.iter().map(ask).collect::<Vec<_>>()).await?;
    let mut found = Vec::with_capacity(ids.len());
    for (id, found_row) in ids.into_iter().zip(rows) {
        found.extend(row(found_row?)?.filter(|row| row.lives(now)).map(|row| (id, row)));
    }
    Ok(found)
}

/// The next ids of a list. Some of them may have no session any more.
pub(super) async fn ids_behind(
    client: &Client,
    list: &str,
    after: Option<&SessionId>,
) -> Result<Vec<SessionId>, RedisFailure> {
    let from = after.map_or("-".to_owned(), |after| format!("({after}"));
    let limit = AT_ONCE.to_string();
    ids(client.call(&Command::new(["ZRANGE", list, &from, "+", "BYLEX", "LIMIT", "0", &limit])).await?)
}

/// See [`Store::lease`](crate::Store::lease). Sessions that have expired are left out.
pub(super) async fn lease(client: &Client, lease: &Lease, most: usize) -> Result<Vec<SessionId>, RedisFailure> {
    let lasts = lease.lasts_millis().to_string();
    let arguments = vec![(&*lease.holder).into(), lasts.into(), most.to_string().into()];
    let mut held = ids(client.run_on(&script::LEASE, &[], arguments).await?)?;
    held.sort();
    Ok(living(client, held).await?.into_iter().map(|(id, _)| id).collect())
}

/// See [`Store::expired`](crate::Store::expired).
pub(super) async fn expired(client: &Client, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, RedisFailure> {
    let mut found = Vec::new();
    while found.len() < limit {
        let at_once = AT_ONCE.min(limit - found.len());
        let range = vec![found.len().to_string().into(), at_once.to_string().into()];
        let page = client.run_on(&script::EXPIRED, &[], range).await?.list()?;
        let is_last = page.len() < 2 * at_once;
        let mut page = page.into_iter();
        while let (Some(id), Some(at)) = (page.next(), page.next()) {
            found.push((read_id(id)?, Timestamp::nearest(at.number()?)));
        }
        if is_last {
            break;
        }
    }
    // What another handle removes meanwhile moves the rest in the list, so one may be found twice.
    found.sort_by_key(|(id, at): &(SessionId, Timestamp)| (*at, id.clone()));
    found.dedup();
    Ok(found)
}

/// See [`Store::expired_at`](crate::Store::expired_at).
pub(super) async fn expired_at(client: &Client, session: &SessionId) -> Result<Option<Timestamp>, RedisFailure> {
    let ask = Command::new(["HGET".to_owned(), client.layout.journal(session), layout::ROW.to_owned()]);
    let found = row(client.call(&ask).await?)?;
    let now = client.now().await?;
    Ok(found.and_then(|row| row.expired_at(now)))
}

fn ids(reply: Reply) -> Result<Vec<SessionId>, RedisFailure> {
    reply.list()?.into_iter().map(read_id).collect()
}

fn read_id(reply: Reply) -> Result<SessionId, RedisFailure> {
    let damaged =
        |_| RedisFailure::Damaged { what: "the list of sessions".to_owned(), detail: "an id is wrong".to_owned() };
    reply.text()?.parse().map_err(damaged)
}
