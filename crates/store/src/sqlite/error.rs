//! Turning errors of SQLite into errors of the store.

use std::{path::Path, sync::Arc};

use rusqlite::{Error as Sql, ErrorCode};

use crate::Error;

/// Why a step inside a transaction failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteError {
    /// The store refuses it.
    #[error(transparent)]
    Refused(#[from] Error),
    /// SQLite could not do it.
    #[error(transparent)]
    Sql(#[from] Sql),
}

/// The error for each caller of the operation `doing` whose transaction on the file `path` failed with `error`.
pub(super) fn lost(error: &Arc<Sql>, doing: &'static str, path: &Path) -> Error {
    if is_full(error) {
        Error::Full { doing }
    } else if is_damage(error) {
        Error::damaged(path.display().to_string(), error)
    } else {
        Error::failed(doing, error.clone())
    }
}

/// Whether there was no space left.
pub(super) fn is_full(error: &Sql) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Whether stored data is damaged. A row that cannot be read back is damage.
fn is_damage(error: &Sql) -> bool {
    match error {
        Sql::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        }
        Sql::FromSqlConversionFailure(..)
        | Sql::IntegralValueOutOfRange(..)
        | Sql::InvalidColumnType(..)
        | Sql::QueryReturnedNoRows
        | Sql::Utf8Error(..) => true,
        _ => false,
    }
}
