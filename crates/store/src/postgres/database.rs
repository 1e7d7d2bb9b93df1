//! The connections of a handle: a few, each used by one call at a time, with its statements prepared.

use std::{future::Future, time::Duration};

use deadpool_postgres::{ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Config, Row, types::ToSql};

use super::{address::Address, error::PostgresError};
use crate::Error;

/// How long a call waits for a connection that others use.
const WAIT: Duration = Duration::from_secs(30);

/// How long a call waits for its answer: more than the server takes before it gives up by itself.
const ANSWER: Duration = Duration::from_secs(75);

/// How long a server may take to come up again while calls wait for it, and how often they look.
const STARTING: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a statement is given.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A namespace and the connections to it.
#[derive(Clone)]
pub(super) struct Database {
    pool: Pool,
    address: Address,
}

impl Database {
    /// Connects when it is first asked something.
    pub(super) fn new(address: Address) -> Result<Self, Error> {
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let (config, tls) = (address.config.clone(), address.tls.clone());
        let manager = deadpool_postgres::Manager::from_config(config, tls, settings);
        let pool = Pool::builder(manager)
            .max_size(address.connections)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(connect_timeout(&address.config)))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Error::cannot_open(address.to_string(), error.to_string()))?;
        Ok(Self { pool, address })
    }

    /// Where it is.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// A connection. One that is lost is replaced, and a server that is coming up again is waited for.
    pub(super) async fn connection(&self) -> Result<Object, PostgresError> {
        let began = Instant::now();
        loop {
            match self.pool.get().await.map_err(PostgresError::from) {
                Err(fault) if fault.is_starting() && began.elapsed() < STARTING => sleep(LOOK_AGAIN).await,
                found => return found,
            }
        }
    }

    /// What a statement finds that must not be done twice. Where it fails, it is unknown whether it was done.
    pub(super) async fn execute_once(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, Error> {
        self.try_query(sql, params).await.map_err(|fault| fault.during(doing, &self.address))
    }

    /// What a statement finds that may be done twice: it is tried again where the connection was lost.
    pub(super) async fn query(&self, doing: &'static str, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Error> {
        let answer = match self.try_query(sql, params).await {
            Err(fault) if fault.is_lost() => self.try_query(sql, params).await,
            answer => answer,
        };
        answer.map_err(|fault| fault.during(doing, &self.address))
    }

    /// What a statement finds, tried once. Where the connection is lost, it is unknown whether it was done.
    pub(super) async fn try_query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, PostgresError> {
        let connection = self.connection().await?;
        let answer =
            with_timeout(async { connection.query(&connection.prepare_cached(sql).await?, params).await }).await;
        if let Err(PostgresError::Timeout) = answer {
            // Whoever used it next would wait as well.
            drop(Object::take(connection));
        }
        answer
    }

    /// Closes the connections that nobody uses, and the others when they are given back.
    pub(super) fn close(&self) {
        self.pool.close();
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.address).finish()
    }
}

/// How long a connection may take to make: each host may be silent before it is connected, and after.
fn connect_timeout(config: &Config) -> Duration {
    let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX);
    config.get_connect_timeout().copied().unwrap_or(WAIT).saturating_mul(2).saturating_mul(hosts)
}

/// What Postgres answers, unless it does not.
pub(super) async fn with_timeout<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, PostgresError> {
    match timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(PostgresError::Timeout),
    }
}
