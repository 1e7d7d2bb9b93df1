//! Journals in a Postgres database, which several servers may share.
//!
//! Each call is one statement, so each is one round trip and one transaction. Appends that wait share one: the [`sender`]
//! sends them together to a function that the [`schema`] installs. What the rows mean is told in
//! `postgres/migrations/1.sql`.

mod address;
mod append;
mod changes;
mod column;
mod database;
mod delete;
mod error;
mod read;
mod read_by_time;
mod schema;
mod sender;
mod server;
mod sessions;
mod snapshots;
#[cfg(test)]
mod tests;
mod tls;
mod values;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use tokio::sync::{Notify, broadcast};

use self::{
    address::Address, changes::Changes, column::get, database::Database, error::PostgresError, sender::Sender,
    watch::Tasks,
};
use crate::{
    Append, Clock, Durability, Error, Lease, Query, Row, Settings, Snapshot, Store, TimeQuery,
    append_batcher::AppendBatcher, clock::ServerTime,
};

/// Keeps journals in a schema of a Postgres database (13 or later, in UTF-8).
///
/// The URL is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the options of libpq that the driver knows, and two
/// more: `namespace=NAME` is the schema, `callboard` where it is left out, which is made where it is missing;
/// `connections=N` is how many connections this handle has at most, 8 where it is left out, besides one that listens.
/// `sslmode` is that of libpq: `disable`, as where it is left out; `require` encrypts and trusts whoever answers;
/// `verify-ca` asks for a certificate that somebody vouches for, `verify-full` for one of this host too. Who may vouch
/// stands in the file `sslrootcert=PATH`, else the system knows it. A pooler between must keep sessions
/// (`pool_mode = session`), since statements are prepared and one connection listens.
///
/// **Durability** is what the server's settings give, and a server that gives less than is asked is refused:
/// [`Durability::Full`] with `fsync`, `full_page_writes` and `synchronous_commit` on, as they are unless somebody
/// switched them off; [`Durability::Normal`] with `synchronous_commit=off`, which a URL may ask for by
/// `options=-c%20synchronous_commit%3Doff`: then the end of this process harms nothing, but the end of the server may
/// take the last moments with it; [`Durability::Process`] without one of the others. This program never switches one
/// off by itself.
///
/// **Time** is that of the database, the same for all servers, unless [`Settings::clock`] is a clock of a test.
///
/// **Changes** are told by `NOTIFY`, gathered for a few milliseconds, and looked for once a second, so that one is found
/// also if whoever made it died, or a connection was lost.
///
/// A session that is deleted is out of reach at once. Its rows are removed right after, in slices.
///
/// A connection that was lost is made again. Calls that change nothing, or the same twice, are then tried again; an
/// append or a deletion is not, and answers [`Error::Failed`] where it is unknown whether it was done.
#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
    changes: Arc<Changes>,
    dead: Arc<Notify>,
    durability: Durability,
    warnings: Vec<String>,
    clock: Arc<dyn Clock>,
    time: ServerTime,
    last_activity_at_open: Option<Timestamp>,
    batcher: AppendBatcher,
    _tasks: Tasks,
}

impl PostgresStore {
    /// Connects to what `url` names and brings the schema up to date. Where several do so at once, one does it.
    ///
    /// A schema with tables of another program is refused and stays as it is, and so is one that was written by a newer
    /// version ([`Error::WrittenByNewer`]).
    pub async fn open(url: &str, settings: Settings) -> Result<Self, Error> {
        let Settings { durability, clock, supervisor } = settings;
        let database = Database::new(Address::parse(url)?)?;
        let (durability, warnings) = server::check(&database, durability).await?;
        schema::migrate(&database).await?;
        let last_activity_at_open = sessions::last_activity(&database).await?;
        let changes = Arc::new(begin(&database).await?);
        let dead = Arc::new(Notify::new());
        let mut tasks = Tasks::start(&supervisor, &database, &changes, &dead);
        let writer = Sender { database: database.clone(), changes: changes.clone(), clock: clock.clone() };
        let batcher = AppendBatcher::start(&mut tasks.0, &supervisor, writer);
        let time = ServerTime::default();
        Ok(Self {
            database,
            changes,
            dead,
            durability,
            warnings,
            clock,
            time,
            last_activity_at_open,
            batcher,
            _tasks: tasks,
        })
    }

    /// What the clock of a test says; nothing where the database knows the time.
    fn test_time(&self) -> Option<i64> {
        test_time(&*self.clock)
    }
}

fn test_time(clock: &dyn Clock) -> Option<i64> {
    (!clock.is_system()).then(|| clock.now().as_millis())
}

/// The changes from now on.
async fn begin(database: &Database) -> Result<Changes, Error> {
    let doing = "beginning to watch";
    let sql = "SELECT nextval('node'), pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
    let rows = database.query(doing, sql, &[]).await?;
    let begun = rows.first().map(|row| Ok(Changes::new(get(row, 0)?, get(row, 1)?)));
    let begun = begun.unwrap_or_else(|| Err(PostgresError::Damaged("a sequence has no next number".to_owned())));
    begun.map_err(|fault| fault.during(doing, database.address()))
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.database.close();
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn durability(&self) -> Durability {
        self.durability
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn last_activity_at_open(&self) -> Option<Timestamp> {
        self.last_activity_at_open
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        if !self.clock.is_system() {
            return Ok(self.clock.now());
        }
        self.time.now(sessions::now(&self.database)).await
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        batch.check_numbers()?;
        self.batcher.append(batch).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        sessions::row(&self.database, self.test_time(), session).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        let touched = sessions::touch(&self.database, self.test_time(), session, expires_at).await?;
        Ok(touched.map(|(row, change)| {
            self.changes.changed_here(session, change);
            row
        }))
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        read::read(&self.database, self.test_time(), session, &query).await
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        read_by_time::read(&self.database, self.test_time(), session, &query).await
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        read::read_each(&self.database, self.test_time(), session, seqs).await
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        append::find_each(&self.database, self.test_time(), session, keys).await
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        values::find(&self.database, self.test_time(), session, hash).await
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::list(&self.database, sessions::JOURNALS, self.test_time(), after, limit).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::list(&self.database, sessions::SESSIONS, self.test_time(), after, limit).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::recent(&self.database, self.test_time(), limit).await
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        sessions::lease(&self.database, self.test_time(), lease, most).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        let deleted = delete::delete(&self.database, self.test_time(), session).await?;
        if let Some(change) = deleted {
            self.changes.changed_here(session, change);
        }
        self.dead.notify_one();
        Ok(deleted.is_some())
    }

    async fn sweep(&self, limit: usize) -> Result<Vec<SessionId>, Error> {
        let swept = delete::sweep(&self.database, self.test_time(), limit).await?;
        swept.iter().for_each(|(session, change)| self.changes.changed_here(session, *change));
        self.dead.notify_one();
        Ok(swept.into_iter().map(|(session, _)| session).collect())
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        snapshots::put(&self.database, self.test_time(), session, at, &state).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        snapshots::newest(&self.database, self.test_time(), session, at).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.changes.watch()
    }
}
