//! Reading entries in the order of their own time.

use callboard_core::{entry::Entry, id::SessionId};

use super::{
    column::{self, ENTRY, short_hash},
    database::{Database, Params},
    sessions::LIVE_SESSION_ID,
};
use crate::{Error, Order, TimeQuery, sql::direction};

/// See [`Store::read_by_time`](crate::Store::read_by_time).
pub(super) async fn read(database: &Database, session: &SessionId, query: &TimeQuery) -> Result<Vec<Entry>, Error> {
    let (low, high) = query.bounds();
    let (subject, kind) = (short_hash(&query.subject), short_hash(&query.kind));
    let (test_time, limit) = (database.test_time(), column::limit(query.limit));
    let (session, subject, kind) = (session.as_str(), &subject[..], &kind[..]);
    let params: Params<'_> = &[&session, &test_time, &subject, &kind, &low.0, &low.1, &high.0, &high.1, &limit];
    database.rows("reading entries by time", &sql(query.order), params, column::entry).await
}

pub(super) fn sql(order: Order) -> String {
    let order = direction(order);
    format!(
        "WITH here AS MATERIALIZED (SELECT {LIVE_SESSION_ID} AS id)
         SELECT {ENTRY} FROM entry e
         WHERE e.session = (SELECT id FROM here)
             AND e.subject = (SELECT s.id FROM subject s WHERE s.session = (SELECT id FROM here) AND s.hash = $3)
             AND e.type = (SELECT t.id FROM type t WHERE t.hash = $4)
             AND e.time IS NOT NULL AND (e.time, e.seq) > ($5, $6) AND (e.time, e.seq) < ($7, $8)
         ORDER BY e.time {order}, e.seq {order} LIMIT $9"
    )
}
