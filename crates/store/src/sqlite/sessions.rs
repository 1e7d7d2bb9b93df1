//! The rows of sessions, and their leases.

use std::collections::BTreeMap;

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, OptionalExtension, Result, Row as SqlRow};

use super::{column, error::SqliteError, transaction::Transaction};
use crate::{JournalKind, Lease, LeaseChange, Row};

/// A row of the table `session`.
#[derive(Clone, Copy)]
pub(super) struct StoredSession {
    /// Its id in other tables.
    pub(super) id: i64,
    /// What callers get.
    pub(super) row: Row,
    /// When a sweep looks at it next, in milliseconds.
    due: Option<i64>,
}

/// The change up to which all entries are indexed.
pub(super) fn indexed_through(db: &Connection) -> Result<i64> {
    db.prepare_cached("SELECT through FROM filed WHERE one = 1")?.query_row([], |row| row.get(0))
}

impl StoredSession {
    /// Whether a sweep looks at the session by `expires_at`. A sweep that looks too early reschedules it. So an append,
    /// which moves the expiry, need not move the session in the order of sweeps.
    fn is_swept_by(&self, expires_at: Option<Timestamp>) -> bool {
        expires_at.is_none_or(|at| self.due.is_some_and(|due| due <= at.as_millis()))
    }
}

/// The session of this name, unless it has expired.
pub(super) fn live(db: &Connection, name: &SessionId, now: Timestamp) -> Result<Option<StoredSession>> {
    Ok(find(db, name)?.filter(|found| found.row.lives(now)))
}

/// The session of this name, even if it has expired and was not swept yet.
pub(super) fn find(db: &Connection, name: &SessionId) -> Result<Option<StoredSession>> {
    db.prepare_cached("SELECT seq, tag, expires_at, last_activity, id, due FROM session WHERE name = ?1")?
        .query_row([name.as_str()], |row| Ok(StoredSession { id: row.get(4)?, row: decode(row)?, due: row.get(5)? }))
        .optional()
}

/// See [`Store::touch`](crate::Store::touch).
pub(super) fn touch(
    write: &mut Transaction<'_>,
    name: &SessionId,
    expires_at: Option<Timestamp>,
) -> Result<Option<Row>, SqliteError> {
    let Some(found) = live(write.db, name, write.now)? else { return Ok(None) };
    let row = Row { expires_at, last_activity: write.now, ..found.row };
    set(write.db, &found, row)?;
    write.db.prepare_cached("UPDATE session SET used_at = last_activity WHERE id = ?1")?.execute([found.id])?;
    write.notice(name)?;
    Ok(Some(row))
}

/// Inserts a session with this row.
pub(super) fn insert(db: &Connection, name: &SessionId, kind: JournalKind, row: Row) -> Result<i64> {
    let expires_at = row.expires_at.map(Timestamp::as_millis);
    db.prepare_cached(
        "INSERT INTO session (name, seq, tag, expires_at, due, last_activity, used_at, is_request)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?5, ?6) RETURNING id",
    )?
    .query_row(
        (
            name.as_str(),
            column::number(row.head.seq),
            row.head.tag.0,
            expires_at,
            row.last_activity.as_millis(),
            kind == JournalKind::Unlisted,
        ),
        |row| row.get(0),
    )
}

/// Updates a session to this row.
pub(super) fn set(db: &Connection, found: &StoredSession, row: Row) -> Result<()> {
    let Row { head, expires_at, last_activity } = row;
    let expires_at_millis = expires_at.map(Timestamp::as_millis);
    db.prepare_cached("UPDATE session SET seq = ?2, tag = ?3, expires_at = ?4, last_activity = ?5 WHERE id = ?1")?
        .execute((found.id, column::number(head.seq), head.tag.0, expires_at_millis, last_activity.as_millis()))?;
    if !found.is_swept_by(expires_at) {
        db.prepare_cached(RESCHEDULE)?.execute([found.id])?;
    }
    Ok(())
}

/// Lets a sweep look at a session when it expires.
pub(super) const RESCHEDULE: &str = "UPDATE session SET due = expires_at WHERE id = ?1";

