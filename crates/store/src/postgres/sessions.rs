//! The rows of sessions.

use callboard_core::{id::SessionId, time::Timestamp};

use super::{
    column,
    column::get,
    database::{Database, Params},
    error::PostgresError,
};
use crate::{Error, Lease, Row};

/// The id of the session named $1, if it has not expired at $2.
pub(super) const LIVE_SESSION_ID: &str =
    "(SELECT n.id FROM session n WHERE n.name = $1 AND (n.expires_at IS NULL OR n.expires_at > moment($2)))";

/// See [`Store::row`](crate::Store::row).
pub(super) async fn row(database: &Database, test_time: Option<i64>, name: &SessionId) -> Result<Option<Row>, Error> {
    let doing = "looking for a session";
    let sql = "SELECT seq, tag, expires_at, last_activity FROM session
        WHERE name = $1 AND (expires_at IS NULL OR expires_at > moment($2))";
    let rows = database.query(doing, sql, &[&name.as_str(), &test_time]).await?;
    let found = rows.first().map(|row| column::row(row, 0)).transpose();
    found.map_err(|fault| fault.during(doing, database.address()))
}

/// See [`Store::touch`](crate::Store::touch). Also returns the number of the change.
pub(super) async fn touch(
    database: &Database,
    test_time: Option<i64>,
    name: &SessionId,
    expires_at: Option<Timestamp>,
) -> Result<Option<(Row, i64)>, Error> {
    let doing = "touching a session";
    // If somebody else has changed the row since the statement began, Postgres checks the condition again under the lock.
    let sql = "UPDATE session SET expires_at = $3, last_activity = moment($2), change = this_change()
        WHERE name = $1 AND (expires_at IS NULL OR expires_at > moment($2))
        RETURNING seq, tag, expires_at, last_activity, change";
    let rows = database.query(doing, sql, &[&name.as_str(), &test_time, &expires_at.map(Timestamp::as_millis)]).await?;
    let touched = rows.first().map(|row| Ok((column::row(row, 0)?, get(row, 4)?))).transpose();
    touched.map_err(|fault: PostgresError| fault.during(doing, database.address()))
}

/// A page of journals in the order of their ids. The statement selects them.
pub(super) async fn list(
    database: &Database,
    sql: &str,
    test_time: Option<i64>,
    after: Option<&SessionId>,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>, Error> {
    let after = after.map_or("", SessionId::as_str);
    page(database, sql, &[&after, &test_time, &column::limit(limit)]).await
}

/// See [`Store::journals`](crate::Store::journals).
pub(super) const JOURNALS: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
    WHERE name > $1 AND (expires_at IS NULL OR expires_at > moment($2)) ORDER BY name LIMIT $3";

/// See [`Store::sessions`](crate::Store::sessions).
pub(super) const SESSIONS: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
    WHERE NOT is_request AND name > $1 AND (expires_at IS NULL OR expires_at > moment($2)) ORDER BY name LIMIT $3";

/// See [`Store::recent_sessions`](crate::Store::recent_sessions).
pub(super) async fn recent(
    database: &Database,
    test_time: Option<i64>,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>, Error> {
    let sql = "SELECT seq, tag, expires_at, last_activity, name FROM session
        WHERE NOT is_request AND (expires_at IS NULL OR expires_at > moment($1)) ORDER BY last_activity DESC LIMIT $2";
    page(database, sql, &[&test_time, &column::limit(limit)]).await
}

async fn page(database: &Database, sql: &str, params: Params<'_>) -> Result<Vec<(SessionId, Row)>, Error> {
    let doing = "listing sessions";
    let rows = database.query(doing, sql, params).await?;
    let page: Result<_, PostgresError> =
        rows.iter().map(|row| Ok((column::parsed(row, 4)?, column::row(row, 0)?))).collect();
    page.map_err(|fault| fault.during(doing, database.address()))
}

/// See [`Store::expired`](crate::Store::expired).
pub(super) async fn expired(
    database: &Database,
    test_time: Option<i64>,
    limit: usize,
) -> Result<Vec<(SessionId, Timestamp)>, Error> {
    let doing = "looking for what has expired";
    let sql = "SELECT name, expires_at FROM session WHERE expires_at <= (SELECT moment($1))
        ORDER BY expires_at, name LIMIT $2";
    let rows = database.query(doing, sql, &[&test_time, &column::limit(limit)]).await?;
    let expired: Result<_, PostgresError> =
        rows.iter().map(|row| Ok((column::parsed(row, 0)?, column::time(row, 1)?))).collect();
    expired.map_err(|fault| fault.during(doing, database.address()))
}

/// See [`Store::expired_at`](crate::Store::expired_at).
pub(super) async fn expired_at(
    database: &Database,
    test_time: Option<i64>,
    name: &SessionId,
) -> Result<Option<Timestamp>, Error> {
    let doing = "looking for an expired session";
    let sql = "SELECT expires_at FROM session WHERE name = $1 AND expires_at <= moment($2)";
    let rows = database.query(doing, sql, &[&name.as_str(), &test_time]).await?;
    let found = rows.first().map(|row| column::time(row, 0)).transpose();
    found.map_err(|fault| fault.during(doing, database.address()))
}

/// The newest last activity of all journals.
pub(super) async fn last_activity(database: &Database) -> Result<Option<Timestamp>, Error> {
    let doing = "looking for the last activity";
    let sql = "SELECT greatest((SELECT max(last_activity) FROM session WHERE NOT is_request),
        (SELECT max(last_activity) FROM session WHERE is_request))";
    let rows = database.query(doing, sql, &[]).await?;
    let newest = rows.first().map_or(Ok(None), |row| column::optional_time(row, 0));
    newest.map_err(|fault| fault.during(doing, database.address()))
}

/// See [`Store::lease`](crate::Store::lease).
pub(super) async fn lease(
    database: &Database,
    test_time: Option<i64>,
    lease: &Lease,
    most: usize,
) -> Result<Vec<SessionId>, Error> {
    let doing = "taking leases";
    let sql = "SELECT name FROM lease($1, $2, $3, $4)";
    let params: Params<'_> = &[&test_time, &&*lease.holder, &lease.lasts_millis(), &column::limit(most)];
    let rows = database.query(doing, sql, params).await?;
    let held: Result<_, PostgresError> = rows.iter().map(|row| column::parsed(row, 0)).collect();
    held.map_err(|fault| fault.during(doing, database.address()))
}

/// See [`Store::now`](crate::Store::now).
pub(super) async fn now(database: &Database) -> Result<Timestamp, Error> {
    let doing = "asking for the time";
    let rows = database.query(doing, "SELECT moment(NULL)", &[]).await?;
    let now = rows
        .first()
        .map_or_else(|| Err(PostgresError::Damaged("it returns no time".to_owned())), |row| column::time(row, 0));
    now.map_err(|fault| fault.during(doing, database.address()))
}
