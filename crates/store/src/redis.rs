//! Journals in Redis, which several servers may share: over its own protocol, or over REST as offered by Vercel KV and
//! Upstash.
//!
//! Each change of a session is one script that the server executes (see [`script`]). [`layout`] describes the keys. Both
//! protocols use the same scripts and keys.

mod address;
mod append;
mod changes;
mod client;
mod command;
mod entry;
mod error;
mod layout;
mod read;
mod rest;
mod script;
mod server;
mod sessions;
mod snapshots;
mod transport;

use std::{collections::BTreeSet, fmt, sync::Arc};

use async_trait::async_trait;
use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use tokio::{sync::broadcast, task::JoinSet};

use self::{
    address::Address,
    changes::Changes,
    client::Client,
    command::Reply,
    error::RedisFailure,
    sessions::{AT_ONCE, expiry},
};
use crate::{
    Append, Durability, Error, Lease, Query, Row, Settings, Snapshot, Store, TimeQuery, append_batcher::AppendBatcher,
};

/// Keeps journals in Redis 7 or newer. In a cluster the URL may name any node.
///
/// A namespace is in one slot, and so on one node of a cluster: a script changes a session and the lists of all sessions
/// together, and one script cannot change keys on several nodes. Several namespaces spread over the cluster.
///
/// Durability follows from the server's settings. `appendonly yes` with `appendfsync always` is [`Durability::Full`].
/// `appendonly yes` alone is [`Durability::Normal`], since the server hands each write to the system before it answers.
/// Otherwise it is [`Durability::Process`], since data is lost with the server. A server with less than the required
/// durability is refused. Over REST the settings cannot be read: `Normal` is assumed, unless the URL says what the provider
/// promises. A replica that takes over after a failure may lack the last moments, whatever the settings; tags show that
/// a journal went back.
///
/// Sessions expire by the clock of the server, unless [`Settings::clock`] is the clock of a test. If nobody sweeps an
/// expired session, the server itself removes it after a day.
///
/// The URL is `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://…` with TLS, or
/// `redis-rest+https://TOKEN@HOST`. Its options after `?` are: `namespace`, the prefix of all keys (default `callboard`);
/// `durability`, which is `process`, `normal` or `full`: the required one, or over REST the one that the provider promises;
/// `allow_eviction=true`, which accepts a server that drops data when its memory is full; `token_file`, a file with the
/// token; and `poll_ms`, how often to look over REST for changes by others while somebody watches.
pub struct RedisStore {
    client: Arc<Client>,
    changes: Changes,
    durability: Durability,
    warnings: Vec<String>,
    last_activity_at_open: Option<Timestamp>,
    shown: String,
    batcher: AppendBatcher,
    _tasks: JoinSet<()>,
}

impl RedisStore {
    /// Opens the namespace that `url` names.
    pub async fn open(url: &str, settings: Settings) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let unusable = |fault| server::unusable(&address, fault);
        let client = Arc::new(Client::open(&address, settings.clock).await.map_err(unusable)?);
        let (durability, warnings) = server::check(&client, &address, settings.durability).await?;
        server::check_format(&client, &address).await?;
        let last_activity_at_open = sessions::last_activity(&client).await.map_err(unusable)?;
        let mut tasks = JoinSet::new();
        let changes = Changes::follow(&mut tasks, &client, address.options.poll, &settings.supervisor).await;
        let changes = changes.map_err(unusable)?;
        let batcher = AppendBatcher::start(&mut tasks, &settings.supervisor, append::Sender(client.clone()));
        let shown = address.shown();
        Ok(Self { client, changes, durability, warnings, last_activity_at_open, shown, batcher, _tasks: tasks })
    }

    /// Announces the session if it was changed, or notes that this is uncertain.
    fn changed<T>(&self, session: &SessionId, outcome: Result<T, Error>, did: fn(&T) -> bool) -> Result<T, Error> {
        match &outcome {
            Ok(answer) if did(answer) => self.changes.announce(session),
            Err(Error::Failed { .. } | Error::Damaged { .. }) => self.changes.maybe_changed(session),
            Ok(_) | Err(_) => {}
        }
        outcome
    }

    async fn list(&self, list: &str, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::list(&self.client, list, after, limit).await.map_err(|fault| fault.during("listing sessions"))
    }

    /// The values of these fields of a journal; empty if there is no session.
    async fn fields(&self, session: &SessionId, names: Vec<String>) -> Result<Vec<Reply>, RedisFailure> {
        self.client.run(&script::FIELDS, session, names.into_iter().map(Into::into).collect()).await?.list()
    }
}

