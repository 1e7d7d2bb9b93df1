//! The rows of sessions.

use callboard_core::{id::SessionId, time::Timestamp};

use super::{
    column,
    column::get,
    database::{Database, Params},
};
use crate::{Error, Lease, Row};

/// The id of the session named $1, if it has not expired at $2.
pub(super) const LIVE_SESSION_ID: &str =
    "(SELECT n.id FROM session n WHERE n.name = $1 AND (n.expires_at IS NULL OR n.expires_at > moment($2)))";

/// See [`Store::row`](crate::Store::row).
pub(super) async fn row(database: &Database, name: &SessionId) -> Result<Option<Row>, Error> {
    let sql = "SELECT seq, tag, expires_at, last_activity FROM session
        WHERE name = $1 AND (expires_at IS NULL OR expires_at > moment($2))";
    let params: Params<'_> = &[&name.as_str(), &database.test_time()];
    database.first_row("looking for a session", sql, params, |row| column::row(row, 0)).await
}

/// See [`Store::touch`](crate::Store::touch). Also returns the number of the change.
pub(super) async fn touch(
    database: &Database,
    name: &SessionId,
    expires_at: Option<Timestamp>,
) -> Result<Option<(Row, i64)>, Error> {
    // If somebody else has changed the row since the statement began, Postgres checks the condition again under the lock.
    let sql = "UPDATE session SET expires_at = $3, last_activity = moment($2), change = this_change()
        WHERE name = $1 AND (expires_at IS NULL OR expires_at > moment($2))
        RETURNING seq, tag, expires_at, last_activity, change";
    let params: Params<'_> = &[&name.as_str(), &database.test_time(), &expires_at.map(Timestamp::as_millis)];
    let touched = |row: &_| Ok((column::row(row, 0)?, get(row, 4)?));
    database.first_row("touching a session", sql, params, touched).await
}

/// A page of journals in the order of their ids. The statement selects them.
pub(super) async fn list(
    database: &Database,
    sql: &str,
    after: Option<&SessionId>,
    limit: usize,
) -> Result<Vec<(SessionId, Row)>, Error> {
    let after = after.map_or("", SessionId::as_str);
    page(database, sql, &[&after, &database.test_time(), &column::limit(limit)]).await
}

/// See [`Store::journals`](crate::Store::journals).
pub(super) const JOURNALS: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
    WHERE name > $1 AND (expires_at IS NULL OR expires_at > moment($2)) ORDER BY name LIMIT $3";

/// See [`Store::sessions`](crate::Store::sessions).
pub(super) const SESSIONS: &str = "SELECT seq, tag, expires_at, last_activity, name FROM session
    WHERE NOT is_request AND name > $1 AND (expires_at IS NULL OR expires_at > moment($2)) ORDER BY name LIMIT $3";

/// See [`Store::recent_sessions`](crate::Store::recent_sessions).
pub(super) async fn recent(database: &Database, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
    let sql = "SELECT seq, tag, expires_at, last_activity, name FROM session
        WHERE NOT is_request AND (expires_at IS NULL OR expires_at > moment($1)) ORDER BY last_activity DESC LIMIT $2";
    page(database, sql, &[&database.test_time(), &column::limit(limit)]).await
}

async fn page(database: &Database, sql: &str, params: Params<'_>) -> Result<Vec<(SessionId, Row)>, Error> {
    let named = |row: &_| Ok((column::parsed(row, 4)?, column::row(row, 0)?));
    database.rows("listing sessions", sql, params, named).await
}

/// See [`Store::expired`](crate::Store::expired).
pub(super) async fn expired(database: &Database, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
    let sql = "SELECT name, expires_at FROM session WHERE expires_at <= (SELECT moment($1))
        ORDER BY expires_at, name LIMIT $2";
    let expired = |row: &_| Ok((column::parsed(row, 0)?, column::time(row, 1)?));
    database.rows("looking for what has expired", sql, &[&database.test_time(), &column::limit(limit)], expired).await
}

/// See [`Store::expired_at`](crate::Store::expired_at).
pub(super) async fn expired_at(database: &Database, name: &SessionId) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT expires_at FROM session WHERE name = $1 AND expires_at <= moment($2)";
    let params: Params<'_> = &[&name.as_str(), &database.test_time()];
    database.first_row("looking for an expired session", sql, params, |row| column::time(row, 0)).await
}

/// The newest last activity of all journals.
pub(super) async fn last_activity(database: &Database) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT greatest((SELECT max(last_activity) FROM session WHERE NOT is_request),
        (SELECT max(last_activity) FROM session WHERE is_request))";
    let newest = |row: &_| column::optional_time(row, 0);
    Ok(database.first_row("looking for the last activity", sql, &[], newest).await?.flatten())
}

/// See [`Store::lease`](crate::Store::lease).
pub(super) async fn lease(database: &Database, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
    let sql = "SELECT name FROM lease($1, $2, $3, $4)";
    let params: Params<'_> = &[&database.test_time(), &&*lease.holder, &lease.lasts_millis(), &column::limit(most)];
    database.rows("taking leases", sql, params, |row| column::parsed(row, 0)).await
}

/// See [`Store::now`](crate::Store::now).
pub(super) async fn now(database: &Database) -> Result<Timestamp, Error> {
    let ask = async {
        let time = |row: &_| column::time(row, 0);
        let now = database.first_row("asking for the time", "SELECT moment(NULL)", &[], time).await?;
        now.ok_or_else(|| Error::damaged(database.address.to_string(), "it returns no time"))
    };
    database.time.now(ask).await
}
