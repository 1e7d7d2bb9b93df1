//! Journals in a Postgres database, which several servers may share.
//!
//! Each call is one statement, so it takes one round trip and one transaction. Waiting appends share a transaction: the
//! [`sender`] passes them together to a function that the [`schema`] installs. `postgres/schema.sql` describes the tables.

mod address;
mod append;
mod changes;
mod column;
mod database;
mod delete;
mod error;
mod read;
mod schema;
mod sender;
mod server;
mod sessions;
mod snapshots;
#[cfg(test)]
mod tests;
mod tls;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use tokio::{
    sync::{Notify, broadcast},
    task::JoinSet,
};

use self::{address::Address, changes::Changes, column::get, database::Database, sender::Sender};
use crate::{
    Append, Durability, Error, Lease, Query, Row, Settings, Snapshot, Store, TimeQuery, append_batcher::AppendBatcher,
};

/// Keeps journals in a schema of a Postgres database (13 or later, in UTF-8).
///
/// The URL is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the options of libpq that the driver knows, and two
/// more. `namespace=NAME` is the schema (default `callboard`), which is created if it is missing. `connections=N` is the
/// most connections of this handle (default 8), besides one that listens. `sslmode` is as in libpq: `disable` (the
/// default); `require` encrypts without checking the certificate; `verify-ca` checks that a trusted authority issued it;
/// `verify-full` also checks the name of the host. The trusted authorities are in the file `sslrootcert=PATH`, else they
/// are those of the system. A connection pooler in between must keep sessions (`pool_mode = session`), since statements
/// are prepared and one connection listens.
///
/// **Durability** follows from the server's settings, and a server with less than the required durability is refused.
/// [`Durability::Full`] needs `fsync`, `full_page_writes` and `synchronous_commit`, which are on by default. With
/// `synchronous_commit=off` it is [`Durability::Normal`]: a crash of the server may lose the last moments. The URL can ask
/// for that with `options=-c%20synchronous_commit%3Doff`. Without one of the other two it is [`Durability::Process`]. This
/// program never switches one of them off by itself.
///
/// **Time** is the time of the database, the same for all servers, unless [`Settings::clock`] is the clock of a test.
///
/// **Changes** are announced with `NOTIFY`, gathered for a few milliseconds. The store also looks for changes once a
/// second, so that none is missed if a server died or a connection was lost.
///
/// A deleted session cannot be reached any more at once. Its rows are removed afterwards, in slices.
///
/// A lost connection is replaced. A call is then repeated if repeating it is harmless. An append or a deletion is not
/// repeated; it answers [`Error::Failed`] if its outcome is unknown.
#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
    changes: Arc<Changes>,
    dead: Arc<Notify>,
    durability: Durability,
    warnings: Vec<String>,
    last_activity_at_open: Option<Timestamp>,
    batcher: AppendBatcher,
    _tasks: JoinSet<()>,
}

impl PostgresStore {
    /// Connects to the database of `url` and makes the tables. If several servers do so at once, one of them makes them.
    ///
    /// It refuses a schema with tables of another program, or of another version. A refused schema is not changed.
    pub async fn open(url: &str, settings: Settings) -> Result<Self, Error> {
        let Settings { durability, clock, supervisor } = settings;
        let database = Database::new(Address::parse(url)?, clock)?;
        let (durability, warnings) = server::check(&database, durability).await?;
        schema::create(&database).await?;
        let last_activity_at_open = sessions::last_activity(&database).await?;
        let changes = Arc::new(follow_changes(&database).await?);
        let dead = Arc::new(Notify::new());
        let mut tasks = watch::start(&supervisor, &database, &changes, &dead);
        let sender = Sender { database: database.clone(), changes: changes.clone(), supervisor: supervisor.clone() };
        let batcher = AppendBatcher::start(&mut tasks, &supervisor, sender);
        Ok(Self { database, changes, dead, durability, warnings, last_activity_at_open, batcher, _tasks: tasks })
    }
}

/// Starts to follow changes from now on.
async fn follow_changes(database: &Database) -> Result<Changes, Error> {
    let sql = "SELECT nextval('node'), pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
    let changes = |row: &_| Ok(Changes::new(get(row, 0)?, get(row, 1)?));
    let begun = database.first_row("beginning to watch", sql, &[], changes).await?;
    begun.ok_or_else(|| Error::damaged(database.address.to_string(), "a sequence has no next number"))
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
        sessions::now(&self.database).await
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        batch.check_numbers()?;
        self.batcher.append(batch).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        sessions::row(&self.database, session).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        let touched = sessions::touch(&self.database, session, expires_at).await?;
        Ok(touched.map(|(row, change)| {
            self.changes.changed_here(session, change);
            row
        }))
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        read::read(&self.database, session, &query).await
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        read::read_by_time(&self.database, session, &query).await
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        read::read_each(&self.database, session, seqs).await
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        append::find_each(&self.database, session, keys).await
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        read::value(&self.database, session, hash).await
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::list(&self.database, sessions::JOURNALS, after, limit).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::list(&self.database, sessions::SESSIONS, after, limit).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::recent(&self.database, limit).await
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        sessions::lease(&self.database, lease, most).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        let deleted = delete::delete(&self.database, session).await?;
        if let Some(change) = deleted {
            self.changes.changed_here(session, change);
        }
        self.dead.notify_one();
        Ok(deleted.is_some())
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        sessions::expired(&self.database, limit).await
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        sessions::expired_at(&self.database, session).await
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        let gone = delete::remove_expired(&self.database, sessions).await?;
        gone.iter().for_each(|(session, change)| self.changes.changed_here(session, *change));
        self.dead.notify_one();
        Ok(gone.into_iter().map(|(session, _)| session).collect())
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        snapshots::put(&self.database, session, at, &state).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        snapshots::newest(&self.database, session, at).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.changes.watch()
    }
}
