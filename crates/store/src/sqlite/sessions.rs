//! The rows of sessions.

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, OptionalExtension, Result, Row as SqlRow};

use super::{column, fault::Fault, write::Write};
use crate::Row;

/// A session and what is known of it.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The number that its rows have.
    pub(super) id: i64,
    /// What callers are told.
    pub(super) row: Row,
    /// When a sweep looks at it next.
    due: Option<i64>,
}

impl Found {
    /// Whether a sweep comes soon enough for a session that is to expire at `expires_at`. One that comes too soon finds
    /// that out: so what appends put off all the time need not be in order all the time.
    fn is_swept_by(&self, expires_at: Option<Timestamp>) -> bool {
        expires_at.is_none_or(|at| self.due.is_some_and(|due| due <= at.as_millis()))
    }
}

/// The session of this name, unless it has expired.
pub(super) fn live(db: &Connection, name: &SessionId, now: Timestamp) -> Result<Option<Found>> {
    Ok(find(db, name)?.filter(|found| found.row.lives(now)))
}

/// The session of this name, also one that has expired and was not swept yet.
pub(super) fn find(db: &Connection, name: &SessionId) -> Result<Option<Found>> {
    db.prepare_cached("SELECT seq, tag, expires_at, last_activity, id, due FROM session WHERE name = ?1")?
        .query_row([name.as_str()], |row| Ok(Found { id: row.get(4)?, row: decode(row)?, due: row.get(5)? }))
        .optional()
}

/// See [`Store::touch`](crate::Store::touch).
pub(super) fn touch(
    write: &mut Write<'_>,
    name: &SessionId,
    expires_at: Option<Timestamp>,
) -> Result<Option<Row>, Fault> {
    let Some(found) = live(write.db, name, write.now)? else { return Ok(None) };
    let row = Row { expires_at, last_activity: write.now, ..found.row };
    set(write.db, &found, row)?;
    write.notice(name)?;
    Ok(Some(row))
}

/// Makes a session without entries, which `row` says all of.
pub(super) fn insert(db: &Connection, name: &SessionId, row: Row) -> Result<i64> {
    let expires_at = row.expires_at.map(Timestamp::as_millis);
    db.prepare_cached(
        "INSERT INTO session (name, seq, tag, expires_at, due, last_activity) VALUES (?1, ?2, ?3, ?4, ?4, ?5)
         RETURNING id",
    )?
    .query_row(
        (name.as_str(), column::number(row.head.seq), row.head.tag.0, expires_at, row.last_activity.as_millis()),
        |row| row.get(0),
    )
}

/// Has a session be what `row` says.
pub(super) fn set(db: &Connection, found: &Found, row: Row) -> Result<()> {
    let Row { head, expires_at, last_activity } = row;
    let expires_at_millis = expires_at.map(Timestamp::as_millis);
    db.prepare_cached("UPDATE session SET seq = ?2, tag = ?3, expires_at = ?4, last_activity = ?5 WHERE id = ?1")?
        .execute((found.id, column::number(head.seq), head.tag.0, expires_at_millis, last_activity.as_millis()))?;
    if !found.is_swept_by(expires_at) {
        db.prepare_cached(PUT_OFF)?.execute([found.id])?;
    }
    Ok(())
}

/// Has a sweep look at a session when it expires.
pub(super) const PUT_OFF: &str = "UPDATE session SET due = expires_at WHERE id = ?1";

/// See [`Store::sessions`](crate::Store::sessions).
pub(super) fn list(
    db: &Connection,
    after: Option<&SessionId>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>, Fault> {
    let mut page = db.prepare_cached(
        "SELECT seq, tag, expires_at, last_activity, name FROM session
         WHERE name > ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name LIMIT ?3",
    )?;
    let after = after.map_or("", SessionId::as_str);
    let rows = page.query_map((after, now.as_millis(), column::limit(limit)), |row| {
        Ok((column::parsed(row.get_ref(4)?.as_str()?, 4)?, decode(row)?))
    })?;
    Ok(rows.collect::<Result<_>>()?)
}

/// The row in the first four columns.
fn decode(row: &SqlRow<'_>) -> Result<Row> {
    Ok(Row {
        head: column::head(row, 0)?,
        expires_at: column::optional_time(row, 2)?,
        last_activity: column::time(row, 3)?,
    })
}
