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
}

/// The session of this name, unless it has expired.
pub(super) fn live(db: &Connection, name: &SessionId, now: Timestamp) -> Result<Option<Found>> {
    Ok(find(db, name)?.filter(|found| found.row.lives(now)))
}

/// The session of this name, also one that has expired and was not swept yet.
pub(super) fn find(db: &Connection, name: &SessionId) -> Result<Option<Found>> {
    db.prepare_cached("SELECT seq, tag, expires_at, last_activity, id FROM session WHERE name = ?1")?
        .query_row([name.as_str()], |row| Ok(Found { id: row.get(4)?, row: decode(row)? }))
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
    write.db.prepare_cached("UPDATE session SET expires_at = ?2, last_activity = ?3 WHERE id = ?1")?.execute((
        found.id,
        expires_at.map(Timestamp::as_millis),
        row.last_activity.as_millis(),
    ))?;
    write.notice(name)?;
    Ok(Some(row))
}

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
