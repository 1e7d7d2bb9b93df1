//! Converting columns to the types of the program and back.

use std::{str::FromStr, sync::Arc};

use callboard_core::{
    entry::{Head, Tag},
    id::Seq,
    time::Timestamp,
};
use rusqlite::{Error, Result, Row, types::Type};

pub(super) use crate::sql::{audience, audience_text, keys_text, limit, number, short_hash};

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

pub(super) fn keys(row: &Row<'_>, at: usize) -> Result<Vec<Arc<str>>> {
    match row.get_ref(at)?.as_str_or_null()? {
        Some(text) => serde_json::from_str(text).map_err(|error| unreadable(at, error)),
        None => Ok(Vec::new()),
    }
}
