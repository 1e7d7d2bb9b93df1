//! Texts too large for entries.

use std::sync::Arc;

use callboard_core::{entry::Hash, id::SessionId};

use super::{
    column,
    database::{Database, Params},
    sessions::LIVE_SESSION_ID,
};
use crate::Error;

/// See [`Store::value`](crate::Store::value).
pub(super) async fn find(database: &Database, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
    let sql = format!("SELECT v.text FROM value v WHERE v.session = {LIVE_SESSION_ID} AND v.hash = $3");
    let params: Params<'_> = &[&session.as_str(), &database.test_time(), &&hash.0[..]];
    database.first_row("reading a large value", &sql, params, |row| column::text(row, 0)).await
}
