//! Appending a batch, and the keys that entries claim.

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Result};

use super::{column, delete, fault::Fault, sessions, values, words, write::Write};
use crate::{Append, Error};

/// See [`Store::append`](crate::Store::append).
pub(super) fn append(write: &mut Write<'_>, batch: &Append) -> Result<(), Fault> {
    let session = match sessions::live(write.db, &batch.session, write.now)? {
        Some(found) if found.row.head == batch.expected => found.id,
        None if batch.expected == Head::default() => create(write, &batch.session)?,
        found => return Err(Error::Conflict { found: found.map(|found| found.row) }.into()),
    };
    for entry in &batch.entries {
        claim(write.db, session, entry)?;
        let change = write.next_change();
        insert(write.db, session, change, entry)?;
    }
    for (hash, text) in &batch.values {
        values::put(write.db, session, *hash, text)?;
    }
    advance(write, session, batch)?;
    write.changed(&batch.session);
    Ok(())
}

/// Makes a session. One of the same name that has expired goes first.
fn create(write: &mut Write<'_>, name: &SessionId) -> Result<i64> {
    if let Some(expired) = sessions::find(write.db, name)? {
        delete::bury(write, expired.id, name)?;
    }
    write
        .db
        .prepare_cached("INSERT INTO session (name, seq, tag, last_activity) VALUES (?1, 0, x'', ?2) RETURNING id")?
        .query_row((name.as_str(), write.now.as_millis()), |row| row.get(0))
}

/// Moves the head of a session to the end of the batch.
fn advance(write: &Write<'_>, session: i64, batch: &Append) -> Result<()> {
    let Head { seq, tag } = batch.entries.last().map_or(batch.expected, Entry::head);
    let expires_at = batch.expires_at.map(Timestamp::as_millis);
    write
        .db
        .prepare_cached("UPDATE session SET seq = ?2, tag = ?3, expires_at = ?4, last_activity = ?5 WHERE id = ?1")?
        .execute((session, column::number(seq), tag.0, expires_at, write.now.as_millis()))?;
    Ok(())
}

fn insert(db: &Connection, session: i64, change: i64, entry: &Entry) -> Result<()> {
    let header = &entry.header;
    let actor = words::number(db, session, &header.by.to_string())?;
    let subject = words::number(db, session, &header.subject)?;
    let audience = words::audience_number(db, session, &header.audience)?;
    let kind = words::type_number(db, &header.kind)?;
    db.prepare_cached(
        "INSERT INTO entry (id, session, seq, v, at, actor, type, subject, audience, time, keys, tag, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
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
        entry.tag.0,
        &*entry.data,
    ))?;
    Ok(())
}

/// Claims the keys of an entry.
fn claim(db: &Connection, session: i64, entry: &Entry) -> Result<(), Fault> {
    for key in &entry.header.keys {
        let claimed_as = claimed_as(key);
        if let Some(seq) = claimed(db, session, &claimed_as)? {
            return Err(Error::KeyTaken { key: key.clone(), seq }.into());
        }
        db.prepare_cached("INSERT INTO claim (session, key, seq) VALUES (?1, ?2, ?3)")?.execute((
            session,
            claimed_as,
            column::number(entry.header.seq),
        ))?;
    }
    Ok(())
}

/// See [`Store::find`](crate::Store::find).
pub(super) fn find(
    db: &Connection,
    session: &SessionId,
    now: Timestamp,
    claimed_as: &[u8; 16],
) -> Result<Option<Seq>, Fault> {
    let Some(found) = sessions::live(db, session, now)? else { return Ok(None) };
    Ok(claimed(db, found.id, claimed_as)?)
}

/// What stands for a key: keys are of any length, and this is enough to tell them apart.
pub(super) fn claimed_as(key: &str) -> [u8; 16] {
    let mut short = [0; 16];
    short.iter_mut().zip(Hash::of(key.as_bytes()).0).for_each(|(to, from)| *to = from);
    short
}

fn claimed(db: &Connection, session: i64, claimed_as: &[u8; 16]) -> Result<Option<Seq>> {
    db.prepare_cached("SELECT seq FROM claim WHERE session = ?1 AND key = ?2")?
        .query_row((session, claimed_as), |row| column::seq(row, 0))
        .optional()
}
