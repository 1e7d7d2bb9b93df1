//! The tasks of a handle: one listens for changes, one sends notifications, one removes the rows of deleted sessions.

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

/// How often to look for changes without a notification: the node that made them may have died.
const POLL: Duration = Duration::from_secs(1);

/// How long a look may take before the connection counts as lost.
const POLL_TIMEOUT: Duration = Duration::from_secs(20);

/// The shortest and the longest pause before connecting again. It doubles each time.
const RECONNECT: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// How long changes gather before they are sent together.
const GATHER: Duration = Duration::from_millis(5);

/// How often to look for rows of sessions that other servers deleted.
const RECLAIM: Duration = Duration::from_secs(60);

/// A stream that can be encrypted.
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Starts the tasks of one handle. They end when the set is dropped. `dead` notifies when sessions are deleted here.
pub(super) fn start(
    supervisor: &Supervisor,
    database: &Database,
    changes: &Arc<Changes>,
    dead: &Arc<Notify>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (address, heard) = (database.address.clone(), changes.clone());
    tasks.spawn(supervisor.keep("Postgres listener", move || listen(address.clone(), heard.clone())));
    let (others, told) = (database.clone(), changes.clone());
    tasks.spawn(supervisor.keep("Postgres notifier", move || send_notifications(others.clone(), told.clone())));
    let (rows, dead) = (database.clone(), dead.clone());
    tasks.spawn(supervisor.keep("Postgres deletion", move || reclaim(rows.clone(), dead.clone())));
    tasks
}

/// Receives notifications of other nodes, and looks for changes without one. A lost connection is replaced.
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
                warn!(%address, why, "the connection that listens for changes was lost; connecting again");
            }
            Err(error) => debug!(%address, %error, "cannot listen for changes yet"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Announces the changes in notifications until the connection ends.
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

/// Looks for changes until that fails. It starts to listen before it looks, so that it misses nothing in between.
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

/// Tells other nodes what changed here. Changes within a few milliseconds are sent together.
async fn send_notifications(database: Database, changes: Arc<Changes>) {
    let channel = database.address.channel();
    loop {
        changes.to_send.notified().await;
        sleep(GATHER).await;
        let notifications = changes.take_notifications();
        let sql = "SELECT pg_notify($1, n) FROM unnest($2::text[]) AS n";
        if let Err(error) = database.rows("telling others", sql, &[&channel, &notifications], |_| Ok(())).await {
            // They find the changes when they look.
            debug!(%error, "other nodes were not notified of changes");
        }
    }
}

/// Removes the rows of deleted sessions, a slice at a time.
async fn reclaim(database: Database, dead: Arc<Notify>) {
    loop {
        let began = Instant::now();
        match delete::reclaim(&database).await {
            Ok(true) => {
                // Leaves half of the time to other work.
                sleep(began.elapsed()).await;
                continue;
            }
            Ok(false) => {}
            Err(error) => debug!(%error, "rows of deleted sessions were not removed; this is tried again"),
        }
        // The timeout finds rows of sessions that other servers deleted.
        let _ = timeout(RECLAIM, dead.notified()).await;
    }
}
