//! Turning errors of Postgres into errors of the store.

use std::sync::Arc;

use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::{Error as Sql, error::SqlState};

use super::address::Address;
use crate::Error;

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum PostgresError {
    /// An error of the server or of the connection.
    Sql(Arc<Sql>),
    /// The pool has no connection.
    NoConnection(PoolError),
    /// There was no answer in time.
    Timeout,
    /// A row cannot be read back.
    Damaged(String),
}

/// An error with advice.
#[derive(Debug, thiserror::Error)]
#[error("{advice}")]
struct Advised {
    advice: String,
    source: Option<Arc<Sql>>,
}

impl From<Sql> for PostgresError {
    fn from(error: Sql) -> Self {
        Self::Sql(Arc::new(error))
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            error => Self::NoConnection(error),
        }
    }
}

impl PostgresError {
    /// The error for the caller of the operation `doing`.
    pub(super) fn during(&self, doing: &'static str, address: &Address) -> Error {
        let error = match self {
            Self::Sql(error) => error,
            Self::NoConnection(error) => return Error::failed(doing, no_connection(error, address)),
            Self::Timeout => {
                let advice = format!("the server at {} did not answer in time: check its load", address.host());
                return Error::failed(doing, Advised { advice, source: None });
            }
            Self::Damaged(detail) => return Error::damaged(address.to_string(), detail.clone()),
        };
        match error.code() {
            Some(&SqlState::DISK_FULL) => Error::Full { doing },
            Some(&(SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED)) => {
                Error::damaged(address.to_string(), words(error))
            }
            _ => Error::failed(doing, Advised { advice: advice(error, address), source: Some(error.clone()) }),
        }
    }

    /// The error for opening the store.
    pub(super) fn opening(self, address: &Address) -> Error {
        let (why, source) = match self {
            Self::Sql(error) => (advice(&error, address), Some(error.into())),
            Self::NoConnection(error) => (no_connection(&error, address), None),
            Self::Timeout => (format!("the server at {} did not answer in time", address.host()), None),
            Self::Damaged(detail) => return Error::damaged(address.to_string(), detail),
        };
        Error::CannotOpen { what: address.to_string(), why, source }
    }

    /// Whether the server refused the statement, and did nothing.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code().is_some() && !is_lost(error))
    }

    /// Whether the connection was lost. The statement may have been done.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Sql(error) if is_lost(error))
    }

    /// Whether the server is still starting. Nothing was done.
    pub(super) fn is_starting(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code() == Some(&SqlState::CANNOT_CONNECT_NOW))
    }
}

fn is_lost(error: &Sql) -> bool {
    match error.code() {
        Some(code) => {
            matches!(*code, SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::IDLE_SESSION_TIMEOUT)
        }
        None => error.is_closed() || is_io(error),
    }
}

/// Whether the network is the reason.
fn is_io(error: &Sql) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

fn no_connection(error: &PoolError, address: &Address) -> String {
    match error {
        PoolError::Timeout(TimeoutType::Wait) => format!(
            "all {} connections were busy for too long: allow more with `connections=` in the URL, or check the load \
             of the server",
            address.connections
        ),
        PoolError::Timeout(_) => format!("the server at {} did not answer in time: is it reachable?", address.host()),
        error => error.to_string(),
    }
}

/// The message of Postgres, without statements and parameters.
fn words(error: &Sql) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |said| said.message().to_owned())
}

/// The message of an error: what went wrong, and what to do.
fn advice(error: &Sql, address: &Address) -> String {
    let (host, said) = (address.host(), words(error));
    let Some(code) = error.code() else { return advice_of_network(error, &host) };
    match *code {
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION if said.contains("no encryption") => format!(
            "the server at {host} requires encryption ({said}): add `sslmode=verify-full` to the URL, or \
             `sslmode=require` if its certificate cannot be verified"
        ),
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => format!(
            "the server at {host} refuses the login of {} ({said}): check user and password in the URL, and \
             pg_hba.conf",
            address.user()
        ),
        SqlState::INVALID_CATALOG_NAME => {
            format!("there is no such database ({said}): create it with `createdb {}`", address.database())
        }
        SqlState::TOO_MANY_CONNECTIONS => format!(
            "the server at {host} has no connection left ({said}): raise its max_connections, or use fewer with \
             `connections=` in the URL"
        ),
        SqlState::CANNOT_CONNECT_NOW => format!("the server at {host} is starting or stopping ({said}): try again"),
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            format!("the server at {host} is read-only ({said}): name the primary in the URL")
        }
        SqlState::INSUFFICIENT_PRIVILEGE => format!(
            "the user {} lacks a permission ({said}): GRANT CREATE ON DATABASE {} TO the user, or name the owner in the \
             URL",
            address.user(),
            address.database()
        ),
        SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => {
            format!("it took too long and was cancelled ({said}): check the load and the locks of the server")
        }
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => {
            format!("the server at {host} ended the connection ({said}); whether it was done is unknown")
        }
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_FUNCTION | SqlState::INVALID_SCHEMA_NAME => {
            format!("the namespace {} has changed since it was opened ({said}): open it again", address.namespace)
        }
        _ => format!("the server at {host} says: {said} ({})", code.code()),
    }
}

fn advice_of_network(error: &Sql, host: &str) -> String {
    if error.is_closed() {
        return format!("the connection to {host} was lost before the answer; whether it was done is unknown");
    }
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        let deep = deeper.to_string();
        if !why.contains(&deep) {
            why = format!("{why}: {deep}");
        }
        source = deeper.source();
    }
    if why.contains("does not support TLS") {
        return format!(
            "the server at {host} does not encrypt: set `ssl = on` there, or leave `sslmode` out of the URL"
        );
    }
    if why.contains("certificate") {
        return format!(
            "the certificate of the server at {host} is not trusted ({why}): name the file with its root certificate \
             with `sslrootcert=`, and use the host name of the certificate"
        );
    }
    format!("no connection with the server at {host} ({why}): is it running, and is the address right?")
}
