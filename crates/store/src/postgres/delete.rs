//! Deleting sessions: they are marked as deleted at once, and their rows are removed in slices.

use callboard_core::id::SessionId;

use super::{
    column::{self, get},
    database::Database,
    error::PostgresError,
};
use crate::Error;

/// How many sessions are swept in one transaction.
const SWEEP: usize = 1000;

/// How many rows are removed in one transaction: few, since other transactions wait while these fill the log.
const RECLAIM: i32 = 500;

/// See [`Store::delete`](crate::Store::delete). Returns the number of the change if there was a session.
pub(super) async fn delete(
    database: &Database,
    test_time: Option<i64>,
    name: &SessionId,
) -> Result<Option<i64>, Error> {
    let doing = "deleting a session";
    let sql = "WITH gone AS (DELETE FROM session WHERE name = $1 RETURNING id, name, expires_at),
        noted AS (
            INSERT INTO dead (session, change, at, name) SELECT id, this_change(), moment(NULL), name FROM gone)
        SELECT expires_at IS NULL OR expires_at > moment($2), this_change() FROM gone";
    let rows = database.execute_once(doing, sql, &[&name.as_str(), &test_time]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let answer = || Ok(get::<bool>(row, 0)?.then_some(get(row, 1)?));
    answer().map_err(|fault: PostgresError| fault.during(doing, database.address()))
}

/// See [`Store::sweep`](crate::Store::sweep). Also returns the numbers of the changes.
pub(super) async fn sweep(
    database: &Database,
    test_time: Option<i64>,
    limit: usize,
) -> Result<Vec<(SessionId, i64)>, Error> {
    let mut swept = Vec::new();
    while swept.len() < limit {
        let most = (limit - swept.len()).min(SWEEP);
        match sweep_some(database, test_time, most).await {
            Ok(some) => {
                let all = some.len() < most;
                swept.extend(some);
                if all {
                    break;
                }
            }
            // The swept sessions are returned. The next sweep meets the error again.
            Err(_) if !swept.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(swept)
}

async fn sweep_some(database: &Database, test_time: Option<i64>, most: usize) -> Result<Vec<(SessionId, i64)>, Error> {
    let doing = "sweeping";
    let sql = "SELECT name, this FROM sweep($1, $2)";
    let rows = database.execute_once(doing, sql, &[&test_time, &column::limit(most)]).await?;
    let some: Result<_, PostgresError> = rows.iter().map(|row| Ok((column::parsed(row, 0)?, get(row, 1)?))).collect();
    some.map_err(|fault| fault.during(doing, database.address()))
}

/// Removes some rows of deleted sessions. Returns whether there may be more.
pub(super) async fn reclaim(database: &Database) -> Result<bool, Error> {
    let doing = "removing rows of deleted sessions";
    // If a crash undoes the removal, it is done again. So it need not wait for the disk.
    let sql = "SELECT set_config('synchronous_commit', 'off', true), reclaim($1)";
    let rows = database.query(doing, sql, &[&RECLAIM]).await?;
    let more = rows.first().map_or(Ok(false), |row| get(row, 1));
    more.map_err(|fault| fault.during(doing, database.address()))
}
