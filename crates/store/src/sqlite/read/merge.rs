//! Reads of several subjects or types: one ordered read of an index for each, merged. So nothing is scanned.

use std::cmp::Reverse;

use rusqlite::{Connection, Result};

use super::{super::column, ResolvedQuery};
use crate::{Order, sql::direction};

/// The rows of the first entries that a query with types or subjects asks for, in its order.
pub(super) fn rows(db: &Connection, session: i64, wanted: &ResolvedQuery, limit: usize) -> Result<Vec<i64>> {
    let mut first: Vec<(i64, i64)> = Vec::new();
    let mut rest = wanted.seqs.clone();
    for (kind, subject) in streams(db, session, wanted)? {
        let mut places = db.prepare_cached(&sql(subject.is_some(), wanted.order))?;
        let params = (session, kind, rest.start, rest.end, column::limit(limit), subject);
        let places = places.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        first.extend(places.collect::<Result<Vec<(i64, i64)>>>()?);
        if first.len() >= limit {
            sort(&mut first, wanted.order);
            first.truncate(limit);
            // What comes after the last of these is not among the first.
            match (first.last(), wanted.order) {
                (Some((last, _)), Order::Forward) => rest.end = *last,
                (Some((last, _)), Order::Backward) => rest.start = last + 1,
                (None, _) => {}
            }
        }
    }
    sort(&mut first, wanted.order);
    Ok(first.into_iter().map(|(_, row)| row).collect())
}

/// Sorts numbers with their rows. They consist of a few sorted parts, which a stable sort merges.
fn sort(places: &mut [(i64, i64)], order: Order) {
    match order {
        Order::Forward => places.sort(),
        Order::Backward => places.sort_by_key(|place| Reverse(*place)),
    }
}

/// Finds the entries of one type, about a subject or about any.
fn sql(in_subject: bool, order: Order) -> String {
    let (table, subject) = if in_subject { ("by_subject", "subject = ?6") } else { ("by_type", "?6 IS NULL") };
    format!(
        "SELECT seq, entry FROM {table}
         WHERE session = ?1 AND type = ?2 AND seq >= ?3 AND seq < ?4 AND {subject}
         ORDER BY seq {} LIMIT ?5",
        direction(order)
    )
}

/// The wanted pairs of type and subject that the session has; without a subject, the type about any.
fn streams(db: &Connection, session: i64, wanted: &ResolvedQuery) -> Result<Vec<(i64, Option<i64>)>> {
    let Some(subjects) = &wanted.subjects else {
        return Ok(wanted.types.iter().flatten().map(|kind| (*kind, None)).collect());
    };
    let mut streams = Vec::new();
    for subject in subjects {
        let types = wanted.types.clone().map_or_else(|| types_about(db, session, *subject), Ok)?;
        streams.extend(types.into_iter().map(|kind| (kind, Some(*subject))));
    }
    Ok(streams)
}

/// The types of the entries about a subject. They are few: one lookup in the index finds each.
fn types_about(db: &Connection, session: i64, subject: i64) -> Result<Vec<i64>> {
    let mut next = db.prepare_cached(NEXT_TYPE)?;
    let mut types = Vec::new();
    while let Some(kind) =
        next.query_row((session, subject, types.last().copied().unwrap_or(0)), |row| row.get::<_, Option<i64>>(0))?
    {
        types.push(kind);
    }
    Ok(types)
}

/// Finds the next type of the entries about a subject.
const NEXT_TYPE: &str = "SELECT min(type) FROM by_subject WHERE session = ?1 AND subject = ?2 AND type > ?3";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::tests::plan;

    #[test]
    fn each_stream_is_an_ordered_read_of_an_index() {
        for order in [Order::Forward, Order::Backward] {
            assert_eq!(
                plan(&sql(true, order)),
                "SEARCH by_subject USING PRIMARY KEY (session=? AND subject=? AND type=? AND seq>? AND seq<?)"
            );
            assert_eq!(
                plan(&sql(false, order)),
                "SEARCH by_type USING PRIMARY KEY (session=? AND type=? AND seq>? AND seq<?)"
            );
        }
        assert_eq!(plan(NEXT_TYPE), "SEARCH by_subject USING PRIMARY KEY (session=? AND subject=? AND type>?)");
    }
}
