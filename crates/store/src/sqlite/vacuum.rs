//! Vacuuming: rewriting the whole file without the unused parts of pages.
//!
//! SQLite overwrites deleted data (`secure_delete`), but when it moves rows between pages it leaves copies in unused parts of
//! pages. So if entries were rewritten or values dropped, the file is vacuumed when it is closed.

use rusqlite::{Connection, Result};

/// Notes that data was erased, of which no copy may stay in the file.
pub(super) fn note(db: &Connection) -> Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO unclean (one) VALUES (1)")?.execute([]).map(drop)
}

/// Vacuums the file if data was erased since the last time. Blocks for about as long as copying the file takes.
pub(super) fn vacuum_if_noted(db: &Connection) -> Result<()> {
    if !db.query_row("SELECT EXISTS (SELECT 1 FROM unclean)", [], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    // The copy may not fit into memory.
    db.pragma_update(None, "temp_store", "FILE")?;
    db.execute_batch("VACUUM")?;
    db.execute_batch("DELETE FROM unclean")?;
    // If another process has the file open, this shortens the log; else closing the file removes it.
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
