//! What SQLite says, in the words of stores.

use std::{path::Path, sync::Arc};

use rusqlite::{Error as Sql, ErrorCode};

use crate::Error;

/// Why something inside a transaction did not work.
#[derive(Debug)]
pub(super) enum SqliteError {
    /// The store refuses it.
    Refused(Error),
    /// SQLite could not do it.
    Sql(Sql),
}

impl From<Error> for SqliteError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Sql> for SqliteError {
    fn from(error: Sql) -> Self {
        Self::Sql(error)
    }
}

impl SqliteError {
    /// The error that a caller gets, who wanted what `doing` says of the file `path`.
    pub(super) fn during(self, doing: &'static str, path: &Path) -> Error {
        match self {
            Self::Refused(error) => error,
            Self::Sql(error) => lost(&Arc::new(error), doing, path),
        }
    }
}

/// The error that each caller gets whose transaction was lost by the same `error`.
pub(super) fn lost(error: &Arc<Sql>, doing: &'static str, path: &Path) -> Error {
    match kind(error) {
        Kind::Full => Error::Full { doing },
        Kind::Damaged => Error::damaged(path.display().to_string(), error),
        Kind::Other => Error::failed(doing, error.clone()),
    }
}

/// Whether there was no room.
pub(super) fn is_full(error: &Sql) -> bool {
    matches!(kind(error), Kind::Full)
}

/// What can be told apart.
enum Kind {
    Full,
    Damaged,
    Other,
}

/// Which kind of error this is. A row that does not read as what was written is damage.
fn kind(error: &Sql) -> Kind {
    match error {
        Sql::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => Kind::Full,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Kind::Damaged,
            _ => Kind::Other,
        },
        Sql::FromSqlConversionFailure(..)
        | Sql::IntegralValueOutOfRange(..)
        | Sql::InvalidColumnType(..)
        | Sql::QueryReturnedNoRows
        | Sql::Utf8Error(..) => Kind::Damaged,
        _ => Kind::Other,
    }
}
