//! Reading entries, in the order of their numbers or of their own time, and large values.

mod merge;

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    sync::Arc,
};

use callboard_core::{
    entry::{Entry, Hash, Header, Tag},
    id::Seq,
};
use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::{
    column,
    indexing::{self, UnindexedEntry},
    sessions::StoredSession,
    words::{self, Words},
};
use crate::{Order, Query, TimeQuery, sql::direction, store::TimePosition};

/// The columns that [`decode`] reads.
macro_rules! columns {
    () => {
        "entry.seq, v, at, actor, type, subject, audience, time, keys, nonce, tag, data"
    };
}

const ENTRY: &str = columns!();

/// Reads the entry in a row.
pub(super) const ROW: &str = concat!("SELECT ", columns!(), " FROM entry WHERE id = ?1");

/// See [`Store::read`](crate::Store::read).
pub(super) fn read(db: &Connection, session: &StoredSession, query: &Query) -> Result<Vec<Entry>> {
    let Some(wanted) = ResolvedQuery::by(db, session.id, query)? else { return Ok(Vec::new()) };
    let mut words = Words::new(db, session.id);
    let mut entries = Vec::new();
    // Unindexed entries come after all that are indexed.
    if query.order == Order::Forward {
        entries = indexed(&mut words, &wanted, query.limit)?;
    }
    if entries.len() < query.limit {
        let rows = wanted.among(&indexing::unindexed(db, session)?);
        let rows = rows.into_iter().take(query.limit - entries.len());
        entries.extend(self::rows(&mut words, rows)?);
    }
    if query.order == Order::Backward && entries.len() < query.limit {
        entries.extend(indexed(&mut words, &wanted, query.limit - entries.len())?);
    }
    Ok(entries)
}

/// See [`Store::read_each`](crate::Store::read_each).
pub(super) fn read_each(db: &Connection, session: &StoredSession, seqs: &[Seq]) -> Result<Vec<Entry>> {
    let unindexed: HashMap<_, _> =
        indexing::unindexed(db, session)?.iter().map(|entry| (entry.seq, entry.row)).collect();
    let seqs: BTreeSet<_> = seqs.iter().copied().map(column::number).collect();
    let row = |seq| {
        unindexed.get(&seq).copied().map_or_else(|| indexing::indexed_row(db, session.id, seq), |row| Ok(Some(row)))
    };
    let chosen = seqs.into_iter().filter_map(|seq| row(seq).transpose()).collect::<Result<Vec<_>>>()?;
    rows(&mut Words::new(db, session.id), chosen)
}

/// A query with the ids of types and subjects in place of their texts.
struct ResolvedQuery {
    seqs: Range<i64>,
    order: Order,
    /// The ids of the types; `None` is any.
    types: Option<Vec<i64>>,
    /// The ids of the subjects; `None` is any.
    subjects: Option<Vec<i64>>,
}

impl ResolvedQuery {
    /// Resolves `query`; `None` if it cannot match any entry.
    fn by(db: &Connection, session: i64, query: &Query) -> Result<Option<Self>> {
        let seqs = column::number(query.seqs.start)..column::number(query.seqs.end);
        let types = numbered(&query.types, |name| words::known_type(db, name))?;
        let subjects = numbered(&query.subjects, |text| words::known(db, session, text))?;
        let is_nothing = |numbers: &Option<Vec<i64>>| numbers.as_ref().is_some_and(Vec::is_empty);
        let nothing = seqs.is_empty() || is_nothing(&types) || is_nothing(&subjects);
        Ok((!nothing).then_some(Self { seqs, order: query.order, types, subjects }))
    }

