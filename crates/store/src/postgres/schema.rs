//! Making the tables and functions of a namespace.

use tokio_postgres::{Client, GenericClient};

use super::{
    address::Address,
    database::{Database, with_timeout},
};
use crate::Error;

/// The format that this version reads and writes.
const FORMAT: i32 = 4;

/// What is in a namespace.
enum SchemaState {
    /// No table.
    Nothing,
    /// Our tables, in this format.
    Format(i32),
    /// Tables of another program.
    Foreign,
}

/// Creates the tables, unless they are there. If several servers do so at once, one does it and the others wait.
pub(super) async fn create(database: &Database) -> Result<(), Error> {
    let address = &database.address;
    let mut connection = database.connection().await.map_err(|fault| fault.opening(address))?;
    let client: &Client = &connection;
    let found = with_timeout(find(client, address)).await.map_err(|fault| fault.opening(address))?;
    let found = match found {
        SchemaState::Nothing => {
            with_timeout(make(&mut connection, address)).await.map_err(|fault| fault.opening(address))?
        }
        found => found,
    };
    match found {
        SchemaState::Nothing => Ok(()),
        SchemaState::Format(format) => Error::check_format(address.to_string(), format.into(), FORMAT.into()),
        SchemaState::Foreign => Err(Error::cannot_open(
            address.to_string(),
            format!("the schema {} has tables of another program: choose another namespace", address.namespace),
        )),
    }
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

/// Makes the tables and functions in one transaction, unless another server has. Returns what was found before.
async fn make(client: &mut Client, address: &Address) -> Result<SchemaState, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    // One lock for all namespaces: it is held rarely, and for a moment.
    transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended('callboard makes', 0))", &[]).await?;
    let found = find(&transaction, address).await?;
    if matches!(found, SchemaState::Nothing) {
        let format = "CREATE TABLE callboard_format (format integer PRIMARY KEY, since timestamptz DEFAULT now())";
        transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS \"{}\"; {format}", address.namespace)).await?;
        transaction.batch_execute(include_str!("schema.sql")).await?;
        transaction.execute("INSERT INTO callboard_format (format) VALUES ($1)", &[&FORMAT]).await?;
        transaction.commit().await?;
    }
    Ok(found)
}
