//! Converting columns to the types of the program and back.

use std::{fmt::Display, str::FromStr, sync::Arc};

use callboard_core::{
    audience::Audience,
    entry::{Entry, Head, Header, Tag},
    id::Seq,
    time::Timestamp,
};
use tokio_postgres::{Row as Columns, types::FromSql};

use super::error::PostgresError;
pub(super) use crate::sql::{audience_text, keys_text, limit, number, short_hash};
use crate::{Row, sql::audience};

/// The columns that [`entry`] reads, where `e` is the table `entry`.
pub(super) const ENTRY: &str = "e.seq, e.v, e.at, e.actor, (SELECT t.name FROM type t WHERE t.id = e.type), \
     (SELECT s.text FROM subject s WHERE s.session = e.session AND s.id = e.subject), \
     e.audience, e.time, e.keys, e.nonce, e.tag, e.data";

/// Reads a column.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Columns, at: usize) -> Result<T, PostgresError> {
    row.try_get(at).map_err(|error| unreadable(at, error))
}

pub(super) fn seq(row: &Columns, at: usize) -> Result<Seq, PostgresError> {
    u64::try_from(get::<i64>(row, at)?).map(Seq).map_err(|error| unreadable(at, error))
}

pub(super) fn time(row: &Columns, at: usize) -> Result<Timestamp, PostgresError> {
    Timestamp::from_millis(get(row, at)?).map_err(|error| unreadable(at, error))
}

pub(super) fn optional_time(row: &Columns, at: usize) -> Result<Option<Timestamp>, PostgresError> {
    get::<Option<i64>>(row, at)?.map(Timestamp::from_millis).transpose().map_err(|error| unreadable(at, error))
}

/// The head in the columns `at` and `at + 1`.
pub(super) fn head(row: &Columns, at: usize) -> Result<Head, PostgresError> {
    Ok(Head { seq: seq(row, at)?, tag: tag(row, at + 1)? })
}

fn tag(row: &Columns, at: usize) -> Result<Tag, PostgresError> {
    <[u8; 16]>::try_from(get::<&[u8]>(row, at)?).map(Tag).map_err(|error| unreadable(at, error))
}

/// The row of a session in four columns: number and tag of the head, expiry, last activity.
pub(super) fn row(row: &Columns, at: usize) -> Result<Row, PostgresError> {
    Ok(Row { head: head(row, at)?, expires_at: optional_time(row, at + 2)?, last_activity: time(row, at + 3)? })
}

/// Parses a name.
pub(super) fn parsed<T: FromStr<Err: Display>>(row: &Columns, at: usize) -> Result<T, PostgresError> {
    get::<&str>(row, at)?.parse().map_err(|error| unreadable(at, error))
}

/// A text that is stored as bytes.
pub(super) fn text(row: &Columns, at: usize) -> Result<Arc<str>, PostgresError> {
    std::str::from_utf8(get(row, at)?).map(Arc::from).map_err(|error| unreadable(at, error))
}

/// The entry in the columns [`ENTRY`].
pub(super) fn entry(row: &Columns) -> Result<Entry, PostgresError> {
    let header = Header {
        seq: seq(row, 0)?,
        v: u16::try_from(get::<i32>(row, 1)?).map_err(|error| unreadable(1, error))?,
        at: time(row, 2)?,
        by: parsed(row, 3)?,
        kind: text(row, 4)?,
        subject: text(row, 5)?,
        audience: get::<Option<&str>>(row, 6)?
            .map_or(Ok(Audience::All), audience)
            .map_err(|error| unreadable(6, error))?,
        time: optional_time(row, 7)?,
        keys: get::<Option<&str>>(row, 8)?.map_or(Ok(Vec::new()), keys)?,
        nonce: get::<Option<i64>>(row, 9)?.map(u32::try_from).transpose().map_err(|error| unreadable(9, error))?,
    };
    Ok(Entry { header, tag: tag(row, 10)?, data: text(row, 11)? })
}

fn keys(text: &str) -> Result<Vec<Arc<str>>, PostgresError> {
    serde_json::from_str(text).map_err(|error| unreadable(8, error))
}

/// The error for a column that cannot be read back.
fn unreadable(at: usize, error: impl Display) -> PostgresError {
    PostgresError::Damaged(format!("column {at} of a row cannot be read: {error}"))
}