    /// The rows of the matching ones among `entries`, in the order of the query. `entries` must be in order.
    fn among(&self, entries: &[UnindexedEntry]) -> Vec<i64> {
        let is_among = |numbers: &Option<Vec<i64>>, one| numbers.as_ref().is_none_or(|all| all.contains(&one));
        let wanted = entries.iter().filter(|entry| {
            self.seqs.contains(&entry.seq)
                && is_among(&self.types, entry.kind)
                && is_among(&self.subjects, entry.subject)
        });
        let mut rows: Vec<_> = wanted.map(|entry| entry.row).collect();
        if self.order == Order::Backward {
            rows.reverse();
        }
        rows
    }
}

/// The ids of these texts, each once; texts without an id are left out. `None` if no text is given.
fn numbered(texts: &[Arc<str>], number: impl Fn(&str) -> Result<Option<i64>>) -> Result<Option<Vec<i64>>> {
    let mut numbers = texts.iter().filter_map(|text| number(text).transpose()).collect::<Result<Vec<_>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok((!texts.is_empty()).then_some(numbers))
}

/// The first matching entries that are indexed.
fn indexed(words: &mut Words<'_>, wanted: &ResolvedQuery, limit: usize) -> Result<Vec<Entry>> {
    let (db, session) = (words.db, words.session);
    if wanted.types.is_some() || wanted.subjects.is_some() {
        return rows(words, merge::rows(db, session, wanted, limit)?);
    }
    let mut range = db.prepare_cached(&range_sql(wanted.order))?;
    let Range { start, end } = wanted.seqs;
    range.query_map((session, start, end, column::limit(limit)), |row| decode(row, words))?.collect()
}

/// The entries in these rows.
fn rows(words: &mut Words<'_>, rows: impl IntoIterator<Item = i64>) -> Result<Vec<Entry>> {
    let db = words.db;
    let mut chosen = db.prepare_cached(ROW)?;
    rows.into_iter().map(|row| chosen.query_row([row], |row| decode(row, words))).collect()
}

pub(super) fn range_sql(order: Order) -> String {
    format!(
        "SELECT {ENTRY} FROM by_seq CROSS JOIN entry ON entry.id = by_seq.entry
         WHERE by_seq.session = ?1 AND by_seq.seq >= ?2 AND by_seq.seq < ?3
         ORDER BY by_seq.seq {} LIMIT ?4",
        direction(order)
    )
}

/// See [`Store::read_by_time`](crate::Store::read_by_time).
pub(super) fn read_by_time(db: &Connection, session: &StoredSession, query: &TimeQuery) -> Result<Vec<Entry>> {
    let Some(subject) = words::known(db, session.id, &query.subject)? else { return Ok(Vec::new()) };
    let Some(kind) = words::known_type(db, &query.kind)? else { return Ok(Vec::new()) };
    let about = |entry: &UnindexedEntry| entry.subject == subject && entry.kind == kind;
    let (low, high) = query.bounds();
    let params = (session.id, subject, kind, low.0, low.1, high.0, high.1, column::limit(query.limit));
    let mut indexed = db.prepare_cached(&sql_by_time(query.order))?;
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
    let chosen = places.into_iter().take(query.limit).map(|(_, row)| row);
    rows(&mut Words::new(db, session.id), chosen)
}

pub(super) fn sql_by_time(order: Order) -> String {
    let order = direction(order);
    format!(
        "SELECT time, seq, entry FROM by_time
         WHERE session = ?1 AND subject = ?2 AND type = ?3 AND (time, seq) > (?4, ?5) AND (time, seq) < (?6, ?7)
         ORDER BY time {order}, seq {order} LIMIT ?8"
    )
}

/// See [`Store::value`](crate::Store::value).
pub(super) fn value(db: &Connection, session: &StoredSession, hash: Hash) -> Result<Option<Arc<str>>> {
    let mut text = db.prepare_cached("SELECT text FROM value WHERE session = ?1 AND hash = ?2")?;
    text.query_row((session.id, hash.0), |row| Ok(row.get_ref(0)?.as_str()?.into())).optional()
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
        nonce: row.get(9)?,
    };
    Ok(Entry { header, tag: Tag(row.get(10)?), data: row.get_ref(11)?.as_str()?.into() })
}