#[async_trait]
impl Store for RedisStore {
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
        self.client.now().await.map_err(|fault| fault.during("asking for the time"))
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        batch.check_numbers()?;
        let session = batch.session.clone();
        let outcome = self.batcher.append(batch).await;
        self.changed(&session, outcome, |()| true)
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        let row = self.client.run(&script::ROW, session, vec![]).await.and_then(sessions::row);
        row.map_err(|fault| fault.during("looking for a session"))
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        let row =
            self.client.run(&script::TOUCH, session, vec![expiry(expires_at).into()]).await.and_then(sessions::row);
        self.changed(session, row.map_err(|fault| fault.during("touching a session")), Option::is_some)
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        read::read(&self.client, session, &query).await.map_err(|fault| fault.during("reading entries"))
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        read::read_by_time(&self.client, session, &query).await.map_err(|fault| fault.during("reading entries by time"))
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        let seqs: Vec<_> = seqs.iter().collect::<BTreeSet<_>>().into_iter().map(Seq::to_string).collect();
        let mut entries = Vec::with_capacity(seqs.len());
        for some in seqs.chunks(ENTRIES_AT_ONCE) {
            let found = self.fields(session, some.to_vec()).await.and_then(|found| {
                found.into_iter().filter(|reply| *reply != Reply::Nothing).map(read::read_entry).collect()
            });
            let found: Vec<_> = found.map_err(|fault| fault.during("reading entries"))?;
            entries.extend(found);
        }
        Ok(entries)
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        let names = keys.iter().map(|key| format!("{}{key}", layout::CLAIM)).collect();
        let found = self.fields(session, names).await.and_then(|found| found.into_iter().map(claimed_by).collect());
        let found: Vec<_> = found.map_err(|fault| fault.during("looking for keys"))?;
        Ok(if found.is_empty() { vec![None; keys.len()] } else { found })
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        let found = self.fields(session, vec![format!("{}{hash}", layout::VALUE)]).await;
        let found = found.and_then(|found| found.into_iter().next().unwrap_or(Reply::Nothing).some_text());
        found.map(|text| text.map(Into::into)).map_err(|fault| fault.during("reading a large value"))
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.list(&self.client.layout.shared("sessions"), after, limit).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.list(&self.client.layout.shared("listed"), after, limit).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        sessions::recent(&self.client, limit).await.map_err(|fault| fault.during("listing sessions"))
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        sessions::lease(&self.client, lease, most).await.map_err(|fault| fault.during("taking leases"))
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        let gone = self.client.run(&script::DELETE, session, vec![]).await.and_then(Reply::number);
        let gone = gone.map(|gone| gone == 1).map_err(|fault| fault.during("deleting a session"));
        self.changed(session, gone, |gone| *gone)
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        sessions::expired(&self.client, limit).await.map_err(|fault| fault.during("looking for what has expired"))
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        let expired = sessions::expired_at(&self.client, session).await;
        expired.map_err(|fault| fault.during("looking for an expired session"))
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        let mut gone = Vec::new();
        for some in sessions.chunks(AT_ONCE) {
            // The script removes each from the list of those that expire, or moves it in the list.
            let answers = self.client.run_each(&script::SWEEP, some).await;
            let answers = answers.unwrap_or_else(|fault| vec![Err(fault); some.len()]);
            let mut failed = None;
            for (id, answer) in some.iter().zip(answers) {
                let is_gone = answer.and_then(Reply::number).map(|gone| gone == 1);
                let is_gone = is_gone.map_err(|fault| fault.during("removing expired sessions"));
                match self.changed(id, is_gone, |gone| *gone) {
                    Ok(true) => gone.push(id.clone()),
                    Ok(false) => {}
                    Err(error) => failed = Some(error),
                }
            }
            match failed {
                Some(error) if gone.is_empty() => return Err(error),
                // Those that are gone are returned. The next sweep meets the error again.
                Some(_) => break,
                None => {}
            }
        }
        Ok(gone)
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        snapshots::put(&self.client, session, at, &state).await.map_err(|fault| fault.during("keeping a snapshot"))
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        snapshots::newest(&self.client, session, at).await.map_err(|fault| fault.during("reading a snapshot"))
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.changes.watch()
    }
}

/// How many entries are read by number at once: few enough for services over HTTP.
const ENTRIES_AT_ONCE: usize = 64;

/// The entry that claimed a key, if there is one.
fn claimed_by(reply: Reply) -> Result<Option<Seq>, RedisFailure> {
    match reply {
        Reply::Nothing => Ok(None),
        seq => seq.number().map(|seq| Some(Seq(seq.unsigned_abs()))),
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("at", &self.shown).field("durability", &self.durability).finish()
    }
}
