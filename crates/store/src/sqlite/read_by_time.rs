//! Reading entries in the order of their own time.

use callboard_core::entry::Entry;
use rusqlite::{Connection, Result};

use super::{
    column,
    indexing::{self, UnindexedEntry},
    read,
    sessions::StoredSession,
    words::{self, Words},
};
use crate::{Order, TimeQuery, sql::direction, store::TimePosition};

/// See [`Store::read_by_time`](crate::Store::read_by_time).
pub(super) fn read(db: &Connection, session: &StoredSession, query: &TimeQuery) -> Result<Vec<Entry>> {
    let Some(subject) = words::known(db, session.id, &query.subject)? else { return Ok(Vec::new()) };
    let Some(kind) = words::known_type(db, &query.kind)? else { return Ok(Vec::new()) };
    let about = |entry: &UnindexedEntry| entry.subject == subject && entry.kind == kind;
    let (low, high) = query.bounds();
    let params = (session.id, subject, kind, low.0, low.1, high.0, high.1, column::limit(query.limit));
    let mut indexed = db.prepare_cached(&sql(query.order))?;
    let indexed = indexed.query_map(params, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    let mut places: Vec<(TimePosition, i64)> = indexed.collect::<Result<_>>()?;
    for UnindexedEntry { row, seq, time, .. } in indexing::unindexed(db, session)?.into_iter().filter(about) {
        let place = time.map(|time| (time, seq)).filter(|place| low < *place && *place < high);
        places.extend(place.map(|place| (place, row)));
    }
    places.sort_unstable();
    if query.order == Order::Backward {
        places.reverse();
    }
    let rows = places.into_iter().take(query.limit).map(|(_, row)| row);
    read::rows(&mut Words::new(db, session.id), rows)
}

pub(super) fn sql(order: Order) -> String {
    let order = direction(order);
    format!(
        "SELECT time, seq, entry FROM by_time
         WHERE session = ?1 AND subject = ?2 AND type = ?3 AND (time, seq) > (?4, ?5) AND (time, seq) < (?6, ?7)
         ORDER BY time {order}, seq {order} LIMIT ?8"
    )
}
