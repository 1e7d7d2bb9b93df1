//! Texts too large for entries.

use std::sync::Arc;

use callboard_core::{entry::Hash, id::SessionId};

use super::{column, database::Database};
use crate::Error;

/// See [`Store::value`](crate::Store::value).
pub(super) async fn find(
    database: &Database,
    said: Option<i64>,
    session: &SessionId,
    hash: Hash,
) -> Result<Option<Arc<str>>, Error> {
    let doing = "reading a large value";
    let sql = "SELECT v.text FROM session n JOIN value v ON v.session = n.id AND v.hash = $3
        WHERE n.name = $1 AND (n.expires_at IS NULL OR n.expires_at > moment($2))";
    let rows = database.ask(doing, sql, &[&session.as_str(), &said, &&hash.0[..]]).await?;
    let text = rows.first().map(|row| column::text(row, 0)).transpose();
    text.map_err(|fault| fault.during(doing, database.place()))
}
