//! Indexing: the tables by which entries are found are written after the appends, for many entries at a time.
//!
//! So an append writes two pages, the end of `entry` and the row of its session, however many indexes there are. Reads
//! scan the entries that are not indexed yet; they are at the end of `entry`.

use rusqlite::{Connection, OptionalExtension, Result};

use super::{
    column,
    sessions::{StoredSession, indexed_through},
};

/// After so many changes entries are indexed even if there is no quiet moment. A higher number writes fewer pages for each
/// entry, and lets reads scan more.
pub(super) const MAX_UNINDEXED: i64 = 512;

/// An entry that is not indexed yet.
#[derive(Clone, Copy)]
pub(super) struct UnindexedEntry {
    pub(super) row: i64,
    pub(super) seq: i64,
    pub(super) kind: i64,
    pub(super) subject: i64,
    pub(super) time: Option<i64>,
}

/// Indexes all entries.
pub(super) fn index_all(db: &Connection) -> Result<()> {
    let through = indexed_through(db)?;
    let mut newest = db.prepare_cached("SELECT max(id) FROM entry")?;
    let newest = newest.query_row([], |row| row.get::<_, Option<i64>>(0))?.unwrap_or_default();
    if newest <= through {
        return Ok(());
    }
    for fill in FILLS {
        db.prepare_cached(fill)?.execute((through, newest))?;
    }
    db.prepare_cached("UPDATE filed SET through = ?1 WHERE one = 1")?.execute([newest]).map(drop)
}

const FILLS: [&str; 5] = [
    "INSERT INTO by_seq (session, seq, entry) SELECT session, seq, id FROM entry WHERE id > ?1 AND id <= ?2",
    "INSERT INTO by_type (session, type, seq, entry)
     SELECT session, type, seq, id FROM entry WHERE id > ?1 AND id <= ?2",
    "INSERT INTO by_subject (session, subject, type, seq, entry)
     SELECT session, subject, type, seq, id FROM entry WHERE id > ?1 AND id <= ?2",
    "INSERT INTO by_time (session, subject, type, time, seq, entry)
     SELECT session, subject, type, time, seq, id FROM entry WHERE id > ?1 AND id <= ?2 AND time IS NOT NULL",
    "UPDATE session SET used_at = last_activity
     WHERE id IN (SELECT session FROM entry WHERE id > ?1 AND id <= ?2) AND used_at <> last_activity",
];

/// The entries of a session that are not indexed yet, in order. They come after all indexed ones.
pub(super) fn unindexed(db: &Connection, session: &StoredSession) -> Result<Vec<UnindexedEntry>> {
    let mut last = db.prepare_cached(LAST)?;
    let last = last.query_row([session.id], |row| row.get::<_, Option<i64>>(0))?;
    if last == Some(column::number(session.row.head.seq)) {
        return Ok(Vec::new());
    }
    let mut unindexed = db.prepare_cached(UNINDEXED)?;
    let decode = |row: &rusqlite::Row<'_>| {
        let (entry, seq, kind, subject, time) = row.try_into()?;
        Ok(UnindexedEntry { row: entry, seq, kind, subject, time })
    };
    unindexed.query_map((indexed_through(db)?, session.id), decode)?.collect()
}

/// The row of the entry with this number.
pub(super) fn row(db: &Connection, session: &StoredSession, seq: i64) -> Result<Option<i64>> {
    if let Some(row) = indexed_row(db, session.id, seq)? {
        return Ok(Some(row));
    }
    Ok(unindexed(db, session)?.iter().find(|entry| entry.seq == seq).map(|entry| entry.row))
}

/// The row of the entry with this number, if it is indexed.
pub(super) fn indexed_row(db: &Connection, session: i64, seq: i64) -> Result<Option<i64>> {
    let mut indexed = db.prepare_cached("SELECT entry FROM by_seq WHERE session = ?1 AND seq = ?2")?;
    indexed.query_row((session, seq), |row| row.get(0)).optional()
}

/// The last indexed entry of a session.
pub(super) const LAST: &str = "SELECT max(seq) FROM by_seq WHERE session = ?1";

/// The entries of a session after a change.
pub(super) const UNINDEXED: &str =
    "SELECT id, seq, type, subject, time FROM entry WHERE id > ?1 AND session = ?2 ORDER BY id";
