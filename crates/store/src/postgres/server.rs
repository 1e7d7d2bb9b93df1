//! Checking the server: its version, and the durability that its settings give.

use super::{address::Address, column::get, database::Database, error::PostgresError};
use crate::{Durability, Error};

/// The oldest supported version.
const OLDEST: i32 = 130_000;

const ASK: &str = "SELECT current_setting('server_version_num')::integer, current_setting('transaction_read_only'),
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    current_setting('server_encoding')";

/// The settings of the server that matter.
struct Settings {
    version: i32,
    read_only: bool,
    fsync: bool,
    full_page_writes: bool,
    synchronous_commit: bool,
    encoding: String,
}

/// Checks the server. Returns its durability, which must be at least `asked`, and warnings.
pub(super) async fn check(database: &Database, asked: Durability) -> Result<(Durability, Vec<String>), Error> {
    let address = &database.address;
    let settings = ask(database).await.map_err(|fault| fault.opening(address))?;
    judge(&settings, address, asked)
}

/// The durability and the warnings of a server with these settings; an error if it cannot be used.
fn judge(settings: &Settings, address: &Address, asked: Durability) -> Result<(Durability, Vec<String>), Error> {
    let refuse = |why: String| Err(Error::cannot_open(address.to_string(), why));
    if settings.version < OLDEST {
        return refuse(format!("the server at {} is older than Postgres 13: update it", address.host()));
    }
    if settings.read_only {
        return refuse(format!("the server at {} is read-only: name the primary in the URL", address.host()));
    }
    if settings.encoding != "UTF8" {
        let (database, encoding) = (address.database(), &settings.encoding);
        return refuse(format!(
            "the database {database} has the encoding {encoding}: create one with `createdb -E UTF8 -T template0`"
        ));
    }
    let given = settings.durability();
    if given < asked {
        return refuse(format!(
            "the settings of the server at {} give less durability than `{}` ({}): switch them on in postgresql.conf \
             and reload it, or ask for less",
            address.host(),
            asked.name(),
            settings.weak().join(", ")
        ));
    }
    Ok((given, settings.warning(address).into_iter().collect()))
}

async fn ask(database: &Database) -> Result<Settings, PostgresError> {
    let connection = database.connection().await?;
    let row = super::database::with_timeout(connection.query_one(ASK, &[])).await?;
    let on = |at| Ok::<_, PostgresError>(get::<&str>(&row, at)? == "on");
    Ok(Settings {
        version: get(&row, 0)?,
        read_only: on(1)?,
        fsync: on(2)?,
        full_page_writes: on(3)?,
        synchronous_commit: get::<&str>(&row, 4)? != "off",
        encoding: get(&row, 5)?,
    })
}

impl Settings {
    fn durability(&self) -> Durability {
        match (self.fsync && self.full_page_writes, self.synchronous_commit) {
            (true, true) => Durability::Full,
            (true, false) => Durability::Normal,
            // A loss of power may take all of it, not only the last moments.
            (false, _) => Durability::Process,
        }
    }

    /// The warning about settings that give less durability than possible.
    fn warning(&self, address: &Address) -> Option<String> {
        let weak = self.weak().join(", ");
        let lost = if self.fsync && self.full_page_writes { "the last moments are" } else { "everything may be" };
        (!weak.is_empty()).then(|| {
            format!(
                "{lost} lost with a crash or a loss of power of the server at {} ({weak}): where that matters, switch \
                 it on in postgresql.conf, for the role, or in the URL's options",
                address.host()
            )
        })
    }

    /// The settings that reduce the durability.
    fn weak(&self) -> Vec<&'static str> {
        let settings = [
            (self.fsync, "fsync=off"),
            (self.full_page_writes, "full_page_writes=off"),
            (self.synchronous_commit, "synchronous_commit=off"),
        ];
        settings.into_iter().filter(|(strong, _)| !strong).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(settings: &Settings) -> Result<(Durability, Vec<String>), String> {
        let address = Address::parse("postgres://db.example/board").unwrap();
        judge(settings, &address, Durability::Full).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_that_is_too_old_is_refused_in_words() {
        let settings = |version| Settings {
            version,
            read_only: false,
            fsync: true,
            full_page_writes: true,
            synchronous_commit: true,
            encoding: "UTF8".to_owned(),
        };
        assert_eq!(judged(&settings(130_000)), Ok((Durability::Full, vec![])));
        let why = judged(&settings(120_022)).unwrap_err();
        assert!(why.contains("the server at db.example:5432 is older than Postgres 13: update it"), "{why}");
    }
}