/// A page of journals in the order of their ids. The statement selects them.
pub(super) fn list(
    db: &Connection,
    sql: &str,
    after: Option<&SessionId>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>> {
    let mut page = db.prepare_cached(sql)?;
    let after = after.map_or("", SessionId::as_str);
    page.query_map((after, now.as_millis(), column::limit(limit)), named)?.collect()
}

/// See [`Store::journals`](crate::Store::journals).
pub(super) const JOURNALS: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
     WHERE name > ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name LIMIT ?3";

/// See [`Store::sessions`](crate::Store::sessions).
pub(super) const SESSIONS: &str = "SELECT seq, tag, expires_at, last_activity, name
     FROM session INDEXED BY session_by_name
     WHERE is_request = 0 AND name > ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name LIMIT ?3";

/// See [`Store::recent_sessions`](crate::Store::recent_sessions). The index shows the state of the last indexing. The few
/// sessions with entries that are not indexed yet are read and sorted in.
pub(super) fn recent(db: &Connection, now: Timestamp, limit: usize) -> Result<Vec<(SessionId, Row)>> {
    let now = now.as_millis();
    let newest_last = |(name, row): (SessionId, Row)| ((row.last_activity, name), row);
    let mut unindexed = db.prepare_cached(UNINDEXED)?;
    let unindexed = unindexed.query_map((indexed_through(db)?, now), named)?;
    let mut found = unindexed.map(|found| found.map(newest_last)).collect::<Result<BTreeMap<_, _>>>()?;
    let mut indexed = db.prepare_cached(BY_USE)?;
    let indexed = indexed.query_map([now], |row| Ok((named(row)?, column::time(row, 5)?)))?;
    // If the index is outdated for a session, the first query has found the session.
    let is_up_to_date = |((_, row), used_at): &((SessionId, Row), Timestamp)| row.last_activity == *used_at;
    let indexed = indexed.filter(|found| found.as_ref().map_or(true, is_up_to_date)).take(limit);
    for entry in indexed {
        found.extend([newest_last(entry?.0)]);
    }
    Ok(found.into_iter().rev().take(limit).map(|((_, name), row)| (name, row)).collect())
}

/// The sessions that changed after the change ?1, up to which all is indexed.
pub(super) const UNINDEXED: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
     WHERE id IN (SELECT session FROM entry WHERE id > ?1) AND is_request = 0
         AND (expires_at IS NULL OR expires_at > ?2)";

/// Sessions by last use, as of the last indexing.
pub(super) const BY_USE: &str = "SELECT seq, tag, expires_at, last_activity, name, used_at
     FROM session INDEXED BY session_by_use
     WHERE is_request = 0 AND (expires_at IS NULL OR expires_at > ?1) ORDER BY used_at DESC, name DESC";

/// The newest last activity of all journals.
pub(super) fn last_activity(db: &Connection) -> Result<Option<Timestamp>> {
    db.prepare_cached(LAST_ACTIVITY)?.query_row([], |row| column::optional_time(row, 0))
}

/// The newest of three: indexed sessions, indexed requests, and what is not indexed yet.
pub(super) const LAST_ACTIVITY: &str = "SELECT max(newest) FROM (
         SELECT max(used_at) AS newest FROM session WHERE is_request = 0
         UNION ALL SELECT max(used_at) FROM session WHERE is_request = 1
         UNION ALL SELECT max(last_activity) FROM session
             WHERE id IN (SELECT session FROM entry WHERE id > (SELECT through FROM filed WHERE one = 1)))";

/// Writes what a batch does to the lease. The index of leases has only sessions with a lease.
pub(super) fn set_lease(write: &Transaction<'_>, session: i64, change: &LeaseChange) -> Result<()> {
    let (holder, until) = match change {
        LeaseChange::Keep => return Ok(()),
        LeaseChange::Set(lease) => (Some(&*lease.holder), Some(lease.until(write.now).as_millis())),
        LeaseChange::Remove => (None, None),
    };
    write
        .db
        .prepare_cached("UPDATE session SET holder = ?2, held_until = ?3 WHERE id = ?1")?
        .execute((session, holder, until))?;
    Ok(())
}

/// See [`Store::lease`](crate::Store::lease). It writes nothing if there is no lease.
pub(super) fn lease(write: &mut Transaction<'_>, lease: &Lease, most: usize) -> Result<Vec<SessionId>, SqliteError> {
    let (holder, now) = (&*lease.holder, write.now.as_millis());
    let until = lease.until(write.now).as_millis();
    if lease.lasts.is_zero() {
        write.db.prepare_cached(LET_GO)?.execute((holder, until))?;
        return Ok(Vec::new());
    }
    write.db.prepare_cached(RENEW)?.execute((holder, until))?;
    write.db.prepare_cached(TAKE)?.execute((holder, until, now, column::limit(most)))?;
    let mut held = write.db.prepare_cached(HELD)?;
    let held = held.query_map((holder, now), |row| column::parsed(row.get_ref(0)?.as_str()?, 0))?;
    Ok(held.collect::<Result<_>>()?)
}

pub(super) const LET_GO: &str = "UPDATE session INDEXED BY session_by_lease SET holder = '', held_until = ?2
     WHERE held_until IS NOT NULL AND holder = ?1";

pub(super) const RENEW: &str = "UPDATE session INDEXED BY session_by_lease SET held_until = ?2
     WHERE held_until IS NOT NULL AND holder = ?1";

pub(super) const TAKE: &str = "UPDATE session SET holder = ?1, held_until = ?2 WHERE id IN (
         SELECT id FROM session INDEXED BY session_by_lease
         WHERE held_until IS NOT NULL AND held_until <= ?3 AND holder <> ?1 AND (expires_at IS NULL OR expires_at > ?3)
         ORDER BY held_until, name LIMIT ?4)";

pub(super) const HELD: &str = "SELECT name FROM session INDEXED BY session_by_lease
     WHERE held_until IS NOT NULL AND holder = ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name";

/// The row in the first four columns, and the name in the fifth.
fn named(row: &SqlRow<'_>) -> Result<(SessionId, Row)> {
    Ok((column::parsed(row.get_ref(4)?.as_str()?, 4)?, decode(row)?))
}

/// The row in the first four columns.
fn decode(row: &SqlRow<'_>) -> Result<Row> {
    Ok(Row {
        head: column::head(row, 0)?,
        expires_at: column::optional_time(row, 2)?,
        last_activity: column::time(row, 3)?,
    })
}
