//! Converting columns to the types of the program and back.

use std::{str::FromStr, sync::Arc};

use callboard_core::{
    entry::{Head, Tag},
    id::Seq,
    json::text_of,
    time::Timestamp,
};
use rusqlite::{Error, Result, Row, types::Type};

/// An entry's number as SQLite stores it. A number beyond the range of SQLite becomes its greatest.
pub(super) fn number(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// A limit as SQLite takes it.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn seq(row: &Row<'_>, at: usize) -> Result<Seq> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map(Seq).map_err(|_| Error::IntegralValueOutOfRange(at, number))
}

pub(super) fn time(row: &Row<'_>, at: usize) -> Result<Timestamp> {
    Timestamp::from_millis(row.get(at)?).map_err(|error| unreadable(at, error))
}

pub(super) fn optional_time(row: &Row<'_>, at: usize) -> Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(at)?.map(Timestamp::from_millis).transpose().map_err(|error| unreadable(at, error))
}

/// The head in the columns `at` and `at + 1`.
pub(super) fn head(row: &Row<'_>, at: usize) -> Result<Head> {
    Ok(Head { seq: seq(row, at)?, tag: Tag(row.get(at + 1)?) })
}

/// Parses a name.
pub(super) fn parsed<T>(text: &str, at: usize) -> Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    text.parse().map_err(|error| unreadable(at, error))
}

/// The error for a column that cannot be read back.
pub(super) fn unreadable(at: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(at, Type::Text, Box::new(error))
}

/// Keys as a column stores them: a JSON array, or null for none.
pub(super) fn keys_text(keys: &[Arc<str>]) -> Option<String> {
    (!keys.is_empty()).then(|| text_of(keys))
}

pub(super) fn keys(row: &Row<'_>, at: usize) -> Result<Vec<Arc<str>>> {
    match row.get_ref(at)?.as_str_or_null()? {
        Some(text) => serde_json::from_str(text).map_err(|error| unreadable(at, error)),
        None => Ok(Vec::new()),
    }
}
