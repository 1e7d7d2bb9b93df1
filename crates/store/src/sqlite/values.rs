//! Texts too large for entries.

use std::sync::Arc;

use callboard_core::entry::Hash;
use rusqlite::{Connection, OptionalExtension, Result};

use super::sessions::StoredSession;

/// Stores a text, unless the session has it already.
pub(super) fn put(db: &Connection, session: i64, hash: Hash, text: &str) -> Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO value (session, hash, text) VALUES (?1, ?2, ?3)")?
        .execute((session, hash.0, text))?;
    Ok(())
}

/// Removes a text.
pub(super) fn remove(db: &Connection, session: i64, hash: Hash) -> Result<()> {
    db.prepare_cached("DELETE FROM value WHERE session = ?1 AND hash = ?2")?.execute((session, hash.0))?;
    Ok(())
}

/// See [`Store::value`](crate::Store::value).
pub(super) fn find(db: &Connection, session: &StoredSession, hash: Hash) -> Result<Option<Arc<str>>> {
    let mut text = db.prepare_cached("SELECT text FROM value WHERE session = ?1 AND hash = ?2")?;
    text.query_row((session.id, hash.0), |row| Ok(row.get_ref(0)?.as_str()?.into())).optional()
}
