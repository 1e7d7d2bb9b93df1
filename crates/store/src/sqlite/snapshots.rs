//! Snapshots.

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
};
use rusqlite::{Connection, OptionalExtension, Result};

use super::{
    column,
    error::SqliteError,
    indexing,
    sessions::{self, StoredSession},
    transaction::Transaction,
};
use crate::{Snapshot, store::SNAPSHOTS_KEPT};

/// See [`Store::put_snapshot`](crate::Store::put_snapshot).
pub(super) fn put(write: &mut Transaction<'_>, session: &SessionId, at: Head, state: &[u8]) -> Result<(), SqliteError> {
    let Some(found) = sessions::live(write.db, session, write.now)? else { return Ok(()) };
    let Some(entry) = indexing::row(write.db, &found, column::number(at.seq))? else { return Ok(()) };
    write
        .db
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshot (session, seq, tag, state)
             SELECT session, seq, tag, ?3 FROM entry WHERE id = ?1 AND tag = ?2
                 AND seq >= (SELECT rewritten FROM session WHERE id = entry.session)",
        )?
        .execute((entry, at.tag.0, state))?;
    write
        .db
        .prepare_cached(
            "DELETE FROM snapshot WHERE session = ?1 AND seq NOT IN
             (SELECT seq FROM snapshot WHERE session = ?1 ORDER BY seq DESC LIMIT ?2)",
        )?
        .execute((found.id, column::limit(SNAPSHOTS_KEPT)))?;
    Ok(())
}

/// Removes all snapshots, since entries were rewritten. From now on no snapshot older than the head is stored.
pub(super) fn clear(db: &Connection, session: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM snapshot WHERE session = ?1")?.execute([session])?;
    db.prepare_cached("UPDATE session SET rewritten = seq WHERE id = ?1")?.execute([session])?;
    Ok(())
}

/// See [`Store::snapshot`](crate::Store::snapshot).
pub(super) fn newest(db: &Connection, session: &StoredSession, at: Seq) -> Result<Option<Snapshot>> {
    let mut newest = db.prepare_cached(
        "SELECT seq, tag, state FROM snapshot WHERE session = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
    )?;
    let decode = |row: &rusqlite::Row<'_>| Ok((column::head(row, 0)?, row.get_ref(2)?.as_blob()?.into()));
    newest.query_row((session.id, column::number(at)), decode).optional()
}
