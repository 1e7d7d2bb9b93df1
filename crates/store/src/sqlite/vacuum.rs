//! Vacuuming: writing the file anew, without what stands in parts of pages that are not in use.
//!
//! SQLite overwrites what is deleted (`secure_delete`), but when it moves rows from page to page it leaves copies in the
//! free room of pages. So after entries were rewritten or values dropped, the file is written anew when it is closed.

use rusqlite::{Connection, Result};

/// Notes that something was taken away that must not stay anywhere in the file.
pub(super) fn note(db: &Connection) -> Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO unclean (one) VALUES (1)")?.execute([]).map(drop)
}

/// Writes the file anew if that was noted since it was done last. Blocks for about as long as copying the file takes.
pub(super) fn vacuum_if_noted(db: &Connection) -> Result<()> {
    if !db.query_row("SELECT EXISTS (SELECT 1 FROM unclean)", [], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    // The copy may be larger than the memory.
    db.pragma_update(None, "temp_store", "FILE")?;
    db.execute_batch("VACUUM")?;
    db.execute_batch("DELETE FROM unclean")?;
    // If another process has the file open, this shortens the log; else closing the file removes it.
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
