//! Reading entries, in the order of their numbers or of their own time, and large values.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash},
    id::{Seq, SessionId},
};

use super::{
    column::{self, ENTRY, short_hash},
    database::{Database, Params},
    sessions::LIVE_SESSION_ID,
};
use crate::{Error, Order, Query, TimeQuery, sql::direction};

/// See [`Store::read`](crate::Store::read).
pub(super) async fn read(database: &Database, session: &SessionId, query: &Query) -> Result<Vec<Entry>, Error> {
    let (start, end) = (column::number(query.seqs.start), column::number(query.seqs.end));
    let (name, test_time, limit) = (session.as_str(), database.test_time(), column::limit(query.limit));
    let (types, subjects) = (hashes(&query.types), hashes(&query.subjects));
    let mut params = vec![&name as &(dyn tokio_postgres::types::ToSql + Sync), &test_time, &start, &end, &limit];
    if !types.is_empty() {
        params.push(&types);
    }
    if !subjects.is_empty() {
        params.push(&subjects);
    }
    database.rows("reading entries", &sql(query), &params, column::entry).await
}

/// See [`Store::read_each`](crate::Store::read_each).
pub(super) async fn read_each(database: &Database, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
    let seqs: Vec<_> = seqs.iter().copied().map(column::number).collect();
    let sql =
        format!("SELECT {ENTRY} FROM entry e WHERE e.session = {LIVE_SESSION_ID} AND e.seq = ANY ($3) ORDER BY e.seq");
    let params: Params<'_> = &[&session.as_str(), &database.test_time(), &seqs];
    database.rows("reading entries", &sql, params, column::entry).await
}

/// The statement for a query: entries of the session named $1 as of the time $2, from number $3 to before $4, at most $5, and
/// the hashes of the types and of the subjects if it names any.
///
/// Each type and subject is one ordered read of an index, and the first $5 of each are merged. So the journal is not
/// scanned. The parts are subqueries with a limit, since the planner could reverse a join.
pub(super) fn sql(query: &Query) -> String {
    let order = direction(query.order);
    let (wanted, about) = match (query.types.is_empty(), query.subjects.is_empty()) {
        (true, true) => {
            return format!(
                "SELECT {ENTRY} FROM entry e WHERE e.session = {LIVE_SESSION_ID} AND e.seq >= $3 AND e.seq < $4
                 ORDER BY e.seq {order} LIMIT $5"
            );
        }
        (false, true) => ("SELECT t.id AS type FROM type t WHERE t.hash = ANY ($6)", ""),
        (true, false) => (TYPES_ABOUT, "AND p.subject = w.subject"),
        (false, false) => (
            "SELECT t.id AS type, s.id AS subject FROM here, type t, subject s
             WHERE t.hash = ANY ($6) AND s.session = here.id AND s.hash = ANY ($7)",
            "AND p.subject = w.subject",
        ),
    };
    format!(
        "WITH RECURSIVE here AS MATERIALIZED (SELECT {LIVE_SESSION_ID} AS id), wanted AS ({wanted}), chosen AS (
             SELECT place.seq FROM here, wanted w, LATERAL (
                 SELECT p.seq FROM entry p
                 WHERE p.session = here.id AND p.type = w.type {about} AND p.seq >= $3 AND p.seq < $4
                 ORDER BY p.seq {order} LIMIT $5
             ) place
             ORDER BY place.seq {order} LIMIT $5
         )
         SELECT {ENTRY} FROM chosen c, LATERAL (
             SELECT * FROM entry e WHERE e.session = (SELECT id FROM here) AND e.seq = c.seq LIMIT 1
         ) e
         ORDER BY e.seq {order}"
    )
}

/// The types of the entries about each subject. They are few: one lookup in the index finds each.
const TYPES_ABOUT: &str = "SELECT s.id AS subject, (
         SELECT p.type FROM entry p WHERE p.session = here.id AND p.subject = s.id ORDER BY p.type LIMIT 1) AS type
     FROM here, subject s WHERE s.session = here.id AND s.hash = ANY ($6)
     UNION ALL
     SELECT w.subject, (
         SELECT p.type FROM entry p WHERE p.session = here.id AND p.subject = w.subject AND p.type > w.type
         ORDER BY p.type LIMIT 1) AS type
     FROM here, wanted w WHERE w.type IS NOT NULL";

fn hashes(texts: &[Arc<str>]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| short_hash(text).to_vec()).collect()
}

/// See [`Store::read_by_time`](crate::Store::read_by_time).
pub(super) async fn read_by_time(
    database: &Database,
    session: &SessionId,
    query: &TimeQuery,
) -> Result<Vec<Entry>, Error> {
    let (low, high) = query.bounds();
    let (subject, kind) = (short_hash(&query.subject), short_hash(&query.kind));
    let (test_time, limit) = (database.test_time(), column::limit(query.limit));
    let (session, subject, kind) = (session.as_str(), &subject[..], &kind[..]);
    let params: Params<'_> = &[&session, &test_time, &subject, &kind, &low.0, &low.1, &high.0, &high.1, &limit];
    database.rows("reading entries by time", &sql_by_time(query.order), params, column::entry).await
}

pub(super) fn sql_by_time(order: Order) -> String {
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

/// See [`Store::value`](crate::Store::value).
pub(super) async fn value(database: &Database, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
    let sql = format!("SELECT v.text FROM value v WHERE v.session = {LIVE_SESSION_ID} AND v.hash = $3");
    let params: Params<'_> = &[&session.as_str(), &database.test_time(), &&hash.0[..]];
    database.first_row("reading a large value", &sql, params, |row| column::text(row, 0)).await
}
