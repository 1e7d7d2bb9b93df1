//! Migrating a namespace to the format of this version.

use tokio_postgres::{Client, GenericClient, error::SqlState};

use super::{
    address::Address,
    append::APPEND,
    database::{Database, with_timeout},
    error::PostgresError,
};
use crate::Error;

/// The migration to each format from the one before. The last is the one that this version reads and writes.
const MIGRATIONS: [&str; 3] =
    [include_str!("migrations/1.sql"), include_str!("migrations/2.sql"), include_str!("migrations/3.sql")];

/// The newest format that this version reads, and the one it writes.
pub(super) const FORMAT: i32 = 3;

/// What is in a namespace.
enum SchemaState {
    /// No table.
    Nothing,
    /// Our tables, in this format.
    Format(i32),
    /// Tables of another program.
    Foreign,
}

/// Creates or migrates the tables. If several servers do so at once, one does it and the others wait.
pub(super) async fn migrate(database: &Database) -> Result<(), Error> {
    let address = database.address();
    let mut connection = database.connection().await.map_err(|fault| fault.opening(address))?;
    let found = look(&connection, address).await.map_err(|fault| fault.opening(address))?;
    if check(found, address)? == FORMAT {
        return probe(&connection, address).await;
    }
    let done = with_timeout(bring_up(&mut connection, address)).await.map_err(|fault| fault.opening(address))?;
    check(done, address).map(drop)
}

/// The format that was found; 0 for an empty schema. An error if the schema must not be touched.
fn check(found: SchemaState, address: &Address) -> Result<i32, Error> {
    match found {
        SchemaState::Nothing => Ok(0),
        SchemaState::Format(format) if format > FORMAT => {
            Err(Error::WrittenByNewer { what: address.to_string(), found: format.into(), known: FORMAT.into() })
        }
        SchemaState::Format(format) => Ok(format),
        SchemaState::Foreign => Err(Error::cannot_open(
            address.to_string(),
            format!("the schema {} has tables of another program: choose another namespace", address.namespace),
        )),
    }
}

/// Refuses functions that have the same format but are not those of this version.
async fn probe(client: &Client, address: &Address) -> Result<(), Error> {
    match client.prepare(APPEND).await {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.code(), Some(&(SqlState::UNDEFINED_FUNCTION | SqlState::UNDEFINED_COLUMN))) => {
            let why = "another version made it, with other functions than this one: `callboard export` its sessions \
                       with that version and import them into another namespace";
            Err(Error::cannot_open(address.to_string(), why))
        }
        Err(error) => Err(PostgresError::from(error).opening(address)),
    }
}

async fn look(client: &Client, address: &Address) -> Result<SchemaState, PostgresError> {
    with_timeout(find(client, address)).await
}

async fn find(client: &impl GenericClient, address: &Address) -> Result<SchemaState, tokio_postgres::Error> {
    let tables = "SELECT count(*), bool_or(relname = 'callboard_format') IS TRUE FROM pg_class
        WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)";
    let tables = client.query_one(tables, &[&address.namespace]).await?;
    Ok(match (tables.try_get::<_, i64>(0)?, tables.try_get(1)?) {
        (0, _) => SchemaState::Nothing,
        (_, false) => SchemaState::Foreign,
        (_, true) => {
            let newest = client.query_one("SELECT coalesce(max(format), 0) FROM callboard_format", &[]).await?;
            SchemaState::Format(newest.try_get(0)?)
        }
    })
}

/// Runs the missing migrations in one transaction. Returns what was found before.
async fn bring_up(client: &mut Client, address: &Address) -> Result<SchemaState, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    // One lock for all namespaces: it is held rarely, and for a moment.
    transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended('callboard migrates', 0))", &[]).await?;
    let found = find(&transaction, address).await?;
    let format = match found {
        SchemaState::Nothing => 0,
        SchemaState::Format(format) => format,
        SchemaState::Foreign => return Ok(found),
    };
    if format == 0 {
        let make = "CREATE TABLE callboard_format (format integer PRIMARY KEY, since timestamptz DEFAULT now())";
        transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS \"{}\"; {make}", address.namespace)).await?;
    }
    let done = usize::try_from(format).unwrap_or(usize::MAX);
    for (migration, number) in MIGRATIONS.iter().zip(1..).skip(done) {
        transaction.batch_execute(migration).await?;
        transaction.execute("INSERT INTO callboard_format (format) VALUES ($1)", &[&number]).await?;
    }
    transaction.commit().await?;
    Ok(found)
}
