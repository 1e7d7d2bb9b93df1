//! Deleting sessions: they are marked as deleted at once, and their rows are removed in slices.

use callboard_core::id::SessionId;

use super::{
    column::{self, get},
    database::{Database, Params},
};
use crate::Error;

/// How many rows are removed in one transaction: few, since other transactions wait while these fill the log.
const RECLAIM: i32 = 500;

/// See [`Store::delete`](crate::Store::delete). Returns the number of the change if there was a session.
pub(super) async fn delete(database: &Database, name: &SessionId) -> Result<Option<i64>, Error> {
    let sql = "WITH gone AS (DELETE FROM session WHERE name = $1 RETURNING id, name, expires_at),
        noted AS (
            INSERT INTO dead (session, change, at, name) SELECT id, this_change(), moment(NULL), name FROM gone)
        SELECT expires_at IS NULL OR expires_at > moment($2), this_change() FROM gone";
    let change = |row: &_| Ok(get::<bool>(row, 0)?.then_some(get(row, 1)?));
    let params: Params<'_> = &[&name.as_str(), &database.test_time()];
    let gone = database.execute_once("deleting a session", sql, params, change).await?;
    Ok(gone.into_iter().next().flatten())
}

/// See [`Store::remove_expired`](crate::Store::remove_expired). Marks them as deleted. Locked ones are left to the next
/// call. Also returns the numbers of the changes.
pub(super) async fn remove_expired(
    database: &Database,
    sessions: &[SessionId],
) -> Result<Vec<(SessionId, i64)>, Error> {
    // If a row was touched since the statement began, the condition is checked again under the lock.
    let sql = "WITH expired AS MATERIALIZED (
            SELECT s.id FROM session s
            WHERE s.name = ANY ($1) AND s.expires_at <= (SELECT moment($2)) FOR UPDATE SKIP LOCKED),
        gone AS (DELETE FROM session s USING expired e WHERE s.id = e.id RETURNING s.id, s.name, s.expires_at),
        noted AS (
            INSERT INTO dead (session, change, at, name) SELECT g.id, this_change(), moment(NULL), g.name FROM gone g)
        SELECT g.name, this_change() FROM gone g ORDER BY g.expires_at, g.name";
    let names: Vec<_> = sessions.iter().map(SessionId::as_str).collect();
    let gone = |row: &_| Ok((column::parsed(row, 0)?, get(row, 1)?));
    database.execute_once("removing expired sessions", sql, &[&names, &database.test_time()], gone).await
}

/// Removes some rows of deleted sessions. Returns whether there may be more.
pub(super) async fn reclaim(database: &Database) -> Result<bool, Error> {
    // If a crash undoes the removal, it is done again. So it need not wait for the disk.
    let sql = "SELECT set_config('synchronous_commit', 'off', true), reclaim($1)";
    let more = |row: &_| get(row, 1);
    let more = database.first_row("removing rows of deleted sessions", sql, &[&RECLAIM], more).await?;
    Ok(more.unwrap_or(false))
}
