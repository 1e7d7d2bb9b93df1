//! Deleting sessions: they are marked as deleted at once, and their rows are removed in slices.

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result};

use super::{changes, column, error::SqliteError, indexing, sessions, transaction::Transaction};

/// See [`Store::delete`](crate::Store::delete).
pub(super) fn delete(write: &mut Transaction<'_>, session: &SessionId) -> Result<bool, SqliteError> {
    let Some(found) = sessions::find(write.db, session)? else { return Ok(false) };
    mark_deleted(write, found.id, session)?;
    Ok(found.row.lives(write.now))
}

/// See [`Store::expired`](crate::Store::expired). `None` if it has to be called again: some sessions that were due have been
/// used meanwhile, and are rescheduled.
pub(super) fn expired(
    write: &mut Transaction<'_>,
    limit: usize,
) -> Result<Option<Vec<(SessionId, Timestamp)>>, SqliteError> {
    changes::forget(write.db, write.now)?;
    let mut due = write.db.prepare_cached(DUE)?;
    let due: Vec<(i64, SessionId, bool, Timestamp)> = due
        .query_map((write.now.as_millis(), column::limit(limit)), |row| {
            let name = column::parsed(row.get_ref(1)?.as_str()?, 1)?;
            Ok((row.get(0)?, name, row.get(2)?, column::time(row, 3)?))
        })?
        .collect::<Result<_>>()?;
    let mut is_sure = true;
    for (id, _, _, _) in due.iter().filter(|(_, _, has_expired, _)| !has_expired) {
        write.db.prepare_cached(sessions::RESCHEDULE)?.execute([id])?;
        is_sure = false;
    }
    Ok(is_sure.then(|| due.into_iter().map(|(_, name, _, at)| (name, at)).collect()))
}

/// See [`Store::remove_expired`](crate::Store::remove_expired).
pub(super) fn remove_expired(
    write: &mut Transaction<'_>,
    sessions: &[SessionId],
) -> Result<Vec<SessionId>, SqliteError> {
    let mut gone = Vec::new();
    for name in sessions {
        if let Some(found) = sessions::find(write.db, name)?.filter(|found| !found.row.lives(write.now)) {
            mark_deleted(write, found.id, name)?;
            gone.push(name.clone());
        }
    }
    Ok(gone)
}

/// Marks a session as deleted: nothing of it can be reached any more.
pub(super) fn mark_deleted(write: &mut Transaction<'_>, id: i64, name: &SessionId) -> Result<()> {
    write.db.prepare_cached("DELETE FROM session WHERE id = ?1")?.execute([id])?;
    write.db.prepare_cached("INSERT INTO dead (session) VALUES (?1)")?.execute([id])?;
    write.dead = true;
    write.notice(name)
}

/// Whether there are rows of deleted sessions.
pub(super) fn has_deleted_rows(db: &Connection) -> Result<bool> {
    db.prepare_cached("SELECT EXISTS (SELECT 1 FROM dead)")?.query_row([], |row| row.get(0))
}

/// Removes about `rows` rows of deleted sessions. Returns whether there may be more.
pub(super) fn reclaim(db: &Connection, rows: usize) -> Result<bool> {
    // Their entries are found through the index, so all of them must be in it. No more are added.
    indexing::index_all(db)?;
    let mut left = rows;
    while left > 0 {
        let mut first = db.prepare_cached("SELECT min(session) FROM dead")?;
        let Some(session) = first.query_row([], |row| row.get::<_, Option<i64>>(0))? else { return Ok(false) };
        for (table, key, cost) in TABLES {
            let limit = (left / cost).max(1);
            let slice = (session, column::limit(limit));
            if table == "by_seq" {
                db.prepare_cached(REMOVE_ENTRIES)?.execute(slice)?;
            }
            let removed = db.prepare_cached(&remove_from(table, key))?.execute(slice)?;
            if removed >= limit {
                return Ok(true);
            }
            left = left.saturating_sub(removed * cost);
        }
        db.prepare_cached("DELETE FROM dead WHERE session = ?1")?.execute([session])?;
        left = left.saturating_sub(1);
    }
    Ok(true)
}

/// The tables from which the rows of a session are removed, one after the other: the name, the primary key after `session`,
/// and the cost of removing a row, where removing an entry costs 1. An entry is removed with its row in `by_seq`.
pub(super) const TABLES: [(&str, &str, usize); 8] = [
    ("by_time", "subject, type, time, seq", 1),
    ("by_subject", "subject, type, seq", 1),
    ("by_type", "type, seq", 1),
    ("by_seq", "seq", 1),
    ("claim", "key", 1),
    ("word", "id", 1),
    ("value", "hash", 100),
    ("snapshot", "seq", 100),
];

/// Removes the first ?2 rows of the session ?1 from a table.
pub(super) fn remove_from(table: &str, key: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE session = ?1 AND ({key}) IN
         (SELECT {key} FROM {table} WHERE session = ?1 ORDER BY {key} LIMIT ?2)"
    )
}

/// Removes the first ?2 entries of the session ?1.
const REMOVE_ENTRIES: &str =
    "DELETE FROM entry WHERE id IN (SELECT entry FROM by_seq WHERE session = ?1 ORDER BY seq LIMIT ?2)";

/// The sessions that a sweep is due to look at first, whether each has really expired, and when it was due. If all have
/// expired, they are the ones that expired first.
pub(super) const DUE: &str = "SELECT id, name, due IS expires_at, due FROM session INDEXED BY session_by_due
     WHERE due IS NOT NULL AND due <= ?1 ORDER BY due, name LIMIT ?2";
