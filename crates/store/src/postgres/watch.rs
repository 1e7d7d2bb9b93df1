//! The tasks behind a handle: one listens, one tells, one removes the rows of sessions that were deleted.

use std::{future::poll_fn, sync::Arc, time::Duration};

use callboard_tasks::Supervisor;
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket, tls::MakeTlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;
use tracing::{debug, warn};

use super::{address::Address, changes::Changes, database::Database, delete};

/// How often it is looked for changes that no notification told of: their node may have died.
const POLL: Duration = Duration::from_secs(1);

/// How long a look may take before the connection is taken for lost.
const POLL_TIMEOUT: Duration = Duration::from_secs(20);

/// How long to wait before connecting again; each time twice as long.
const RECONNECT: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// How long changes gather before others are told of them together.
const GATHER: Duration = Duration::from_millis(5);

/// How often rows of sessions that others deleted are looked for.
const RECLAIM: Duration = Duration::from_secs(60);

/// A stream that can be encrypted.
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The tasks of one handle, which end with it.
#[derive(Debug)]
pub(super) struct Tasks(pub(super) JoinSet<()>);

impl Tasks {
    /// Starts them. `dead` says that sessions were deleted here.
    pub(super) fn start(
        supervisor: &Supervisor,
        database: &Database,
        changes: &Arc<Changes>,
        dead: &Arc<Notify>,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let (address, heard) = (database.address().clone(), changes.clone());
        tasks.spawn(supervisor.keep("Postgres listener", move || listen(address.clone(), heard.clone())));
        let (others, told) = (database.clone(), changes.clone());
        tasks.spawn(supervisor.keep("Postgres notifier", move || send_notifications(others.clone(), told.clone())));
        let (rows, dead) = (database.clone(), dead.clone());
        tasks.spawn(supervisor.keep("Postgres deletion", move || reclaim(rows.clone(), dead.clone())));
        Self(tasks)
    }
}

/// Hears what other nodes say, and looks for what they did not. A connection that is lost is made again.
async fn listen(address: Address, changes: Arc<Changes>) {
    let [first, longest] = RECONNECT;
    let mut pause = first;
    loop {
        match address.config.connect(address.tls.clone()).await {
            Ok((client, connection)) => {
                pause = first;
                let why = tokio::select! {
                    why = receive_notifications(connection, &changes) => why,
                    why = poll_for_changes(&client, &address, &changes) => why,
                };
                warn!(%address, why, "the connection that listens for changes was lost; it is made again");
            }
            Err(error) => debug!(%address, %error, "cannot listen for changes yet"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Announces what is heard until the connection ends.
async fn receive_notifications(mut connection: Connection<Socket, Encrypted>, changes: &Changes) -> String {
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(notification))) => changes.notified(notification.payload()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return error.to_string(),
            None => return "the server closed it".to_owned(),
        }
    }
}

/// Looks for changes until that fails. It begins to listen before it looks, so nothing falls between.
async fn poll_for_changes(client: &Client, address: &Address, changes: &Changes) -> String {
    if let Err(error) = client.batch_execute(&format!("LISTEN \"{}\"", address.channel())).await {
        return error.to_string();
    }
    loop {
        match timeout(POLL_TIMEOUT, changes.look_for_changes(client)).await {
            Ok(Ok(())) => sleep(POLL).await,
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the server does not answer".to_owned(),
        }
    }
}

/// Tells other nodes what changed here, in one go what gathers within a few milliseconds.
async fn send_notifications(database: Database, changes: Arc<Changes>) {
    let channel = database.address().channel();
    loop {
        changes.to_send.notified().await;
        sleep(GATHER).await;
        let notifications = changes.take_notifications();
        let sql = "SELECT pg_notify($1, n) FROM unnest($2::text[]) AS n";
        if let Err(error) = database.query("telling others", sql, &[&channel, &notifications]).await {
            // They find it when they look.
            debug!(%error, "other nodes were not told of changes");
        }
    }
}

/// Removes the rows of deleted sessions, a slice at a time.
async fn reclaim(database: Database, dead: Arc<Notify>) {
    loop {
        let began = Instant::now();
        match delete::reclaim(&database).await {
            Ok(true) => {
                // Half of the time is for others.
                sleep(began.elapsed()).await;
                continue;
            }
            Ok(false) => {}
            Err(error) => debug!(%error, "rows of deleted sessions were not removed; it is tried again"),
        }
        // Nobody has to be told that there are more: they stay dead.
        let _ = timeout(RECLAIM, dead.notified()).await;
    }
}
