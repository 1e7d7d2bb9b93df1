//! Reading entries in the order of their numbers.

mod merge;

use std::ops::Range;

use callboard_core::{
    entry::{Entry, Header, Tag},
    id::SessionId,
    time::Timestamp,
};
use rusqlite::{Connection, Params, Result, Row};

use self::merge::Merge;
use super::{column, fault::Fault, sessions, words::Words};
use crate::{Order, Query};

/// The columns that [`decode`] reads.
pub(super) const ENTRY: &str = "seq, v, at, actor, type, subject, audience, time, keys, tag, data";

/// See [`Store::read`](crate::Store::read).
pub(super) fn read(db: &Connection, session: &SessionId, now: Timestamp, query: &Query) -> Result<Vec<Entry>, Fault> {
    let Some(found) = sessions::live(db, session, now)? else { return Ok(Vec::new()) };
    let mut words = Words::new(db, found.id);
    if query.types.is_empty() && query.subjects.is_empty() {
        return Ok(range(db, found.id, query, &mut words)?);
    }
    let mut chosen = db.prepare_cached(&format!("SELECT {ENTRY} FROM entry WHERE id = ?1"))?;
    let mut entries = Vec::new();
    for id in Merge::new(db, found.id, query)?.take(query.limit) {
        entries.push(chosen.query_row([id?], |row| decode(row, &mut words))?);
    }
    Ok(entries)
}

/// All entries of a range.
fn range(db: &Connection, session: i64, query: &Query, words: &mut Words<'_>) -> Result<Vec<Entry>> {
    let Range { start, end } = numbers(query);
    entries(db, &range_sql(query.order), (session, start, end, column::limit(query.limit)), words)
}

pub(super) fn range_sql(order: Order) -> String {
    format!(
        "SELECT {ENTRY} FROM entry INDEXED BY entry_by_seq WHERE session = ?1 AND seq >= ?2 AND seq < ?3
         ORDER BY seq {} LIMIT ?4",
        direction(order)
    )
}

/// The entries that a statement finds.
pub(super) fn entries(db: &Connection, sql: &str, params: impl Params, words: &mut Words<'_>) -> Result<Vec<Entry>> {
    db.prepare_cached(sql)?.query_map(params, |row| decode(row, words))?.collect()
}

/// The word for an order in SQL.
pub(super) fn direction(order: Order) -> &'static str {
    match order {
        Order::Forward => "ASC",
        Order::Backward => "DESC",
    }
}

/// The range of a query in numbers of SQLite.
fn numbers(query: &Query) -> Range<i64> {
    column::number(query.seqs.start)..column::number(query.seqs.end)
}

fn decode(row: &Row<'_>, words: &mut Words<'_>) -> Result<Entry> {
    let header = Header {
        seq: column::seq(row, 0)?,
        v: row.get(1)?,
        at: column::time(row, 2)?,
        by: words.actor(row.get(3)?)?,
        kind: words.type_name(row.get(4)?)?,
        subject: words.subject(row.get(5)?)?,
        audience: words.audience(row.get(6)?)?,
        time: column::optional_time(row, 7)?,
        keys: column::keys(row, 8)?,
    };
    Ok(Entry { header, tag: Tag(row.get(9)?), data: row.get_ref(10)?.as_str()?.into() })
}
