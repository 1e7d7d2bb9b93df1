//! Reads of several subjects or types: one ordered read of an index for each, merged. So nothing is scanned or sorted.

use std::{
    collections::{BinaryHeap, VecDeque},
    ops::Range,
};

use rusqlite::{Connection, Result};

use super::{super::column, ResolvedQuery};
use crate::{Order, sql::direction};

/// How many rows of an index are read at a time.
const CHUNK: usize = 64;

/// The rows of the entries that a query with types or subjects asks for, in its order.
pub(super) struct Merge<'a> {
    db: &'a Connection,
    session: i64,
    order: Order,
    chunk: usize,
    streams: Vec<Stream>,
    /// The next row of each stream that has one. The greatest rank comes first.
    next: BinaryHeap<Candidate>,
}

/// The next row of a stream.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: i64,
    stream: usize,
    row: i64,
}

/// The entries of one type, or of one type about one subject.
struct Stream {
    kind: i64,
    subject: Option<i64>,
    /// The range of numbers that is still to be read.
    rest: Range<i64>,
    /// The numbers and rows that are read ahead.
    waiting: VecDeque<(i64, i64)>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(db: &'a Connection, session: i64, wanted: &ResolvedQuery, limit: usize) -> Result<Self> {
        let streams = streams(db, session, wanted)?;
        let chunk = limit.clamp(1, CHUNK);
        let next = BinaryHeap::with_capacity(streams.len());
        let mut merge = Self { db, session, order: wanted.order, chunk, streams, next };
        for stream in 0..merge.streams.len() {
            merge.advance(stream)?;
        }
        Ok(merge)
    }

    /// Adds the next row of a stream to the candidates.
    fn advance(&mut self, index: usize) -> Result<()> {
        let Some(stream) = self.streams.get_mut(index) else { return Ok(()) };
        if stream.waiting.is_empty() {
            stream.fill(self.db, self.session, self.order, self.chunk)?;
        }
        if let Some((seq, row)) = stream.waiting.pop_front() {
            let rank = match self.order {
                Order::Forward => -seq,
                Order::Backward => seq,
            };
            self.next.push(Candidate { rank, stream: index, row });
        }
        Ok(())
    }
}

impl Iterator for Merge<'_> {
    type Item = Result<i64>;

    fn next(&mut self) -> Option<Result<i64>> {
        let Candidate { stream, row, .. } = self.next.pop()?;
        Some(self.advance(stream).map(|()| row))
    }
}

impl Stream {
    /// Reads the next chunk.
    fn fill(&mut self, db: &Connection, session: i64, order: Order, chunk: usize) -> Result<()> {
        let mut places = db.prepare_cached(&sql(self.subject.is_some(), order))?;
        let (start, end) = (self.rest.start, self.rest.end);
        let params = (session, self.kind, start, end, column::limit(chunk), self.subject);
        let places = places.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.waiting = places.collect::<Result<_>>()?;
        self.rest = match (self.waiting.back(), order) {
            (Some((last, _)), Order::Forward) if self.waiting.len() == chunk => last + 1..end,
            (Some((last, _)), Order::Backward) if self.waiting.len() == chunk => start..*last,
            _ => start..start,
        };
        Ok(())
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

/// One stream for each wanted pair of type and subject that the session has.
fn streams(db: &Connection, session: i64, wanted: &ResolvedQuery) -> Result<Vec<Stream>> {
    let stream = |kind, subject| Stream { kind, subject, rest: wanted.seqs.clone(), waiting: VecDeque::new() };
    let Some(subjects) = &wanted.subjects else {
        return Ok(wanted.types.iter().flatten().map(|kind| stream(*kind, None)).collect());
    };
    let mut streams = Vec::new();
    for subject in subjects {
        let types = wanted.types.clone().map_or_else(|| types_about(db, session, *subject), Ok)?;
        streams.extend(types.into_iter().map(|kind| stream(kind, Some(*subject))));
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
