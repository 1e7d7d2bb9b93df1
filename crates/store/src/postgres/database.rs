//! The connections of a handle. Each is used by one call at a time, and keeps prepared statements.

use std::{future::Future, sync::Arc, time::Duration};

use callboard_core::time::Timestamp;
use deadpool_postgres::{ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Config, Row, types::ToSql};

use super::{address::Address, error::PostgresError};
use crate::{Clock, Error, server_time::ServerTime};

/// How long a call waits for a free connection.
const WAIT: Duration = Duration::from_secs(30);

/// The timeout of a statement: longer than the timeout that the server itself applies.
const ANSWER: Duration = Duration::from_secs(75);

/// How long calls wait for a server that is starting, and how often they try.
const STARTING: Duration = Duration::from_secs(20);
const RETRY: Duration = Duration::from_millis(100);

/// The parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A namespace, the connections to it, and the time by which its sessions expire.
#[derive(Clone)]
pub(super) struct Database {
    pool: Pool,
    pub(super) address: Address,
    pub(super) time: Arc<ServerTime>,
}

impl Database {
    /// Creates the pool. The first statement connects.
    pub(super) fn new(address: Address, clock: Arc<dyn Clock>) -> Result<Self, Error> {
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
        Ok(Self { pool, address, time: Arc::new(ServerTime::new(clock)) })
    }

    /// The time of a test's clock in milliseconds; `None` for the time of the server.
    pub(super) fn test_time(&self) -> Option<i64> {
        self.time.of_test().map(Timestamp::as_millis)
    }

    /// A connection. It replaces a lost one, and waits for a server that is starting.
    pub(super) async fn connection(&self) -> Result<Object, PostgresError> {
        let began = Instant::now();
        loop {
            match self.pool.get().await.map_err(PostgresError::from) {
                Err(fault) if fault.is_starting() && began.elapsed() < STARTING => sleep(RETRY).await,
                found => return found,
            }
        }
    }

    /// Runs a statement that must not be repeated, and decodes its rows. If it fails, it is unknown whether it was done.
    pub(super) async fn execute_once<T>(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
        decode: impl Fn(&Row) -> Result<T, PostgresError> + Send,
    ) -> Result<Vec<T>, Error> {
        let rows = self.try_query(sql, params).await;
        self.decoded(doing, rows, decode)
    }

    /// Runs a statement that may be repeated, and decodes its rows. It is tried again if the connection was lost.
    pub(super) async fn rows<T>(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
        decode: impl Fn(&Row) -> Result<T, PostgresError> + Send,
    ) -> Result<Vec<T>, Error> {
        let rows = match self.try_query(sql, params).await {
            Err(fault) if fault.is_lost() => self.try_query(sql, params).await,
            rows => rows,
        };
        self.decoded(doing, rows, decode)
    }

    /// The same for the first row alone.
    pub(super) async fn first_row<T>(
        &self,
        doing: &'static str,
        sql: &str,
        params: Params<'_>,
        decode: impl Fn(&Row) -> Result<T, PostgresError> + Send,
    ) -> Result<Option<T>, Error> {
        Ok(self.rows(doing, sql, params, decode).await?.into_iter().next())
    }

    fn decoded<T>(
        &self,
        doing: &'static str,
        rows: Result<Vec<Row>, PostgresError>,
        decode: impl Fn(&Row) -> Result<T, PostgresError>,
    ) -> Result<Vec<T>, Error> {
        let decoded = rows.and_then(|rows| rows.iter().map(decode).collect());
        decoded.map_err(|fault| fault.during(doing, &self.address))
    }

    /// Runs a statement once. If the connection is lost, it is unknown whether it was done.
    pub(super) async fn try_query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, PostgresError> {
        let connection = self.connection().await?;
        let answer =
            with_timeout(async { connection.query(&connection.prepare_cached(sql).await?, params).await }).await;
        if let Err(PostgresError::Timeout) = answer {
            // The next call on this connection would wait as well.
            drop(Object::take(connection));
        }
        answer
    }

    /// Closes the idle connections, and the others when they become idle.
    pub(super) fn close(&self) {
        self.pool.close();
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.address).finish()
    }
}

/// The timeout for a connection: each host may take the time twice, before and after it accepts.
fn connect_timeout(config: &Config) -> Duration {
    let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX);
    config.get_connect_timeout().copied().unwrap_or(WAIT).saturating_mul(2).saturating_mul(hosts)
}

/// Waits for an answer of Postgres with a timeout.
pub(super) async fn with_timeout<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, PostgresError> {
    match timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(PostgresError::Timeout),
    }
}
