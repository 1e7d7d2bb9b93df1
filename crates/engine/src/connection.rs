//! Connections of clients of the Model Context Protocol: what each said when it connected has a record, so that any server goes on with
//! it. The record expires where it is not used.

use callboard_core::{
    entry::{Actor, Head},
    fact,
    id::Seq,
    idempotency::record::{self, Begun},
};
use serde_json::Value;

use crate::{board::Board, error::Error, journal, record::append_to, upkeep::expiry};

/// How long a use of a connection need not be recorded after one was, in seconds.
const INTERVAL_SECONDS: i64 = 60 * 60;
/// How long it is kept after its last use that was recorded, in seconds: a day after any use.
const KEPT_SECONDS: i64 = 24 * 60 * 60 + INTERVAL_SECONDS;

impl Board {
    /// Keeps what a client said when it connected, under the name of its connection, until it has not been used for a day.
    pub async fn keep_connection(&self, name: &str, said: Value) -> Result<(), Error> {
        let (store, settings, record) = (self.store(), self.settings(), record::place_of_connection(name)?);
        let until = expiry::now(&**store, &*settings.clock).await?.plus_seconds(KEPT_SECONDS);
        let begun = Begun::without_request("connection", said)?;
        append_to(store, settings, &record, Head::default(), &Actor::System, &begun, Some(until)).await.map(drop)
    }

    /// Whether there is a connection with this name. To ask is to use it.
    pub async fn use_connection(&self, name: &str) -> Result<bool, Error> {
        let (store, clock) = (self.store(), &*self.settings().clock);
        let record = record::place_of_connection(name)?;
        let Some(row) = store.row(&record).await? else { return Ok(false) };
        if row.last_activity.plus_seconds(INTERVAL_SECONDS) > clock.now() {
            return Ok(true);
        }
        let until = expiry::now(&**store, clock).await?.plus_seconds(KEPT_SECONDS);
        Ok(store.touch(&record, Some(until)).await?.is_some())
    }

    /// What the client said when it connected.
    pub async fn connection(&self, name: &str) -> Result<Option<Value>, Error> {
        let record = record::place_of_connection(name)?;
        let first = journal::entry(&**self.store(), &record, Seq(1)).await?;
        let begun = first.as_ref().map(fact::read::<Begun>).transpose()?;
        Ok(begun.map(|begun| begun.intent))
    }

    /// Ends a connection, at all servers.
    pub async fn forget_connection(&self, name: &str) -> Result<(), Error> {
        self.store().delete(&record::place_of_connection(name)?).await?;
        Ok(())
    }
}
