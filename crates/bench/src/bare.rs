//! The simplest way to store messages in SQLite, for comparison: one row and one transaction for each.

use std::{path::Path, time::Instant};

use callboard_store::Durability;
use rusqlite::Connection;

use crate::{board, rounds::Rate};

/// Inserts a row with its text for each message, each in its own transaction.
pub(crate) struct Bare {
    db: Connection,
    rows: i64,
}

impl Bare {
    pub(crate) fn open(path: &Path, durability: Durability) -> anyhow::Result<Self> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", if durability == Durability::Full { "FULL" } else { "NORMAL" })?;
        db.execute_batch(
            "CREATE TABLE message (session TEXT, seq INTEGER, data TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID",
        )?;
        Ok(Self { db, rows: 0 })
    }

    /// Inserts `count` more.
    pub(crate) fn insert(&mut self, count: usize) -> anyhow::Result<Rate> {
        let texts: Vec<String> = (0..count).map(board::text).collect();
        let mut insert = self.db.prepare(INSERT)?;
        let began = Instant::now();
        for text in &texts {
            self.rows += 1;
            insert.execute(("one", self.rows, text))?;
        }
        Ok(Rate::since(count, began))
    }

    /// Inserts this text.
    pub(crate) fn add(&mut self, session: &str, text: &str) -> anyhow::Result<()> {
        self.rows += 1;
        self.db.prepare_cached(INSERT)?.execute((session, self.rows, text))?;
        Ok(())
    }
}

const INSERT: &str = "INSERT INTO message (session, seq, data) VALUES (?1, ?2, ?3)";
