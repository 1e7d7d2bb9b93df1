//! Finding out which sessions other processes changed in the same file.
//!
//! Entries and notices share one sequence of numbers, in the order of the commits in the whole file. So everything after
//! the newest number that was seen is new.

use callboard_core::{id::SessionId, time::Timestamp};
use rusqlite::{Connection, Result};

use super::column;

/// If more changes than this were missed, every session is announced instead.
const TOO_MANY: i64 = 10_000;

/// How long a notice is kept for other processes, in milliseconds.
const KEPT_MILLIS: i64 = 60_000;

/// The number of the newest change.
pub(super) fn newest(db: &Connection) -> Result<i64> {
    db.prepare_cached(
        "SELECT max(coalesce((SELECT max(id) FROM entry), 0), coalesce((SELECT max(id) FROM notice), 0))",
    )?
    .query_row([], |row| row.get(0))
}

/// The sessions that changed after `seen`, up to `newest`.
pub(super) fn between(db: &Connection, seen: i64, newest: i64) -> Result<Vec<SessionId>> {
    let changed = if newest - seen > TOO_MANY {
        "SELECT name FROM session UNION SELECT name FROM notice WHERE id > ?1 AND name IS NOT NULL"
    } else {
        "SELECT name FROM session WHERE id IN (SELECT session FROM entry WHERE id > ?1)
         UNION SELECT name FROM notice WHERE id > ?1 AND name IS NOT NULL"
    };
    db.prepare_cached(changed)?.query_map([seen], |row| column::parsed(row.get_ref(0)?.as_str()?, 0))?.collect()
}

/// Records a change that adds no entry, under the number `id`.
pub(super) fn notice(db: &Connection, id: i64, name: &SessionId, now: Timestamp) -> Result<()> {
    db.prepare_cached("INSERT INTO notice (id, name, at) VALUES (?1, ?2, ?3)")?.execute((
        id,
        name.as_str(),
        now.as_millis(),
    ))?;
    // Notices are small, so it is enough to clear them now and then.
    if id % 1024 == 0 { forget(db, now) } else { Ok(()) }
}

/// Removes the notices that every process has seen by now. The newest one stays, without its name.
pub(super) fn forget(db: &Connection, now: Timestamp) -> Result<()> {
    let seen_by_all = now.as_millis().saturating_sub(KEPT_MILLIS);
    db.prepare_cached(FORGET)?.execute([seen_by_all])?;
    db.prepare_cached(
        "UPDATE notice SET name = NULL WHERE id = (SELECT max(id) FROM notice) AND at <= ?1 AND name IS NOT NULL",
    )?
    .execute([seen_by_all])?;
    Ok(())
}

/// Reads no more notices than it removes.
const FORGET: &str = "DELETE FROM notice WHERE id < coalesce(
         (SELECT id FROM notice WHERE at > ?1 ORDER BY id LIMIT 1), (SELECT max(id) FROM notice))";

/// A number that changes whenever another connection has changed the file.
pub(super) fn data_version(db: &Connection) -> Result<i64> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}
