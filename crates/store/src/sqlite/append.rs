//! Appending a batch, and the keys that entries claim.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Head},
    id::Seq,
    time::Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Result};

use super::{
    column, delete,
    error::SqliteError,
    indexing,
    sessions::{self, StoredSession},
    snapshots,
    transaction::Transaction,
    vacuum,
};
use crate::{Append, Error, Rewrite, Row};

/// The most entries and the most bytes of data of a short batch.
const SHORT: (usize, usize) = (8, 16 * 1024);

/// Whether appending a batch takes less time than handing it to another thread.
pub(super) fn is_short(batch: &Append) -> bool {
    let size: usize = batch.entries.iter().map(|entry| entry.data.len()).sum();
    batch.entries.len() <= SHORT.0 && size <= SHORT.1 && batch.values.is_empty() && !batch.erases()
}

/// See [`Store::append`](crate::Store::append). It checks everything before it writes anything.
pub(super) fn append(write: &mut Transaction<'_>, batch: &Append) -> Result<(), SqliteError> {
    let found = sessions::live(write.db, &batch.session, write.now)?;
    let head = found.map_or(Head::default(), |found| found.row.head);
    if head != batch.expected {
        return Err(Error::Conflict { found: found.map(|found| found.row) }.into());
    }
    let claims = batch.claims::<SqliteError>(|key| match found {
        Some(found) => Ok(claimed(write.db, found.id, key)?),
        None => Ok(None),
    })?;
    let session = place(write, batch, found)?;
    for entry in &batch.entries {
        insert(write, session, entry)?;
    }
    for (key, seq) in claims {
        write.db.prepare_cached("INSERT INTO claim (session, key, seq) VALUES (?1, ?2, ?3)")?.execute((
            session,
            column::short_hash(&key),
            column::number(seq),
        ))?;
    }
    for (hash, text) in &batch.values {
        write
            .db
            .prepare_cached("INSERT OR IGNORE INTO value (session, hash, text) VALUES (?1, ?2, ?3)")?
            .execute((session, hash.0, &**text))?;
    }
    erase(write, session, batch, found)?;
    sessions::set_lease(write, session, &batch.lease)?;
    write.changed.push(batch.session.clone());
    Ok(())
}

/// Moves the head of a session to the end of the batch, and creates the session if it does not exist. If an expired
/// session has the same name, it is deleted first.
fn place(write: &mut Transaction<'_>, batch: &Append, found: Option<StoredSession>) -> Result<i64> {
    let head = batch.entries.last().map_or(batch.expected, Entry::head);
    let row = Row { head, expires_at: batch.expires_at, last_activity: write.now };
    if let Some(found) = found {
        sessions::set(write.db, &found, row)?;
        return Ok(found.id);
    }
    if let Some(expired) = sessions::find(write.db, &batch.session)? {
        delete::mark_deleted(write, expired.id, &batch.session)?;
    }
    sessions::insert(write.db, &batch.session, batch.kind, row)
}

fn insert(write: &mut Transaction<'_>, session: i64, entry: &Entry) -> Result<()> {
    let header = &entry.header;
    let change = write.next_change();
    let Transaction { db, ids, .. } = write;
    let actor = ids.word(db, session, &header.by.to_string())?;
    let subject = ids.word(db, session, &header.subject)?;
    let audience = ids.audience(db, session, &header.audience)?;
    let kind = ids.kind(db, &header.kind)?;
    db.prepare_cached(
        "INSERT INTO entry (id, session, seq, v, at, actor, type, subject, audience, time, keys, nonce, tag, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute((
        change,
        session,
        column::number(header.seq),
        header.v,
        header.at.as_millis(),
        actor,
        kind,
        subject,
        audience,
        header.time.map(Timestamp::as_millis),
        column::keys_text(&header.keys),
        header.nonce,
        entry.tag.0,
        &*entry.data,
    ))?;
    Ok(())
}

/// Rewrites entries and drops values. The old data may still be in unused parts of pages, so this notes that the file has to
/// be vacuumed.
fn erase(write: &Transaction<'_>, session: i64, batch: &Append, found: Option<StoredSession>) -> Result<()> {
    if !batch.erases() {
        return Ok(());
    }
    for hash in batch.dropped_values() {
        let mut drop_value = write.db.prepare_cached("DELETE FROM value WHERE session = ?1 AND hash = ?2")?;
        drop_value.execute((session, hash.0))?;
    }
    for Rewrite { seq, data } in &batch.rewrites {
        let row = found.map(|found| indexing::row(write.db, &found, column::number(*seq))).transpose()?.flatten();
        write.db.prepare_cached("UPDATE entry SET data = ?2 WHERE id = ?1")?.execute((row, &**data))?;
    }
    if !batch.rewrites.is_empty() {
        snapshots::clear(write.db, session)?;
    }
    vacuum::note(write.db)
}

/// See [`Store::find_each`](crate::Store::find_each).
pub(super) fn find_each(db: &Connection, session: &StoredSession, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>> {
    keys.iter().map(|key| claimed(db, session.id, key)).collect()
}

fn claimed(db: &Connection, session: i64, key: &str) -> Result<Option<Seq>> {
    db.prepare_cached("SELECT seq FROM claim WHERE session = ?1 AND key = ?2")?
        .query_row((session, column::short_hash(key)), |row| column::seq(row, 0))
        .optional()
}
