//! Texts too large for entries.

use std::sync::Arc;

use callboard_core::{entry::Hash, id::SessionId};

use super::{column, database::Database, sessions::LIVE_SESSION_ID};
use crate::Error;

/// See [`Store::value`](crate::Store::value).
pub(super) async fn find(
    database: &Database,
    test_time: Option<i64>,
    session: &SessionId,
    hash: Hash,
) -> Result<Option<Arc<str>>, Error> {
    let doing = "reading a large value";
    let sql = format!("SELECT v.text FROM value v WHERE v.session = {LIVE_SESSION_ID} AND v.hash = $3");
    let rows = database.query(doing, &sql, &[&session.as_str(), &test_time, &&hash.0[..]]).await?;
    let text = rows.first().map(|row| column::text(row, 0)).transpose();
    text.map_err(|fault| fault.during(doing, database.address()))
}
