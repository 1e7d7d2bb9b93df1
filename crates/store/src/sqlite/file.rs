//! Opening the file, and checking that it is ours.

use std::{fs, path::Path, thread, time::Duration};

use rusqlite::{Connection, Error as Sql, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::{Durability, Error};

/// The application id in the header of our files: `Call` in ASCII.
const APPLICATION_ID: i32 = 0x4361_6c6c;

/// The format that this version reads and writes.
const FORMAT: i32 = 4;

/// How long a call waits while another process writes.
pub(super) const BUSY: Duration = Duration::from_secs(10);

/// How many statements a connection keeps prepared: more than there are.
const STATEMENTS: usize = 64;

/// Opens the connection that writes. Creates the file if it is missing.
pub(super) fn open(path: &Path, durability: Durability) -> Result<Connection, Error> {
    make_folder(path)?;
    let db = connect(path, OpenFlags::SQLITE_OPEN_CREATE).map_err(|error| refused(path, error))?;
    check(&db, path)?;
    prepare(&db, durability).map_err(|error| refused(path, error))?;
    Ok(db)
}

/// Opens a connection that only reads, to a file that was opened before.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, Sql> {
    let db = connect(path, OpenFlags::empty())?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

/// Opens the connection that copies the write-ahead log into the file.
pub(super) fn connect_log(path: &Path, durability: Durability) -> Result<Connection, Sql> {
    let db = connect(path, OpenFlags::empty())?;
    flush(&db, durability)?;
    Ok(db)
}

fn connect(path: &Path, or: OpenFlags) -> Result<Connection, Sql> {
    // Each connection is used by one thread at a time, so it needs no lock of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | or;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

fn make_folder(path: &Path) -> Result<(), Error> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| Error::CannotOpen {
        what: path.display().to_string(),
        why: format!("its folder cannot be created: {error}; choose another path, or make the folder writable"),
        source: Some(error.into()),
    })
}

/// Refuses a file of another program or of another version, before anything in it is changed.
fn check(db: &Connection, path: &Path) -> Result<(), Error> {
    // In one transaction: another process may be creating the tables at this moment.
    let identity = db.unchecked_transaction().and_then(|moment| Identity::of(&moment));
    let identity = identity.map_err(|error| refused(path, error))?;
    let what = path.display().to_string();
    if db.is_readonly("main").map_err(|error| refused(path, error))? {
        let why = "it can be read but not written: change its permissions, or choose another path";
        return Err(Error::cannot_open(what, why));
    }
    match identity {
        Identity { application_id: APPLICATION_ID, format, .. } => {
            Error::check_format(what, format.into(), FORMAT.into())
        }
        Identity { application_id: 0, format: 0, tables: 0 } => Ok(()),
        Identity { .. } => Err(Error::cannot_open(what, "it is a database of another program: choose another path")),
    }
}

/// What identifies a database.
struct Identity {
    application_id: i32,
    format: i32,
    tables: i64,
}

impl Identity {
    fn of(db: &Connection) -> Result<Self, Sql> {
        Ok(Self {
            application_id: db.pragma_query_value(None, "application_id", |row| row.get(0))?,
            format: db.pragma_query_value(None, "user_version", |row| row.get(0))?,
            tables: db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?,
        })
    }
}

fn prepare(db: &Connection, durability: Durability) -> Result<(), Sql> {
    use_log(db)?;
    flush(db, durability)?;
    // Deleted data is overwritten.
    db.pragma_update(None, "secure_delete", true)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.pragma_update(None, "cache_size", -16_384)?;
    db.pragma_update(None, "journal_size_limit", 64 << 20)?;
    create_schema(db)
}

/// Sets how often the writes of the connection are flushed.
fn flush(db: &Connection, durability: Durability) -> Result<(), Sql> {
    let full = durability == Durability::Full;
    db.pragma_update(None, "synchronous", if full { "FULL" } else { "NORMAL" })?;
    // These two matter on macOS only, where a plain flush leaves data in the cache of the disk.
    db.pragma_update(None, "fullfsync", full)?;
    db.pragma_update(None, "checkpoint_fullfsync", full)
}

/// Switches to the write-ahead log. SQLite does not wait while other processes do the same, so this does.
fn use_log(db: &Connection) -> Result<(), Sql> {
    let pause = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        match db.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < BUSY => {
                thread::sleep(pause);
                waited += pause;
            }
            done => return done,
        }
    }
}

/// Creates the tables, unless they are there.
fn create_schema(db: &Connection) -> Result<(), Sql> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    if Identity::of(&transaction)?.tables == 0 {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

/// The error for a file that cannot be opened.
fn refused(path: &Path, error: Sql) -> Error {
    let why = match error.sqlite_error_code() {
        _ if path.is_dir() => "it is a folder: name a file".to_owned(),
        Some(ErrorCode::NotADatabase) => "it is not a database: choose another path".to_owned(),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            "it or its folder cannot be read and written: change their permissions, or choose another path".to_owned()
        }
        Some(ErrorCode::DatabaseBusy) => {
            "another process is writing to it and does not finish: try again, or end that process".to_owned()
        }
        Some(ErrorCode::DiskFull) => "there is no space left for it: free some, then try again".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => "it is damaged: restore it from a copy".to_owned(),
        _ => error.to_string(),
    };
    Error::CannotOpen { what: path.display().to_string(), why, source: Some(error.into()) }
}
