//! Finding out which sessions other handles changed.
//!
//! Every change is in a stream, with a number that counts up without gaps. A handle that lost its connection continues after
//! the last change that it saw. If it was away for too long, numbers are missing, and it announces every session.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use callboard_core::id::SessionId;
use callboard_tasks::Supervisor;
use tokio::{
    sync::{Notify, broadcast},
    task::JoinSet,
};

use super::{
    client::Client,
    command::{Command, Reply},
    error::RedisFailure,
    sessions,
    transport::Transport,
};
use crate::store::WATCH_CAPACITY;

/// How long the server waits for a change before it answers that there is none.
const WAIT_MILLIS: &str = "5000";

/// How many changes are read at once.
const AT_ONCE: &str = "512";

/// The pause before connecting again.
const RECONNECT: Duration = Duration::from_millis(200);

/// How long after a lost answer our own changes are announced like those of others.
const UNCERTAIN: Duration = Duration::from_secs(120);

/// After how many polls without a change the numbers are checked.
const POLLS_PER_CHECK: u32 = 20;

/// Announces changes to watchers.
#[derive(Clone)]
pub(super) struct Changes {
    sender: broadcast::Sender<SessionId>,
    uncertain_since: Arc<Mutex<Option<Instant>>>,
    watched: Arc<Notify>,
}

impl Changes {
    /// Starts to follow the changes of others. That ends when `tasks` is dropped.
    pub(super) async fn follow(
        tasks: &mut JoinSet<()>,
        client: &Arc<Client>,
        poll: Duration,
        supervisor: &Supervisor,
    ) -> Result<Self, RedisFailure> {
        let sender = broadcast::Sender::new(WATCH_CAPACITY);
        let changes = Self { sender, uncertain_since: Arc::default(), watched: Arc::default() };
        let (client, seen) = (client.clone(), Seen::newest(client).await?);
        let reader = Reader { client, changes: changes.clone(), poll, seen, all: false, empty_polls: 0 };
        let reader = Arc::new(tokio::sync::Mutex::new(reader));
        tasks.spawn(supervisor.keep("Redis changes", move || {
            let reader = reader.clone();
            async move { reader.lock().await.run().await }
        }));
        Ok(changes)
    }

    /// Announces a session that was changed here.
    pub(super) fn announce(&self, session: &SessionId) {
        // Sending fails only if nobody watches.
        let _ = self.sender.send(session.clone());
    }

    /// Announces a session that may have been changed here: the answer was lost. If the change happens later, the stream
    /// has it; so our own changes in it are announced too for a while.
    pub(super) fn maybe_changed(&self, session: &SessionId) {
        *self.uncertain_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.announce(session);
    }

    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        let receiver = self.sender.subscribe();
        self.watched.notify_one();
        receiver
    }
}

/// A change that was seen: its position in the stream, and its number.
#[derive(Debug)]
struct Seen {
    place: String,
    count: i64,
}

impl Seen {
    async fn newest(client: &Client) -> Result<Self, RedisFailure> {
        // In this order, a change in between is seen twice rather than missed.
        let count = count(client).await?;
        let changes = client.layout.shared("changes");
        let newest = Command::new(["XREVRANGE", &changes, "+", "-", "COUNT", "1"]);
        match client.call(&newest).await?.list()?.pop() {
            Some(change) => Change::read(change).map(|change| change.seen),
            None => Ok(Self { place: "0-0".to_owned(), count }),
        }
    }
}

async fn count(client: &Client) -> Result<i64, RedisFailure> {
    match client.call(&Command::new(["GET", &client.layout.shared("count")])).await? {
        Reply::Nothing => Ok(0),
        count => count.number(),
    }
}

/// An item of the stream: sessions that changed together.
struct Change {
    seen: Seen,
    by: String,
    sessions: Vec<SessionId>,
}

