//! Leases. They are columns of the rows of sessions; their index has only sessions with a lease.

use callboard_core::id::SessionId;
use rusqlite::{Connection, Result};

use super::{column, error::SqliteError, transaction::Transaction};
use crate::{Lease, LeaseChange};

/// Writes what a batch does to the lease.
pub(super) fn put(write: &Transaction<'_>, session: i64, change: &LeaseChange) -> Result<()> {
    let (holder, until) = match change {
        LeaseChange::Keep => return Ok(()),
        LeaseChange::Set(lease) => (Some(&*lease.holder), Some(lease.until(write.now).as_millis())),
        LeaseChange::Remove => (None, None),
    };
    write
        .db
        .prepare_cached("UPDATE session SET holder = ?2, held_until = ?3 WHERE id = ?1")?
        .execute((session, holder, until))?;
    Ok(())
}

/// See [`Store::lease`](crate::Store::lease). It writes nothing if there is no lease.
pub(super) fn lease(write: &mut Transaction<'_>, lease: &Lease, most: usize) -> Result<Vec<SessionId>, SqliteError> {
    let (holder, now) = (&*lease.holder, write.now.as_millis());
    let until = lease.until(write.now).as_millis();
    if lease.lasts.is_zero() {
        write.db.prepare_cached(LET_GO)?.execute((holder, until))?;
        return Ok(Vec::new());
    }
    write.db.prepare_cached(RENEW)?.execute((holder, until))?;
    write.db.prepare_cached(TAKE)?.execute((holder, until, now, column::limit(most)))?;
    Ok(held(write.db, holder, now)?)
}

fn held(db: &Connection, holder: &str, now: i64) -> Result<Vec<SessionId>> {
    let mut held = db.prepare_cached(HELD)?;
    held.query_map((holder, now), |row| column::parsed(row.get_ref(0)?.as_str()?, 0))?.collect()
}

pub(super) const LET_GO: &str = "UPDATE session INDEXED BY session_by_lease SET holder = '', held_until = ?2
     WHERE held_until IS NOT NULL AND holder = ?1";

pub(super) const RENEW: &str = "UPDATE session INDEXED BY session_by_lease SET held_until = ?2
     WHERE held_until IS NOT NULL AND holder = ?1";

pub(super) const TAKE: &str = "UPDATE session SET holder = ?1, held_until = ?2 WHERE id IN (
         SELECT id FROM session INDEXED BY session_by_lease
         WHERE held_until IS NOT NULL AND held_until <= ?3 AND holder <> ?1 AND (expires_at IS NULL OR expires_at > ?3)
         ORDER BY held_until, name LIMIT ?4)";

pub(super) const HELD: &str = "SELECT name FROM session INDEXED BY session_by_lease
     WHERE held_until IS NOT NULL AND holder = ?1 AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name";
