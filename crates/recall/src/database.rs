//! Databases of what is derived: SQLite files that can be deleted at any time, also while they are in use. What is damaged, or
//! has another form, is made anew.

use std::{os::unix::fs::MetadataExt as _, path::Path, time::Duration};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::Error;

/// The form of a database.
pub(crate) struct DatabaseForm {
    /// Its number. A file of another one is made anew.
    pub(crate) number: i64,
    /// What makes its tables.
    pub(crate) tables: &'static str,
    /// How long its pages are.
    pub(crate) page_bytes: u32,
}

/// Opens the database at `path`, or one in memory, and prepares it. One that is damaged or has another form is made anew.
pub(crate) fn open(
    path: Option<&Path>,
    form: &DatabaseForm,
    prepare: impl Fn(&Transaction<'_>) -> Result<(), Error>,
) -> Result<Connection, Error> {
    let connect = || made(path.map_or_else(Connection::open_in_memory, Connection::open)?, form, &prepare);
    match (connect(), path) {
        (Err(error), Some(path)) if is_of_file(&error) => {
            tracing::warn!(?path, %error, "a file of recall is made anew");
            remove(path)?;
            connect()
        }
        (connection, _) => connection,
    }
}

/// Opens the database at `path` again, at which another file stands than before, or none. Where that fails, it is in memory
/// alone until a file is there.
pub(crate) fn open_again(
    path: &Path,
    form: &DatabaseForm,
    prepare: impl Fn(&Transaction<'_>) -> Result<(), Error>,
) -> Result<Connection, Error> {
    tracing::warn!(?path, "a file of recall was deleted or replaced while it was in use: it is made anew");
    // What SQLite kept beside a file that is gone is not of the next one.
    let is_clear = if identity(path).is_none() { remove(path) } else { Ok(()) };
    is_clear.and_then(|()| open(Some(path), form, &prepare)).or_else(|error| {
        tracing::warn!(?path, %error, "a file of recall cannot be made anew: it is in memory alone");
        open(None, form, &prepare)
    })
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    number: u64,
}

/// Which file is at `path`; `None` where there is none.
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    let file = std::fs::metadata(path).ok()?;
    Some(Identity { device: file.dev(), number: file.ino() })
}

/// A connection to a database with our tables; one without any gets them.
fn made(
    mut connection: Connection,
    form: &DatabaseForm,
    prepare: impl Fn(&Transaction<'_>) -> Result<(), Error>,
) -> Result<Connection, Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "page_size", form.page_bytes)?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if (number, tables) == (0, 0) {
        transaction.execute_batch(form.tables)?;
        transaction.pragma_update(None, "user_version", form.number)?;
    } else if number != form.number {
        let written = form.number;
        return Err(Error::damaged(format!("it has form {number}, and this program writes form {written}")));
    }
    prepare(&transaction)?;
    transaction.commit()?;
    Ok(connection)
}

/// Leaves nothing in the log of a database of what was taken away.
pub(crate) fn forget_old_pages(connection: &Connection) -> Result<(), Error> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
}

/// Whether an error is about what stands in the file, so that another file will do.
pub(crate) fn is_of_file(error: &Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error {
        Error::Damaged { .. } => true,
        Error::File { source } => matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase)),
        Error::Remove { .. } | Error::Stale => false,
    }
}

/// Removes a file with what SQLite keeps beside it.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::Remove { source: error }),
            _ => {}
        }
    }
    Ok(())
}
