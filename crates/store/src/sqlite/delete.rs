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
        for Slice { deletes, cost } in SLICES {
            let limit = (left / cost).max(1);
            let mut removed = 0;
            for delete in deletes {
                removed = db.prepare_cached(delete)?.execute((session, column::limit(limit)))?;
            }
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

/// One step of removing a session.
struct Slice {
    /// Statements that each remove at most ?2 rows of the session ?1, and all the same number.
    deletes: &'static [&'static str],
    /// The cost of removing one of these rows, where removing an entry costs 1.
    cost: usize,
}

const SLICES: [Slice; 8] = [
    Slice {
        deletes: &["DELETE FROM by_time WHERE (session, subject, type, time, seq) IN
                    (SELECT session, subject, type, time, seq FROM by_time WHERE session = ?1 LIMIT ?2)"],
        cost: 1,
    },
    Slice {
        deletes: &["DELETE FROM by_subject WHERE (session, subject, type, seq) IN
                    (SELECT session, subject, type, seq FROM by_subject WHERE session = ?1 LIMIT ?2)"],
        cost: 1,
    },
    Slice {
        deletes: &["DELETE FROM by_type WHERE (session, type, seq) IN
                    (SELECT session, type, seq FROM by_type WHERE session = ?1 LIMIT ?2)"],
        cost: 1,
    },
    Slice {
        deletes: &[
            "DELETE FROM entry WHERE id IN (SELECT entry FROM by_seq WHERE session = ?1 ORDER BY seq LIMIT ?2)",
            "DELETE FROM by_seq WHERE session = ?1 AND seq IN
             (SELECT seq FROM by_seq WHERE session = ?1 ORDER BY seq LIMIT ?2)",
        ],
        cost: 1,
    },
    Slice {
        deletes: &["DELETE FROM claim WHERE session = ?1 AND key IN
                    (SELECT key FROM claim WHERE session = ?1 LIMIT ?2)"],
        cost: 1,
    },
    Slice {
        deletes: &["DELETE FROM word WHERE session = ?1 AND id IN (SELECT id FROM word WHERE session = ?1 LIMIT ?2)"],
        cost: 1,
    },
    Slice {
        deletes: &["DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE session = ?1 LIMIT ?2)"],
        cost: 100,
    },
    Slice {
        deletes: &["DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE session = ?1 LIMIT ?2)"],
        cost: 100,
    },
];

/// The sessions that a sweep is due to look at first, whether each has really expired, and when it was due. If all have
/// expired, they are the ones that expired first.
pub(super) const DUE: &str = "SELECT id, name, due IS expires_at, due FROM session INDEXED BY session_by_due
     WHERE due IS NOT NULL AND due <= ?1 ORDER BY due, name LIMIT ?2";