impl Change {
    fn read(reply: Reply) -> Result<Self, RedisFailure> {
        let [place, fields] = reply.exactly()?;
        let [_, count, _, by, _, sessions] = fields.exactly()?;
        let sessions = sessions.text()?.split(' ').map(str::parse).collect::<Result<_, _>>();
        let sessions = sessions.map_err(|_| RedisFailure::Unexpected("a change has no session".to_owned()))?;
        let seen = Seen { place: place.text()?, count: count.number()? };
        Ok(Self { seen, by: by.text()?, sessions })
    }
}

/// The task that reads the stream.
struct Reader {
    client: Arc<Client>,
    changes: Changes,
    poll: Duration,
    seen: Seen,
    /// Whether any session may have changed, so that all must be announced.
    all: bool,
    /// How many polls have found no change.
    empty_polls: u32,
}

impl Reader {
    async fn run(&mut self) {
        let mut connection = None;
        loop {
            if !self.client.transport.is_native() && self.changes.sender.receiver_count() == 0 {
                // Every poll costs, so it waits until somebody watches.
                self.changes.watched.notified().await;
                continue;
            }
            if let Err(fault) = self.step(&mut connection).await {
                tracing::debug!(%fault, "cannot read the changes of others; trying again");
                connection = None;
                tokio::time::sleep(RECONNECT).await;
            }
        }
    }

    async fn step(&mut self, connection: &mut Option<Transport>) -> Result<(), RedisFailure> {
        if self.all {
            self.name_all().await?;
        }
        if connection.is_none()
            && let Some(made) = self.client.transport.blocking_connection().await?
        {
            *connection = Some(made);
            self.check_count().await?;
        }
        let (changes, place) = (self.client.layout.shared("changes"), self.seen.place.clone());
        let stream = ["STREAMS", &changes, &place];
        let found = match connection {
            Some(connection) => {
                let words = ["XREAD", "COUNT", AT_ONCE, "BLOCK", WAIT_MILLIS].into_iter().chain(stream);
                connection.call(&Command::new(words)).await?
            }
            None => self.client.call(&Command::new(["XREAD", "COUNT", AT_ONCE].into_iter().chain(stream))).await?,
        };
        if found == Reply::Nothing || found == Reply::List(vec![]) {
            return self.nothing(connection.is_some()).await;
        }
        self.empty_polls = 0;
        for stream in found.list()? {
            let [_, changes] = stream.exactly()?;
            for change in changes.list()? {
                self.take(Change::read(change)?);
            }
        }
        Ok(())
    }

    fn take(&mut self, change: Change) {
        if change.seen.count != self.seen.count.saturating_add(1) {
            self.all = true;
        }
        self.seen = change.seen;
        let ours = change.by == self.client.name;
        if !ours || self.uncertain() {
            change.sessions.iter().for_each(|session| self.changes.announce(session));
        }
    }

    fn uncertain(&self) -> bool {
        let uncertain_since = *self.changes.uncertain_since.lock().unwrap_or_else(PoisonError::into_inner);
        uncertain_since.is_some_and(|since| since.elapsed() < UNCERTAIN)
    }

    async fn nothing(&mut self, waited: bool) -> Result<(), RedisFailure> {
        self.empty_polls += 1;
        if waited || self.empty_polls.is_multiple_of(POLLS_PER_CHECK) {
            self.check_count().await?;
        }
        if !waited {
            tokio::time::sleep(self.poll).await;
        }
        Ok(())
    }

    /// Checks that the numbers did not go back. They do if the server lost data.
    async fn check_count(&mut self) -> Result<(), RedisFailure> {
        if count(&self.client).await? < self.seen.count {
            self.seen = Seen { place: "0-0".to_owned(), count: 0 };
            self.all = true;
        }
        Ok(())
    }

    async fn name_all(&mut self) -> Result<(), RedisFailure> {
        let mut after = None;
        loop {
            let list = self.client.layout.shared("sessions");
            let ids = sessions::ids_behind(&self.client, &list, after.as_ref()).await?;
            let Some(last) = ids.last().cloned() else { break };
            after = Some(last);
            ids.iter().for_each(|id| self.changes.announce(id));
        }
        self.all = false;
        Ok(())
    }
}
